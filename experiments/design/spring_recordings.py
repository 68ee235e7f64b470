"""Ask recordings for the spring of a joint: slope and zero, and why not the geometry behind them."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.identify import identify
from diffpbd.runtime.identify.result.result import Estimate
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.logs.processing import Processing, process
from diffpbd.runtime.model.robot import Robot
from experiments.design.spring import TRUTH
from experiments.poses import find_logs

__all__ = ["report"]

ARMS = (0.06, 0.08, 0.10, 0.12)  # m: lengths of the parent's arm that are tried
START = (25.0, 0.13, 2.8)
"""k l1² [N·m], l2 [m] and α [rad] near which levers are that resemble the recorded line, for the rest length of `TRUTH`."""
CURVE_POINTS = 50
TRAINING = "train"
"""Logs whose names hold this are fitted; all of them where none does."""


def report(robot: Robot, joint: str, folder: str, rate: float) -> str:
    """Slope and zero from the recordings of a folder, and levers of other geometry with nearly the same torque."""
    logs = find_logs(folder)
    logs = [path for path in logs if TRAINING in path.name] or logs
    samples = []
    for path in logs:
        try:
            samples += process(path.name, read_log(path, untimed=rate).select(robot.joints), Processing())
        except InputError as error:
            raise InputError(f"--data: {path}: {error}") from None
    result = identify(robot, samples, ["friction", f"spring.{joint}"])
    known = {e.name: e for e in result.estimates}
    slope, zero = known[f"spring.stiffness.{joint}"], known[f"spring.rest.{joint}"]
    low = min(float(s.q[:, robot.joints.index(joint)].min()) for s in samples)
    high = max(float(s.q[:, robot.joints.index(joint)].max()) for s in samples)
    lines = [
        f"{len(logs)} recordings: slope {_within(slope, 2)} N·m/rad, zero {_within(zero, 3)} rad (torque "
        f"−slope·(θ − zero) on the joint, θ from {low:.2f} to {high:.2f} rad).",
        "Only these two are identifiable: a torque offset is the same parameter as the zero, and springs of different k, l1,",
        "l2, α and x_rest give nearly this straight line (and exactly the same torque: l1, l2, x_rest times c with k / c²).",
        f"Fitted to it over the recorded angles with x_rest = {TRUTH.rest} m:",
    ]
    angle = np.linspace(low, high, CURVE_POINTS)
    line = -slope.value * (angle - zero.value)
    for arm in ARMS:
        (k, l2, offset), rms = _lever(robot, angle, line, arm)
        lines.append(f"  l1 {arm:.2f} m: k {k:5.0f} N/m, l2 {l2:.3f} m, α {offset:.3f} rad, within {rms:.2f} N·m RMS")
    return "\n".join(lines)


def _within(estimate: Estimate, digits: int) -> str:
    """The value with its deviation where it has one: a model that recordings reject has none."""
    spread = "" if estimate.std is None else f" ± {estimate.std:.{digits}f}"
    return f"{estimate.value:.{digits}f}{spread}"


def _lever(robot: Robot, angle: FloatArray, torque: FloatArray, arm: float) -> tuple[FloatArray, float]:
    """Stiffness [N/m], second arm [m] and α [rad] that come closest, and the RMS left [N·m]."""
    graph = robot.casadi("lever_spring_torque").map(len(angle))
    moment, l2_start, offset_start = START
    start = np.array([moment / arm**2, l2_start, offset_start])

    def off(part: FloatArray) -> FloatArray:
        k, l2, offset = part * start
        return np.array(graph(angle, k, arm, l2, offset, TRUTH.rest)).ravel() - torque

    found = least_squares(off, np.ones(3), bounds=(0.1, 10.0), x_scale="jac")
    return found.x * start, float(np.sqrt((off(found.x) ** 2).mean()))
