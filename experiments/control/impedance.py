"""The paper's simulated impedance experiment: s1 under two pushes, impedance against PD.

What the paper leaves open is decided here, and docs/impedance.md says why: the arm is stretched out with every other
joint welded, gravity is compensated exactly, and the net torque of a resting goal comes from the map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.options import option
from diffpbd.runtime.control.laws.impedance import ImpedanceController
from diffpbd.runtime.control.net_torque import NetTorque, NetTorqueMap, ReachNetTorque, without_gravity
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.figures import marks, new_figure, save, stroke
from experiments.columns import Steps
from experiments.control.joint_law import MotionNetTorque, Trace, motor_limit, over_time, simulate

__all__ = ["DURATION", "PHASES", "Experiment", "friction", "plot", "pushes", "run"]

PUSHES = ((5.0, 15.0, 5.0), (20.0, 30.0, 10.0))  # s, s, N·m: the paper's
DURATION = 35.0  # s
LARGEST = 1e3  # of a factor, and of friction in SI units
HEADROOM = 0.18  # of a panel's height, for its legend
PHASES = (
    ("to the goal", 0.0, 5.0), ("5 N·m", 5.0, 15.0), ("released", 15.0, 20.0), ("10 N·m", 20.0, 30.0),
    ("released again", 30.0, 35.0),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Experiment(Steps):
    """`goal` [rad], `stiffness` [N·m/rad], `damping` [N·m·s/rad], `scaling` of the net torque: the paper's numbers;
    `start` [rad], `goal_speed` [rad/s] and the plant's friction are not in it. `coulomb` [N·m] and `viscous`
    [N·m·s/rad] are about those that fit recordings of a physical arm's s1."""

    goal: float = -0.45
    stiffness: float = 30.0
    damping: float = 0.01
    scaling: float = option("Of the net torque.", 1.0, span=(0.0, LARGEST))
    coulomb: float = option("Plant [N·m].", 0.8, span=(0.0, LARGEST))
    viscous: float = option("Plant [N·m·s/rad].", 0.7, span=(0.0, LARGEST))
    start: float = option("Angle at the start [rad].", 0.0, span=(-6.3, 6.3))
    goal_speed: float = option("Of the reference on its way to the goal [rad/s].", 0.2, span=(0.0, 100.0), open=True)
    duration: float = DURATION
    map: str = option("Picture of the net torque map.", "net_torque_map.png", metavar="FILE.png")
    motion: bool = option("Also the map fed with the last tick's motion; diverges.", False)


def pushes(time: float, _angle: float, _rate: float) -> float:
    """The external torque [N·m] at a time [s]."""
    return sum(torque for begin, end, torque in PUSHES if begin <= time < end)


def friction(robot: Robot, alpha: FloatArray, coulomb: float, viscous: float) -> FloatArray:
    """alpha with friction of the only joint."""
    alpha = alpha.copy()
    alpha[robot.alpha.index(f"friction.coulomb.{robot.joints[0]}")] = coulomb
    alpha[robot.alpha.index(f"friction.viscous.{robot.joints[0]}")] = viscous
    return alpha


def run(robot: Robot, table: NetTorqueMap, experiment: Experiment) -> list[Trace]:
    """PD, PD with the damping that the inertia asks for, impedance by the map, each on the plant."""
    effort = motor_limit(robot)
    alpha = friction(robot, without_gravity(robot), experiment.coulomb, experiment.viscous)
    mass = robot.mass_matrix(np.array([experiment.goal])).item()
    critical = 2.0 * float(np.sqrt(experiment.stiffness * mass))
    laws: list[tuple[str, NetTorque | None, float]] = [
        ("PD", None, experiment.damping),
        ("PD, critically damped", None, critical),
        ("impedance", ReachNetTorque(table, robot.joints), experiment.damping),
    ]
    if experiment.motion:
        laws.append(("impedance, by motion", MotionNetTorque(table), experiment.damping))
    traces = []
    for name, net, damping in laws:
        controller = ImpedanceController(
            [experiment.stiffness], [damping], [experiment.goal], goal_speed=experiment.goal_speed, profile="ramp",
            net_torque=net, scaling=experiment.scaling,
        )  # fmt: skip
        traces.append(simulate(
            name, robot, controller, start=experiment.start, duration=experiment.duration, external=pushes,
            alpha=alpha, effort=effort,
        ))  # fmt: skip
    return traces


def plot(path: str | Path, title: str, traces: Sequence[Trace], goal: float, effort: float) -> None:
    """The paper's three panels: motor torque and its limit `effort` [N·m], angle, and the parts of the last trace's torque."""
    made = new_figure(8.0, 8.0)
    made.suptitle(title)
    torque, angle, parts = made.subplots(3, 1, sharex=True)
    for k, trace in enumerate(traces):
        torque.plot(trace.time, trace.motor, **stroke(k), label=trace.name)
        angle.plot(trace.time, trace.angle, **stroke(k), label=trace.name)
    marks(torque, (-effort, effort), "the motor's limits")
    marks(angle, (goal,), "goal")
    last = traces[-1]
    parts.plot(last.time, last.external, **stroke(0), label="external")
    parts.plot(last.time, last.net, **stroke(1), label=f"net torque ({last.name})")
    parts.plot(last.time, last.spring, **stroke(2), label=f"spring and damper ({last.name})")
    shown = np.concatenate([last.external, last.spring, np.clip(last.net, *np.percentile(last.net, [0.5, 99.5]))])
    parts.set_ylim(1.1 * shown.min() - 1.0, 1.1 * shown.max() + 1.0)
    over_time({"motor torque [N·m]": torque, "angle [rad]": angle, "torque [N·m]": parts}, HEADROOM)
    save(path, made)
