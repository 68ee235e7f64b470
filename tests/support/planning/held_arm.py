"""An arm of pinocchio's under the torque of a controller that has no plan, with a right or a wrong model."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from diffpbd.runtime import Robot
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Bounds, Plan, Status, Task

SUBSTEP = 1e-3
"""s, of Runge and Kutta's rule: its error is far below the energies that are compared."""
HORIZON = 5
RATES = (0.02, 0.01, 0.004, 0.001)
"""s, of a tick."""


@dataclass(frozen=True)
class Plant:
    """How the arm differs from the model: inertias of its links, by seeded factors up to `inertia` off 1; a load [kg] 0.1 m off
    the last joint; Coulomb [N·m] and viscous [N·m·s/rad] friction per kg·m² of a joint's inertia; states that come `late` ticks
    later than told."""

    inertia: float = 0.0
    load: float = 0.0
    coulomb: float = 0.0
    viscous: float = 0.0
    late: int = 0
    gravity: bool = True
    seed: int = 0


class Arm:
    """The robot of a URDF as pinocchio has it, without the joints that the generated one lacks."""

    def __init__(self, robot: Robot, urdf: str, plant: Plant) -> None:
        # pinocchio gives a continuous joint two coordinates
        whole = pin.buildModelFromXML(Path(urdf).read_text().replace('"continuous"', '"revolute"'))
        locked = [k for k, name in enumerate(whole.names) if k > 0 and name not in robot.joints]
        self.model = pin.buildReducedModel(whole, locked, pin.neutral(whole))
        assert list(self.model.names[1:]) == list(robot.joints)
        rng = np.random.default_rng(plant.seed)
        for k in range(1, self.model.njoints):
            body, factor = self.model.inertias[k], 1.0 + plant.inertia * rng.uniform(-1.0, 1.0)
            self.model.inertias[k] = pin.Inertia(factor * body.mass, body.lever, factor * body.inertia)
        if plant.load:
            self.model.appendBodyToJoint(
                self.model.njoints - 1,
                pin.Inertia.FromSphere(plant.load, 0.03),
                pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1])),
            )
        if not plant.gravity:
            self.model.gravity.linear = np.zeros(3)
        self.data, self.plant = self.model.createData(), plant

    def kinetic(self, q: FloatArray, v: FloatArray) -> float:
        return float(pin.computeKineticEnergy(self.model, self.data, q, v))

    def gravity(self, q: FloatArray) -> FloatArray:
        return np.array(pin.computeGeneralizedGravity(self.model, self.data, q))

    def moved(self, q: FloatArray, v: FloatArray, u: FloatArray, seconds: float) -> tuple[FloatArray, FloatArray]:
        """The state after `seconds` under the torque u."""
        own = np.diag(pin.crba(self.model, self.data, q)) if self.plant.coulomb or self.plant.viscous else 0.0

        def rate(x: FloatArray) -> FloatArray:
            n = self.model.nv
            rub = own * (self.plant.coulomb * np.tanh(x[n:] / 0.01) + self.plant.viscous * x[n:])
            return np.concatenate([x[n:], pin.aba(self.model, self.data, x[:n], x[n:], u - rub)])

        x, count = np.concatenate([q, v]), max(1, round(seconds / SUBSTEP))
        h = seconds / count
        for _ in range(count):
            a = rate(x)
            b = rate(x + 0.5 * h * a)
            c = rate(x + 0.5 * h * b)
            x = x + h / 6.0 * (a + 2.0 * b + 2.0 * c + rate(x + h * c))
        return x[: self.model.nv], x[self.model.nv :]


@dataclass
class Refusing:
    """A back end whose plans are all refused, with a status or an error."""

    inner: Any
    status: Status | None

    @property
    def name(self) -> str:
        return str(self.inner.name)

    def solve(self, task: Task, guess: Plan | None = None, **options: Any) -> Plan:
        if self.status is None:
            raise SolverError("no plan")
        return replace(self.inner.solve(task, guess, **options), status=self.status)


Spoil = Callable[[int, dict[str, Any]], None]


def _state(k: int, tick: dict[str, Any]) -> None:
    """Half of the states are not finite, and no reference is."""
    tick["P"] = np.full_like(tick["P"], np.nan)
    if k % 6 < 3:
        tick["p" if k % 2 else "pd"] = np.full_like(tick["pd"], np.nan)


def _reference(_k: int, tick: dict[str, Any]) -> None:
    tick["P"] = np.full_like(tick["P"], np.nan)


def _time(k: int, tick: dict[str, Any]) -> None:
    tick["time"] = (np.nan, np.inf, -np.inf)[k % 3]


WAYS_IN: Mapping[str, tuple[Spoil | None, Status | None]] = {
    "refused plan": (None, None),
    "iteration limit": (None, Status.NOT_SOLVED),
    "step failed": (None, Status.STEP_FAILED),
    "too near": (None, Status.TOO_NEAR),
    "reference": (_reference, None),
    "state": (_state, None),
    "time": (_time, None),
}
"""What spoils a tick: its arguments, or the status of its plan (None: an error)."""


def energies(
    robot: Robot, urdf: str, h: float, way: str, q: FloatArray, v: FloatArray, *,
    plant: Plant = Plant(), delay: int = 0, seconds: float = 1.0, reuse: int = 5, bounds: Bounds | None = None,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Kinetic energies (ticks + 1,) [J] and speeds (ticks + 1, n) [rad/s] of an arm that has a plan to stay and then none."""
    arm = Arm(robot, urdf, plant)
    alpha = None if plant.gravity else {"gravity.z": 0.0}
    mpc = Mpc(robot, HORIZON, h=h, bounds=bounds, alpha=alpha, options=MpcOptions(delay=delay, reuse=reuse))
    P = np.tile(q, (HORIZON + 1, 1))
    hold = robot.gravity(q, alpha=alpha)
    mpc.start(hold)
    spoil, status = WAYS_IN[way]
    waiting, seen = deque([hold] * delay), deque([(q, v)] * (plant.late + 1), maxlen=plant.late + 1)
    found, speeds = [arm.kinetic(q, v)], [v]
    for k in range(-1, round(seconds / h)):
        p, pd = seen[0]
        tick = {"time": k * h, "p": p, "pd": pd, "P": P}
        if k >= 0:
            if not isinstance(mpc.solver, Refusing):
                mpc.solver = Refusing(mpc.solver, status)
            if spoil is not None:
                spoil(k, tick)
        given = mpc.tick(**tick)
        assert np.isfinite(given.torque).all()
        if k < 0:
            continue
        assert not given.status.usable, given
        waiting.append(given.torque)
        q, v = arm.moved(q, v, waiting.popleft(), h)
        seen.append((q, v))
        found.append(arm.kinetic(q, v))
        speeds.append(v)
    return np.array(found), np.array(speeds)
