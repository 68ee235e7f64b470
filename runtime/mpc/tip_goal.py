"""A pose for a goal of the tip: damped least squares within the joint limits, from the start pose and from poses beside it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.robot import Robot

__all__ = ["pose_at"]

CLOSE = 1e-6
"""[m] Distance from the goal that counts as none."""
ITERATIONS, STARTS = 200, 8
DAMPING = (1e-4, 10.0, 0.3, 1e8)
"""First damping [m²/rad²], factors after a step that fails and one that succeeds, and the damping at which it is given up."""
INSIDE = 0.02
"""[rad or m] Left free at every joint limit, where there is so much room."""


def pose_at(robot: Robot, tip: npt.ArrayLike, start: FloatArray, alpha: FloatArray | None = None) -> FloatArray:
    """Positions (n,) near `start` that put the tip's origin at `tip` (3,) [m], world; InputError where none was found."""
    try:
        goal = np.asarray(tip, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"The tip's goal: expected three finite numbers [m], found {tip!r}.") from None
    if goal.shape != (3,) or not np.isfinite(goal).all():
        raise InputError(f"The tip's goal: expected three finite numbers [m], found {np.asarray(tip).tolist()}.")
    if "jac_tip_pose" not in robot.functions:
        raise InputError(
            f"{robot.name} has no jac_tip_pose, which a tip goal needs. {robot.manifest.why_not('jac_tip_pose')}"
        )
    if robot.manifest.robot.base_freedoms:
        raise InputError(
            f"{robot.name} has a base that moves; a goal of the tip is for one that stands: give one by joint."
        )
    if robot.manifest.robot.loops:
        raise InputError(f"{robot.name} has closed loops; a goal of the tip is for open chains: give one by joint.")
    values = robot.alpha.defaults if alpha is None else alpha
    room = np.minimum(INSIDE, 0.25 * (robot.limits.upper - robot.limits.lower))
    lower, upper = robot.limits.lower + room, robot.limits.upper - room
    rng, best = np.random.default_rng(0), (np.inf, start)
    for k in range(STARTS):
        first = start + (0.0 if k == 0 else 0.2 * k) * rng.normal(size=robot.n)
        found = _descend(robot, goal, np.clip(first, lower, upper), values, (lower, upper))
        if found[0] < CLOSE:
            return found[1]
        best = min(best, found, key=lambda one: one[0])
    raise InputError(
        f"The tip's goal {goal.tolist()} m was not reached: the nearest pose within the joint limits is {best[0]:.3g} m away. "
        "Give a goal within reach, or another start."
    )


def _descend(
    robot: Robot, goal: FloatArray, p: FloatArray, alpha: FloatArray, bounds: tuple[FloatArray, FloatArray]
) -> tuple[float, FloatArray]:
    """The distance [m] that is left, and the pose."""
    damping, worse, better, given_up = DAMPING
    position, _, J, _ = robot.jac_tip_pose(p, alpha)
    away = goal - position
    for _ in range(ITERATIONS):
        distance = float(np.linalg.norm(away))
        if distance < CLOSE or damping > given_up:
            break
        free = ~(((p <= bounds[0]) & (J.T @ away < 0.0)) | ((p >= bounds[1]) & (J.T @ away > 0.0)))
        own = J * free
        step = own.T @ np.linalg.solve(own @ own.T + damping * np.eye(3), away)
        tried = np.clip(p + step, *bounds)
        there, _, slopes, _ = robot.jac_tip_pose(tried, alpha)
        if np.linalg.norm(goal - there) < distance:
            p, J, away, damping = tried, slopes, goal - there, damping * better
        else:
            damping *= worse
    return float(np.linalg.norm(away)), p
