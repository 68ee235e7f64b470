"""Joint positions for a goal of the tip: inverse kinematics within the joint limits, with several starts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.model.inverse_kinematics import Sought, solve
from diffpbd.runtime.model.obstacles import NOTHING, Placed
from diffpbd.runtime.model.robot import Robot

__all__ = ["pose_at"]

INSIDE = 0.02
"""[rad or m] Margin to every joint limit, if the range allows: room for a plan to brake."""


def pose_at(
    robot: Robot,
    tip: npt.ArrayLike,
    start: FloatArray,
    alpha: FloatArray | None = None,
    clearance: float | None = None,
    placed: Placed = NOTHING,
) -> FloatArray:
    """Positions (n,) near `start` that put the tip's origin at `tip` (3,) [m], world, with links `clearance` [m] apart and away
    from the obstacles `placed` (None: any); InputError where none was found."""
    try:
        goal = np.asarray(tip, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"The tip's goal: expected three finite numbers [m], found {tip!r}.") from None
    if goal.shape != (3,) or not np.isfinite(goal).all():
        raise InputError(f"The tip's goal: expected three finite numbers [m], found {np.asarray(tip).tolist()}.")
    if robot.manifest.robot.base_freedoms:
        raise InputError(
            f"{robot.name} has a base that moves; a goal of the tip is for one that stands: give one by joint."
        )
    if robot.manifest.robot.loops:
        raise InputError(f"{robot.name} has closed loops; a goal of the tip is for open chains: give one by joint.")
    found = solve(robot, Sought(position=goal, q0=start, margin=INSIDE, clearance=clearance, obstacles=placed), alpha)
    if found.reached:
        return found.q
    near = "" if clearance is None else f", its links {found.clearance:.4g} m apart where {clearance:g} m are asked"
    raise InputError(
        f"The tip's goal {goal.tolist()} m was not reached: the nearest pose within the joint limits is "
        f"{found.position_miss:.3g} m away{near}. Give a goal within reach, or another start."
    )
