"""A small arm with known friction, and its recordings: Pinocchio's forward dynamics, integrated by Runge and Kutta's fourth
order under a computed torque that follows sums of sines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pinocchio as pin

Array = npt.NDArray[np.float64]

URDF = """<robot name="spoiled_arm">
<link name="base"/>
<link name="column"><inertial><origin xyz="0.05 0 0.2"/><mass value="4"/>
  <inertia ixx="0.05" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.06"/></inertial></link>
<link name="arm"><inertial><origin xyz="0.2 0 0.02"/><mass value="3"/>
  <inertia ixx="0.004" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial></link>
<link name="fore"><inertial><origin xyz="0.15 0.02 0.03"/><mass value="1.5"/>
  <inertia ixx="0.002" ixy="0" ixz="0" iyy="0.015" iyz="0" izz="0.015"/></inertial></link>
<joint name="waist" type="continuous"><parent link="base"/><child link="column"/><axis xyz="0 0 1"/>
  <limit effort="60" velocity="4"/></joint>
<joint name="shoulder" type="revolute"><parent link="column"/><child link="arm"/><origin xyz="0.1 0 0.3"/><axis xyz="0 1 0"/>
  <limit lower="-2.5" upper="2.5" effort="60" velocity="4"/></joint>
<joint name="elbow" type="revolute"><parent link="arm"/><child link="fore"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
  <limit lower="-2.5" upper="2.5" effort="30" velocity="4"/></joint>
</robot>"""
JOINTS = ("waist", "shoulder", "elbow")
COULOMB, VISCOUS, OFFSET = (0.7, 0.9, 0.3), (0.6, 0.8, 0.4), (0.2, -0.3, 0.15)
WIDTH = 0.01  # rad/s, the transition of friction
TRUTH = {
    f"{kind}.{joint}": value
    for kind, values in (("friction.coulomb", COULOMB), ("friction.viscous", VISCOUS), ("torque_offset", OFFSET))
    for joint, value in zip(JOINTS, values, strict=True)
}
RATE, SECONDS, STEP = 100.0, 30.0, 1.25e-3  # Hz, s, s of the integration
TIP = np.array([0.2, 0.0, 0.0])  # m, in the last link
KP, KD = np.array([150.0, 120.0, 60.0]), np.array([15.0, 12.0, 6.0])
QUANTITIES = ("q", "dq", "tau")


@dataclass
class Table:
    """Time (samples,) [s]; q [rad], dq [rad/s], tau [N·m] (samples, 3); more columns (samples,) by name."""

    time: Array
    q: Array
    dq: Array
    tau: Array
    more: dict[str, Array] = field(default_factory=dict)

    def rows(self, keep: object) -> Table:
        """Some of the samples."""
        more = {name: values[keep] for name, values in self.more.items()}  # type: ignore[index]
        return Table(*(v[keep] for v in (self.time, self.q, self.dq, self.tau)), more)  # type: ignore[index]

    def columns(self) -> dict[str, Array]:
        """All by name, as a file has them."""
        found = {"time": self.time}
        for kind in QUANTITIES:
            found |= {f"{kind}_{joint}": getattr(self, kind)[:, k] for k, joint in enumerate(JOINTS)}
        return found | self.more

    def copy(self) -> Table:
        return replace(self, time=self.time.copy(), q=self.q.copy(), dq=self.dq.copy(), tau=self.tau.copy(), more={})


@dataclass(frozen=True)
class Plant:
    """What is other than the description: a load [kg] at the tip from a time [s] on, the last link's mass as a factor, the
    base's tilt [rad] about its y, a span of time [s] in which the shoulder is braked, one in which the elbow leans on
    something, the speed of the motion as a factor, and whether it rests in its first and last six seconds."""

    load: float = 0.0
    since: float = 0.0
    lighter: float = 1.0
    tilt: float = 0.0
    braked: tuple[float, float] | None = None
    leans: tuple[float, float] | None = None
    faster: float = 1.0
    rests: bool = False


def recorded(plant: Plant = Plant(), seed: int = 2) -> Table:
    """As the sensors show it, with white noise; another set of sines by each seed."""
    time, q, dq, tau = _simulated(plant, seed)
    noise = np.random.default_rng(100 + seed).standard_normal((3, *q.shape))
    return Table(time.copy(), q + 1e-5 * noise[0], dq + 2e-3 * noise[1], tau + OFFSET + 0.02 * noise[2])


def _models(plant: Plant) -> tuple[pin.Model, pin.Model]:
    """Before and after the load is taken up."""
    before, after = (
        pin.buildModelFromXML(
            URDF.replace("continuous", "revolute").replace(
                '<limit effort="60" velocity="4"/>', '<limit lower="-9" upper="9" effort="60" velocity="4"/>'
            )
        )
        for _ in range(2)
    )
    for model in (before, after):
        model.gravity.linear = 9.81 * np.array([np.sin(plant.tilt), 0.0, -np.cos(plant.tilt)])
        model.inertias[3] = pin.Inertia(
            plant.lighter * model.inertias[3].mass, model.inertias[3].lever, plant.lighter * model.inertias[3].inertia
        )
    after.inertias[3] += pin.Inertia(plant.load, TIP, np.zeros((3, 3)))
    return before, after


def _goal(plant: Plant, seed: int) -> Callable[[float], tuple[Array, Array, Array]]:
    rng = np.random.default_rng(seed)
    omega = plant.faster * rng.uniform(0.8, 3.0, (3, 3))
    phase, middle = rng.uniform(0.0, 6.0, (3, 3)), np.array([3.0, 0.3, -0.6])
    size = 0.5 * plant.faster / omega

    def goal(t: float) -> tuple[Array, Array, Array]:
        way, rate, acceleration = _pace(t) if plant.rests else (t, 1.0, 0.0)
        s, c = size * np.sin(omega * way + phase), size * np.cos(omega * way + phase)
        slope = (omega * c).sum(axis=0)
        return middle + s.sum(axis=0), rate * slope, acceleration * slope - rate**2 * (omega**2 * s).sum(axis=0)

    return goal


def _pace(t: float) -> tuple[float, float, float]:
    """Where on its way [s] a motion is that starts at 6 s and stops 6 s before the end, within 2 s each, its pace and the
    slope of that."""
    early, late = np.clip(t - 6.0, 0.0, 2.0), np.clip(SECONDS - 6.0 - t, 0.0, 2.0)
    begun, left = (0.5 * own - np.sin(np.pi * own / 2.0) / np.pi for own in (early, late))
    way = begun + np.clip(t - 8.0, 0.0, SECONDS - 16.0) + 1.0 - left
    pace = (0.5 - 0.5 * np.cos(np.pi * early / 2.0)) * (0.5 - 0.5 * np.cos(np.pi * late / 2.0))
    return float(way), float(pace), float(np.pi / 4.0 * (np.sin(np.pi * early / 2.0) - np.sin(np.pi * late / 2.0)))


@cache
def _simulated(plant: Plant, seed: int) -> tuple[Array, Array, Array, Array]:
    known, (before, after) = _models(Plant())[0], _models(plant)
    data = [model.createData() for model in (known, before, after)]
    goal, coulomb, viscous = _goal(plant, seed), np.array(COULOMB), np.array(VISCOUS)
    held: list[Array] = []

    def motor(t: float, q: Array, dq: Array) -> Array:
        wanted, rate, acceleration = goal(t)
        u = pin.rnea(known, data[0], q, dq, acceleration + KP * (wanted - q) + KD * (rate - dq))
        return np.asarray(u + coulomb * np.tanh(rate / WIDTH) + viscous * dq)

    def slope(t: float, x: Array) -> Array:
        q, dq = x[:3], x[3:]
        torque = motor(t, q, dq) - coulomb * np.tanh(dq / WIDTH) - viscous * dq
        if plant.leans and plant.leans[0] < t < plant.leans[1]:
            torque[2] -= 40.0 * max(q[2] + 0.6, 0.0)
        if plant.braked and plant.braked[0] < t < plant.braked[1]:
            held.append(q.copy()) if not held else None
            torque[1] -= 4000.0 * (q[1] - held[0][1]) + 100.0 * dq[1]
        model, own = (after, data[2]) if plant.load and t >= plant.since else (before, data[1])
        return np.concatenate([dq, pin.aba(model, own, q, dq, torque)])

    stride = round(1.0 / (RATE * STEP))
    time = np.arange(round(SECONDS * RATE)) / RATE
    x = np.concatenate(goal(0.0)[:2])
    out: Array = np.zeros((len(time), 9))
    for k in range(len(time) * stride):
        t, h = k * STEP, STEP
        if k % stride == 0:
            out[k // stride] = np.concatenate([x, motor(t, x[:3], x[3:])])
        a = slope(t, x)
        b = slope(t + h / 2, x + h / 2 * a)
        c = slope(t + h / 2, x + h / 2 * b)
        x = x + h / 6 * (a + 2 * b + 2 * c + slope(t + h, x + h * c))
    return time, out[:, :3], out[:, 3:6], out[:, 6:]


def written(
    path: Path,
    table: Table,
    *,
    without: tuple[str, ...] = (),
    renamed: dict[str, str] | None = None,
    mark: str = ",",
    digits: str = "%.10g",
) -> Path:
    """As CSV."""  # fmt: skip
    columns = {name: values for name, values in table.columns().items() if name not in without}
    header = mark.join((renamed or {}).get(name, name) for name in columns)
    np.savetxt(path, np.column_stack(list(columns.values())), delimiter=mark, header=header, comments="", fmt=digits)
    return path
