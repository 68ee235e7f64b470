"""Advice for a failed step: the joint with the largest acceleration, and a step size that works."""

from __future__ import annotations

import contextlib

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.model.robot import Robot

__all__ = ["advise", "closing"]

OPEN = 1e-6
"""[rad or m] Largest distance of a closed start from the nearest closed pose."""
MOST_HALVINGS = 14
"""Largest number of halvings: if a ten-thousandth of the step fails, torque or stiffness is wrong."""


def advise(robot: Robot, q: FloatArray, dq: FloatArray, tau: FloatArray, h: float, alpha: FloatArray) -> str:
    """A sentence for the message that `joint_step` failed with h [s] from q, dq [rad, rad/s] (n,) under tau [N·m] (n,)."""
    text = ""
    if nearest := closing(robot, q, alpha):
        return nearest
    if "forward_dynamics" in robot.functions:
        acceleration = np.full(robot.n, np.nan)
        with np.errstate(all="ignore"), contextlib.suppress(SolverError):  # for loops at a singular pose
            acceleration = np.abs(np.reshape(robot.functions["forward_dynamics"](q, dq, tau, alpha), -1))
        if np.isfinite(acceleration).all():
            k = int(np.argmax(acceleration))
            joint = robot.manifest.robot.joints[k]
            text = (
                f" Joint {joint.name} is driven hardest, at {acceleration[k]:.3g} {joint.unit}/s² by {tau[k]:.4g} "
                f"{'N·m' if joint.unit == 'rad' else 'N'}, its spring and what moves beside it."
            )
    for halvings in range(1, MOST_HALVINGS + 1):
        shorter = h / 2**halvings
        try:
            found = robot.functions["joint_step"](q, dq, tau, shorter, alpha)
        except SolverError:
            continue
        if all(np.isfinite(values).all() for values in found):
            return f"{text} A step of {shorter:.3g} s works from here."
    return f"{text} No step down to {h / 2**MOST_HALVINGS:.3g} s works from here: look at torques, stiffnesses and the state."


def closing(robot: Robot, q: FloatArray, alpha: FloatArray) -> str:
    """A sentence on the nearest closed pose to q [rad] (n,), empty if its loops are closed or there are none."""
    if "close_loops" not in robot.functions:
        return ""
    names = ", ".join(loop.name for loop in robot.manifest.robot.loops)
    try:
        closed = np.reshape(robot.functions["close_loops"](q, np.zeros(robot.n), alpha), -1)
    except SolverError:
        return f" From this pose no closed one of {names} is found; start nearer to one."
    if np.abs(closed - q).max() <= OPEN:
        return ""
    return f" The nearest pose that closes {names} is {[float(x) for x in closed]}."
