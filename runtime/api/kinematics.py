"""Inverse kinematics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.api.words import expect_options, in_python, values_of
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.fitting import number
from diffpbd.runtime.functions.function import as_array, check_count
from diffpbd.runtime.model import inverse_kinematics as kinematics
from diffpbd.runtime.model.inverse_kinematics import Ik
from diffpbd.runtime.model.robot import Robot

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Ik", "ik"]


class IkOptions(TypedDict, total=False):
    """Further choices of `ik`."""

    weights: npt.ArrayLike | None
    margin: float | None
    held: Sequence[str] | None
    clearance: float | None
    obstacles: Mapping[str, npt.ArrayLike] | None
    accept: Callable[[FloatArray], bool] | None
    alpha: Any


@in_python
def ik(
    robot: Robot,
    *,
    frame: str | None = None,
    position: npt.ArrayLike | None = None,
    rotation: npt.ArrayLike | None = None,
    q0: npt.ArrayLike | None = None,
    starts: int = kinematics.STARTS,
    strict: bool = True,
    **options: Unpack[IkOptions],
) -> Ik:
    """Positions of the joints that bring `frame` (of `robot.manifest.robot.frames`; the tip) to a goal, within their limits.

    `position` (3,) [m] and `rotation`, a matrix (3, 3) or unit quaternion w x y z (4,), are the world's; one of them may be
    left out. The search begins at `q0` (n_p,) (zero, moved into the limits) and then at `starts` - 1 other positions, always
    the same ones. Options:

    - `weights` [1/m, 1/rad] (1, 0.3): what misses of position and rotation count beside each other
    - `margin` [rad or m]: left free at every limit that has room for it
    - `held`: joints that stay as q0 has them (the freedoms of a base that moves)
    - `clearance` [m]: links stay so far from each other and from `obstacles`, rows by kind as in
      `diffpbd.runtime.model.clearance.obstacles`, of a robot that was generated with `--clearance`
    - `accept`: gets each position that reaches the goal; where it gives False the next start is tried
    - `alpha`: a vector, or values by name

    The goal is reached within 1e-6 m and 1e-6 rad. SolverError where no start reached it, with the miss; with `strict=False`
    the result says so itself: `reached`, `position_miss`, `rotation_miss`.
    """
    expect_options("ik", options, IkOptions.__annotations__)
    check_count(starts, "ik", "starts")
    shares = options.get("weights")
    weights = np.array([1.0, kinematics.LEVER]) if shares is None else as_array(shares, "weights", "ik")
    if weights.shape != (2,):
        raise InputError(f"ik: weights: expected two numbers [1/m, 1/rad], found shape {weights.shape}.")
    for share in weights.tolist():
        number("ik: weights", share, 0.0)
    goal = kinematics.goal_of(robot, frame, position, rotation)
    least, around = options.get("clearance"), options.get("obstacles") or {}
    goal = replace(
        goal, weights=(float(weights[0]), float(weights[1])), obstacles=around,
        clearance=0.0 if least is None and around else None if least is None else number("ik: clearance", least),
    )  # fmt: skip
    start = robot.neutral if q0 is None else as_array(q0, "q0", "ik")
    if start.shape != (robot.n_p,):
        raise InputError(f"ik: q0: expected shape ({robot.n_p},), found {start.shape}.")
    held = options.get("held")
    found = kinematics.solve(
        robot, goal, start, starts=starts, margin=number("ik: margin", options.get("margin") or 0.0, 0.0),
        held=robot.manifest.robot.base_freedoms if held is None else held,
        alpha=values_of(robot, options.get("alpha")), accept=options.get("accept"),
    )  # fmt: skip
    if strict and not found.reached:
        raise kinematics.not_reached(robot, found)
    return found
