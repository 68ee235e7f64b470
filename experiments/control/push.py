"""The paper's experiment on the robot, on the simulated one: a hand pushes s1 from −0.45 rad to about 0 and lets go.

The robot owns gravity. Its plant is pinocchio's, with friction, springs and quantised sensors, and runs in this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffpbd.runtime.arms.baxter.simulated.plant import Plant, PlantSettings
from diffpbd.runtime.arms.baxter.simulated.robot import TORQUE, SimulatedBaxter
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.control.laws.impedance import ImpedanceController
from diffpbd.runtime.control.net_torque import NetTorque, NetTorqueMap, ReachNetTorque
from diffpbd.runtime.folder.locate import find_description
from diffpbd.runtime.report.figures import marks, new_figure, save, stroke
from experiments.columns import OneStep
from experiments.control.joint_law import Trace, merits, over_time

__all__ = ["PHASES", "Hand", "Push", "plot", "run", "run_all", "summary"]

GOAL, REACHED = -0.45, 0.0  # rad: the paper's
STIFFNESS, DAMPING = 30.0, 0.01  # N·m/rad, N·m·s/rad: the paper's, of the pushed joint
LOCK = 1e6  # kg·m² that a locked joint is given: it does not move by a micrometre at the tip
HEADROOM = 0.2  # of a panel, for its legend
HELD = 1.0  # s before the release over which the hand's holding torque is averaged
PHASES = (("rest", 0.0, 2.0), ("pushed", 2.0, 7.0), ("released", 7.0, 15.0))  # s


@dataclass(frozen=True, kw_only=True)
class Push(OneStep):
    """Choices of a push: the simulated arm, `scaling` of the net torque, `strength` of the hand [N·m]."""

    description: str = option(
        "Of the simulated robot: a name or a URDF file.", "baxter", metavar="ROBOT", reads=find_description
    )
    scaling: float = option("Of the net torque.", 0.6, span=(0.0, 1e3))
    strength: float = option("Of the hand [N·m].", 40.0, span=(0.0, 1e3))


@dataclass(frozen=True)
class Hand:
    """A hand that leads the joint to `target` [rad] at `speed` [rad/s]: a spring [N·m/rad] and a damper
    [N·m·s/rad] that never give more than `strength` [N·m], between the times of the phase "pushed"."""

    target: float = REACHED
    speed: float = 0.3
    stiffness: float = 1500.0
    damping: float = 60.0
    strength: float = 40.0

    def torque(self, time: float, angle: float, rate: float) -> float:
        """On the joint [N·m]."""
        _, begin, end = PHASES[1]
        if not begin <= time < end:
            return 0.0
        led = min(GOAL + self.speed * (time - begin), self.target)
        return float(np.clip(self.stiffness * (led - angle) - self.damping * rate, -self.strength, self.strength))


class LockedPlant(Plant):
    """The arm with every joint locked but one."""

    def __init__(self, urdf: str | Path, joint: str, settings: PlantSettings | None = None) -> None:
        """`joint` moves."""
        super().__init__(urdf, settings)
        if joint not in self.joints:
            raise InputError(f"The description has no joint {joint}; it has {', '.join(self.joints)}.")
        self.moving = self.joints.index(joint)
        self._lock = LOCK * np.diag(np.arange(self.n) != self.moving)

    def mass_and_bias(self) -> tuple[FloatArray, FloatArray]:
        """Mass matrix with the locked joints too heavy to move, and gravity plus Coriolis torque [N·m]."""
        mass, bias = super().mass_and_bias()
        return mass + self._lock, bias


def run(
    name: str, urdf: str | Path, table: NetTorqueMap, *, net: bool, scaling: float, hand: Hand,
    damping: float = DAMPING, settings: PlantSettings | None = None,
) -> Trace:  # fmt: skip
    """One run at the tick of the map's step, from rest at the goal, the arm stretched out as the map was made."""
    plant = LockedPlant(urdf, table.joint, settings)
    at = plant.moving
    plant.q[at] = GOAL
    robot = SimulatedBaxter(plant, 0.0)
    robot.super_enable(True)
    moving = (np.arange(plant.n) == at).astype(np.float64)
    law: NetTorque | None = ReachNetTorque(table, plant.joints) if net else None
    controller = ImpedanceController(
        STIFFNESS * moving, damping * moving, np.where(moving, GOAL, np.nan), goal_speed=1.0, profile="ramp",
        net_torque=law, scaling=scaling,
    )  # fmt: skip
    controller.start(plant.q)
    rows = []
    for k in range(round(PHASES[-1][2] / table.h)):
        time = k * table.h
        q, dq, _ = robot.joints()
        spring, part = controller.parts(time, q, dq)
        command = np.clip(spring + part, -plant.effort, plant.effort)
        robot.push[at] = hand.torque(time, float(plant.q[at]), float(plant.dq[at]))
        rows.append((time, plant.q[at], plant.dq[at], command[at], spring[at], part[at], robot.push[at]))
        robot.command(TORQUE, plant.joints, command.tolist(), time)
        robot.advance(time + table.h)
    return Trace(name, *np.array(rows).T)


def run_all(urdf: str | Path, table: NetTorqueMap, mass: float, scaling: float, hand: Hand) -> list[Trace]:
    """PD, impedance, and PD with the damping that the joint's inertia `mass` [kg·m²] asks for."""
    critical = 2.0 * float(np.sqrt(STIFFNESS * mass))
    return [
        run("PD", urdf, table, net=False, scaling=0.0, hand=hand),
        run("PD, critically damped", urdf, table, net=False, scaling=0.0, damping=critical, hand=hand),
        run("impedance", urdf, table, net=True, scaling=scaling, hand=hand),
    ]


def summary(runs: Sequence[Trace]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table: what the hand did, and how the joint came back."""
    rows = []
    (_, begin, end), (name, _, _) = PHASES[1], PHASES[2]
    for trace in runs:
        pushed = (trace.time >= begin) & (trace.time < end)
        held = pushed & (trace.time >= end - HELD)
        work = float((trace.external * trace.rate)[pushed].sum() * (trace.time[1] - trace.time[0]))
        (back,) = [merit for merit in merits(trace, GOAL, PHASES) if merit.phase == name]
        rows.append([
            trace.name, f"{trace.angle[held].mean():.3f}", f"{trace.external[held].mean():.1f}",
            f"{np.abs(trace.external).max():.1f}", f"{work:.1f}", f"{np.abs(trace.motor).max():.1f}",
            f"{1e3 * back.offset:.1f}", f"{1e3 * back.overshoot:.0f}",
            "-" if back.settling is None else f"{back.settling:.1f}",
        ])  # fmt: skip
    return [
        "law", "reached [rad]", "hand holds [N·m]", "hand peak [N·m]", "hand's work [J]", "motor peak [N·m]",
        "offset after [mrad]", "overshoot [mrad]", "settling [s]",
    ], rows  # fmt: skip


def plot(path: str | Path, title: str, traces: Sequence[Trace], effort: float) -> None:
    """The paper's three panels, and the hand's torque, which the paper could not measure; `effort` [N·m]: the motor's limit."""
    made = new_figure(8.0, 9.5)
    made.suptitle(title)
    motor, angle, hand, parts = made.subplots(4, 1, sharex=True)
    for k, trace in enumerate(traces):
        motor.plot(trace.time, trace.motor, **stroke(k), label=trace.name)
        angle.plot(trace.time, trace.angle, **stroke(k), label=trace.name)
        hand.plot(trace.time, trace.external, **stroke(k), label=trace.name)
    marks(motor, (-effort, effort), "the motor's limits")
    marks(angle, (GOAL,), "goal")
    last = traces[-1]
    parts.plot(last.time, last.net, **stroke(0), label=f"net torque ({last.name})")
    parts.plot(last.time, last.spring, **stroke(1), label=f"spring and damper ({last.name})")
    labels = ("motor torque [N·m]", "angle [rad]", "hand's torque [N·m]", "parts [N·m]")
    over_time(dict(zip(labels, (motor, angle, hand, parts), strict=True)), HEADROOM)
    save(path, made)
