"""Distance of the arm to a horizontal plane, by spheres about the links' centres of mass and the tip, and to itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.model.clearance import near as near_itself
from diffpbd.runtime.model.obstacles import NOTHING, Placed
from diffpbd.runtime.model.robot import Robot

__all__ = ["RADIUS", "above", "expect_above", "watched"]

RADIUS = 0.08
"""m; radius of every sphere, half the thickness of Baxter's upper arm."""
STATE = 13  # numbers of a link's state, its centre of mass [m] first


def above(robot: Robot, alpha: FloatArray, height: float) -> Callable[[FloatArray], str]:
    """A function of the pose q [rad]: which sphere is below `height` [m] over the description's root, in words, or empty."""
    forward, tip = robot.function("fk"), robot.function("tip_pose")
    still = np.zeros(robot.n)
    names = [*(link.name for link in robot.manifest.robot.links), "the tip"]

    def near(q: FloatArray) -> str:
        links = np.asarray(forward(q, still, alpha)).reshape(-1, STATE)
        heights = np.append(links[:, 2], tip(q, alpha).position[2]) - RADIUS
        lowest = int(np.argmin(heights))
        if heights[lowest] >= height:
            return ""
        return f"{names[lowest]} comes down to {heights[lowest]:.3f} m, below the table's {height:.3f} m"

    return near


def expect_above(robot: Robot, alpha: FloatArray, height: float | None, poses: Iterable[FloatArray], what: str) -> None:
    """An InputError that names `what` if a pose q [rad] is below `height` [m]; poses with NaN are skipped."""
    if height is None:
        return
    near = above(robot, alpha, height)
    for q in poses:
        if found := "" if np.isnan(q).any() else near(q):
            raise InputError(f"The {what} cannot be reached: {found}.")


def watched(
    robot: Robot, alpha: FloatArray, height: float | None, least: float | None, placed: Placed = NOTHING
) -> Callable[[FloatArray], str] | None:
    """A function of the pose q [rad]: what is too near a table at `height` [m], or which links are nearer than `least` [m] to
    each other or to an obstacle `placed`, in words, or empty; None if there is nothing to check."""
    table = None if height is None else above(robot, alpha, height)
    itself = near_itself(robot, alpha, least, placed)
    if table is None or itself is None:
        return itself if table is None else table
    return lambda q: table(q) or itself(q)
