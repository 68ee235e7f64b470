"""Inverse kinematics by the generated `ik`: goals checked, and a result that says whether it is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.base.quaternions import expect_unit
from diffpbd.runtime.functions.attempt import Attempt
from diffpbd.runtime.functions.frames import chosen
from diffpbd.runtime.functions.function import as_array
from diffpbd.runtime.model.clearance import obstacles
from diffpbd.runtime.model.robot import Robot

__all__ = ["CLOSE", "LEVER", "STARTS", "Goal", "Ik", "goal_of", "not_reached", "rotation_of", "solve"]

STARTS: Final = 20
CLOSE: Final = 1e-6
"""[m, rad] A miss that counts as none."""
LEVER: Final = 0.3
"""[m] A radian weighs as much as so many metres: that far a hand is from the joints that turn it."""
UNIT: Final = 1e-6
"""[1] How far a rotation may be from one, as in the C text."""
BAD_GOAL: Final = 32
"""Status of a goal that is none."""


@dataclass(frozen=True, eq=False)
class Goal:
    """Where a frame shall be: `position` (3,) [m], `rotation` (3, 3), world; None is not asked for. `weights` [1/m, 1/rad]."""

    frame: float
    name: str
    position: FloatArray | None
    rotation: FloatArray | None
    weights: tuple[float, float] = (1.0, LEVER)
    clearance: float | None = None
    """[m] Links stay so far from each other and from `obstacles`, rows by kind; None: distances are not looked at."""
    obstacles: Mapping[str, npt.ArrayLike] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Ik:
    """A position `q` (n_p,) for a frame's goal: `reached`, or the nearest that was found, with what it misses the goal by.

    `position_miss` [m] and `rotation_miss` [rad] are 0 where not asked for. `start` is the one that led to it (0: q0),
    `starts` were tried, in `steps` Gauss-Newton steps altogether.
    """

    q: FloatArray
    reached: bool
    position_miss: float
    rotation_miss: float
    start: int
    starts: int
    steps: int
    frame: str
    unfit: int = 0
    """Positions that reach the goal and that `accept` refused."""
    clearance: float = float("inf")
    """[m] The least distance at q, where it is looked at."""

    @property
    def words(self) -> str:
        """What it came to, in a line."""
        miss = f"{self.position_miss:.3g} m and {self.rotation_miss:.3g} rad"
        if self.reached:
            return f"{self.frame} reaches the goal to {miss}, from start {self.start}, after {self.steps} steps"
        if self.unfit:
            return f"{self.frame} reaches the goal in {self.unfit} positions of {self.starts} starts, none of which is accepted"
        apart = "" if self.clearance == np.inf else f", with links {self.clearance:.4g} m apart"
        return f"{self.frame} did not reach the goal from {self.starts} starts: the nearest pose misses it by {miss}{apart}"


def rotation_of(where: str, rotation: npt.ArrayLike) -> FloatArray:
    """A rotation (3, 3) of one, or of a unit quaternion w x y z (4,); InputError for what is neither."""
    R = as_array(rotation, "rotation", where)
    if R.shape == (4,):
        size = float(np.linalg.norm(R))
        if abs(size * size - 1.0) > UNIT:
            raise InputError(
                f"{where}: rotation: expected a unit quaternion (w, x, y, z), found one of length {size:.10g}; divide by it."
            )
        w, x, y, z = R / size
        return np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])  # fmt: skip
    if R.shape != (3, 3):
        raise InputError(
            f"{where}: rotation: expected a 3 x 3 matrix or a unit quaternion (w, x, y, z), found shape {R.shape}."
        )
    off = float(np.abs(R.T @ R - np.eye(3)).max())
    if off > UNIT or np.linalg.det(R) < 0.0:
        found = f"whose columns are {off:.3g} from that" if off > UNIT else "that mirrors"
        raise InputError(f"{where}: rotation: expected orthonormal right-handed columns, found a matrix {found}.")
    return R


def goal_of(
    robot: Robot, frame: str | None, position: npt.ArrayLike | None, rotation: npt.ArrayLike | None, where: str = "ik"
) -> Goal:
    """A goal whose numbers are some; InputError that says which is not."""
    if "ik" not in robot.functions:
        raise InputError(f"{where}: {robot.name} has no ik. {robot.manifest.why_not('ik')}".rstrip())
    if position is None and rotation is None:
        raise InputError(f"{where}: expected position, rotation or both, found neither.")
    frames = robot.manifest.robot.frames
    number = float(chosen("frame", frame, robot.name, frames, where))
    place = None if position is None else as_array(position, "position", where)
    if place is not None and place.shape != (3,):
        raise InputError(f"{where}: position: expected three numbers [m], found shape {place.shape}.")
    turn = None if rotation is None else rotation_of(where, rotation)
    return Goal(number, frames[int(number)], place, turn)


def solve(
    robot: Robot,
    goal: Goal,
    q0: FloatArray,
    *,
    starts: int = STARTS,
    margin: float = 0.0,
    held: Sequence[str] = (),
    alpha: FloatArray | None = None,
    accept: Callable[[FloatArray], bool] | None = None,
) -> Ik:
    """The first position of `starts` that reaches the goal within the joint limits, and that `accept` takes; else the nearest.

    `margin` [rad or m] is left free at every limit, where there is room. `held` names joints that stay where q0 has them.
    `accept` gets a position that reaches the goal; where it refuses, the next start is tried.
    """
    function = robot.function("ik")
    assert isinstance(function, Attempt)
    fixed = np.array([float(joint in held) for joint in robot.joints])
    if unknown := [name for name in held if name not in robot.joints]:
        raise InputError(f"ik: held: there is no joint {unknown[0]!r}. {hint(unknown[0], robot.joints)}")
    shares = np.array(goal.weights) * [goal.position is not None, goal.rotation is not None]
    place = np.zeros(3) if goal.position is None else goal.position
    turn = np.eye(3) if goal.rotation is None else goal.rotation
    if robot.manifest.robot.floating:
        expect_unit("ik", "q0", q0)
    first, steps, best = 0, 0, None
    kept = _kept(robot, goal)
    while True:
        options = np.array([CLOSE, CLOSE, starts - first, first, 0.0, margin])
        status, found = function.attempt(place, turn, shares, q0, fixed, goal.frame, options, alpha, **kept)
        if status == BAD_GOAL:
            raise InputError(f"ik: {function.facts.status[status]}.")
        miss, turned, at, made, *apart = found.ik_info.tolist()
        steps += int(made)
        reached = status == 0
        first = int(at) + 1 if reached else starts
        result = Ik(found.p, reached, miss, turned, int(at), first, steps, goal.name)
        result = result if goal.clearance is None else replace(result, clearance=apart[0])
        if reached and (accept is None or accept(found.p)):
            return result
        if reached or best is None:
            best = replace(result, reached=False, unfit=(0 if best is None else best.unfit) + reached)
        if first >= starts:
            return replace(best, starts=starts, steps=steps)


def _kept(robot: Robot, goal: Goal) -> dict[str, FloatArray]:
    """The inputs of a robot with distances that say which to keep."""
    if robot.manifest.clearance is None and goal.clearance is None:
        return {}
    given = {kind: np.asarray(x) for kind, x in obstacles(robot, **goal.obstacles).items()}
    least = 0.0 if goal.clearance is None else float(goal.clearance)
    return {"keep_apart": np.array([least, float(goal.clearance is not None), 1.0]), **given}


def not_reached(robot: Robot, result: Ik) -> SolverError:
    """What is raised where a goal was not reached."""
    return SolverError(
        f"ik of {robot.name}: {result.words}. Give a goal within reach or more starts; strict=False in Python returns it."
    )
