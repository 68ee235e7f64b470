"""Inverse kinematics by the generated `ik`, with checked goals and results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import Argument, InputError, SolverError, arg
from diffpbd.runtime.base.files import parse_json
from diffpbd.runtime.base.fitting import number
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.base.options import expect, option
from diffpbd.runtime.base.quaternions import expect_unit
from diffpbd.runtime.functions.attempt import Attempt
from diffpbd.runtime.functions.frames import chosen
from diffpbd.runtime.model.clearance import NEAREST, least_distance, obstacles
from diffpbd.runtime.model.robot import Robot

__all__ = ["Ik", "Sought", "solve"]

STARTS: Final = 20
CLOSE: Final = 1e-6
"""[m, rad] Tolerance of a goal."""
LEVER: Final = 0.3
"""[m] Weight of a radian in metres: the distance of a hand from the joints that turn it."""
UNIT: Final = 1e-6
"""[1] Tolerance of a rotation, as in the C code."""
BAD_GOAL: Final = 32
"""Status of an invalid goal."""


def _of_json(text: str) -> FloatArray:
    """Numbers of a command line."""
    try:
        return _real(parse_json(text, "this"))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"expected numbers in a list, found {text}.") from None


def _real(given: npt.ArrayLike) -> FloatArray:
    """Numbers as an array; TypeError or ValueError for words, truth values and None, which NumPy would convert."""
    found = np.asarray(given)
    if found.dtype.kind not in "iuf" or any(isinstance(x, (bool, np.bool_)) for x in np.asarray(given, object).ravel()):
        raise TypeError(f"expected numbers, found {given!r}")
    return found.astype(np.float64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Sought:
    """A pose of a frame: `position` (3,) [m] and `rotation` (3, 3) or w x y z (4,), or `rpy` (3,) [rad], world; what is None is
    not asked for.

    The search begins at `q0` (n_p,) and then at `starts` - 1 other positions, always the same ones, and ends with the first
    that reaches the pose within the joint limits and that `accept` takes. `weights` [1/m, 1/rad] (1, 0.3): what misses of
    position and rotation count beside each other; `held`: joints that stay as q0 has them (None: the freedoms of a base that
    moves); `margin` [rad or m]: left free at every limit that has room for it; `clearance` [m]: links stay so far from each
    other and from `obstacles`, rows by kind (None: distances are not looked at).
    """

    frame: str | None = option(
        "A frame that the robot was generated with (--frames); default: the tip.", None, metavar="LINK"
    )
    position: npt.ArrayLike | None = option(
        "Position of the frame's origin in the world [m].", None, metavar="[X,Y,Z]", parse=_of_json
    )
    rotation: npt.ArrayLike | None = option(
        "Orientation of the frame: a unit quaternion [w,x,y,z], or a matrix by rows.",
        None,
        metavar="JSON",
        parse=_of_json,
    )
    rpy: npt.ArrayLike | None = option(
        "Orientation as roll, pitch, yaw about fixed axes [rad].", None, metavar="[R,P,Y]", parse=_of_json
    )
    q0: npt.ArrayLike | None = option(
        "Start of the search: a list, an object of joint names, or a file; default: zero.", None, metavar="JSON"
    )
    starts: int = option("Number of start positions, q0 the first.", STARTS, span=(1, 1000))
    held: Sequence[str] | None = option(
        "Joint that stays at its value in q0; repeatable.", None, metavar="JOINT", many=True
    )
    clearance: float | None = option(
        "Smallest distance between links [m], for a ROBOT generated with --clearance.", None, span=(-NEAREST, NEAREST),
        unit="m", metavar="M",
    )  # fmt: skip
    margin: float = option("Margin to every limit whose range allows it [rad or m].", 0.0, span=(0.0, 1e3))
    weights: npt.ArrayLike = (1.0, LEVER)
    obstacles: Mapping[str, npt.ArrayLike] = field(default_factory=dict)
    accept: Callable[[FloatArray], bool] | None = None

    def __post_init__(self) -> None:
        """Refuses invalid poses and numbers."""
        expect(self)
        self.pose()
        for share in _numbers(arg.weights, self.weights, "two numbers [1/m, 1/rad]", (2,)).tolist():
            number(f"{arg.weights}", share, 0.0)

    def pose(self) -> tuple[FloatArray | None, FloatArray | None]:
        """Position (3,) and rotation (3, 3) of the goal."""
        rotation = None if self.rotation is None else rotation_of(self.rotation)
        if self.rpy is not None:
            if rotation is not None:
                raise InputError(f"{arg.rpy}: {arg.rotation} is given too; expected one of them.")
            angles = _numbers(arg.rpy, self.rpy, "three angles [rad]", (3,)).tolist()
            (a, b), (c, d), (e, f) = ((math.cos(angle), math.sin(angle)) for angle in angles)
            rotation = np.array([
                [e * c, e * d * b - f * a, e * d * a + f * b], [f * c, f * d * b + e * a, f * d * a - e * b],
                [-d, c * b, c * a],
            ])  # fmt: skip
        if self.position is not None:
            return _numbers(arg.position, self.position, "three numbers [m]", (3,)), rotation
        if rotation is None:
            raise InputError(f"Expected {arg.position}, {arg.rotation} or both, found neither.")
        return None, rotation

    @property
    def least(self) -> float | None:
        """The distance [m] to keep, None: any."""
        return 0.0 if self.clearance is None and self.obstacles else self.clearance


@dataclass(frozen=True, eq=False)
class Ik:
    """A position `q` (n_p,) for a frame's goal: `reached`, or the nearest that was found, with its errors.

    `position_miss` [m] and `rotation_miss` [rad] are 0 if not part of the goal. `start` is the index of the start that
    led to it (0: q0), `starts` were tried, in `steps` Gauss-Newton steps altogether.
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
    """Number of positions that reach the goal but were rejected by `accept`."""
    clearance: float = float("inf")
    """[m] The least distance at q, if distances are constrained."""

    @property
    def words(self) -> str:
        """The result in one line."""
        miss = f"{self.position_miss:.3g} m and {self.rotation_miss:.3g} rad"
        if self.reached:
            return f"{self.frame} reaches the goal to {miss}, from start {self.start}, after {self.steps} steps"
        if self.unfit:
            return f"{self.frame} reaches the goal in {self.unfit} positions of {self.starts} starts, none of which is accepted"
        apart = "" if self.clearance == np.inf else f", with links {self.clearance:.4g} m apart"
        return f"{self.frame} did not reach the goal from {self.starts} starts: the nearest pose misses it by {miss}{apart}"


def _numbers(word: Argument, given: npt.ArrayLike, expected: str, *shapes: tuple[int, ...]) -> FloatArray:
    """Finite numbers of one of the shapes."""
    try:
        found = _real(given)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{word}: expected {expected}, found {given!r}.") from None
    if found.shape not in shapes:
        raise InputError(f"{word}: expected {expected}, found shape {found.shape}.")
    if not np.isfinite(found).all():
        raise InputError(f"{word}: expected finite numbers, found {found[~np.isfinite(found)][0]}.")
    return found


def rotation_of(rotation: npt.ArrayLike) -> FloatArray:
    """A rotation (3, 3) from a matrix or a unit quaternion w x y z (4,); InputError for others."""
    R = _numbers(arg.rotation, rotation, "a 3 x 3 matrix or a unit quaternion (w, x, y, z)", (4,), (3, 3))
    if R.shape == (4,):
        size = float(np.linalg.norm(R))
        if abs(size * size - 1.0) > UNIT:
            raise InputError(
                f"{arg.rotation}: expected a unit quaternion (w, x, y, z), found one of length {size:.10g}; divide by it."
            )
        w, x, y, z = R / size
        return np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])  # fmt: skip
    off = float(np.abs(R.T @ R - np.eye(3)).max())
    if off > UNIT or np.linalg.det(R) < 0.0:
        found = f"whose columns are {off:.3g} from that" if off > UNIT else "that mirrors"
        raise InputError(f"{arg.rotation}: expected orthonormal right-handed columns, found a matrix {found}.")
    return R


def solve(robot: Robot, sought: Sought, alpha: FloatArray | None = None, *, strict: bool = False) -> Ik:
    """The first position that reaches the pose, else the nearest or, if `strict`, a SolverError."""
    if "ik" not in robot.functions:
        raise InputError(f"{robot.name} has no ik. {robot.manifest.why_not('ik')}".rstrip())
    function, facts = robot.function("ik"), robot.manifest.robot
    assert isinstance(function, Attempt)
    frame = float(chosen("frame", sought.frame, robot.name, facts.frames, f"{arg.frame}"))
    start = robot.neutral if sought.q0 is None else _numbers(arg.q0, sought.q0, f"{robot.n_p} numbers", (robot.n_p,))
    held = facts.base_freedoms if sought.held is None else sought.held
    if unknown := [name for name in held if name not in robot.joints]:
        raise InputError(f"{arg.held}: there is no joint {unknown[0]!r}. {hint(unknown[0], robot.joints)}")
    fixed = np.array([float(joint in held) for joint in robot.joints])
    place, turn = sought.pose()
    shares = np.array(sought.weights, dtype=np.float64) * [place is not None, turn is not None]
    place, turn = np.zeros(3) if place is None else place, np.eye(3) if turn is None else turn
    if facts.floating:
        expect_unit("ik", "q0", start)
    first, steps, best = 0, 0, None
    kept = _kept(robot, sought)
    while True:
        options = np.array([CLOSE, CLOSE, sought.starts - first, first, 0.0, sought.margin])
        status, found = function.attempt(place, turn, shares, start, fixed, frame, options, alpha, **kept)
        if status == BAD_GOAL:
            raise InputError(f"ik: {function.facts.status[status]}.")
        miss, turned, at, made, *apart = found.ik_info.tolist()
        steps += int(made)
        reached = status == 0
        first = int(at) + 1 if reached else sought.starts
        result = Ik(found.p, reached, miss, turned, int(at), first, steps, facts.frames[int(frame)])
        result = result if sought.least is None else replace(result, clearance=apart[0])
        if reached and (sought.accept is None or sought.accept(found.p)):
            return result
        if reached or best is None:
            best = replace(result, reached=False, unfit=(0 if best is None else best.unfit) + reached)
        if first >= sought.starts:
            best = replace(best, starts=sought.starts, steps=steps)
            if strict:
                raise SolverError(
                    f"ik of {robot.name}: {best.words}. Give a goal within reach or more starts; strict=False in Python "
                    "returns it."
                )
            return best


def _kept(robot: Robot, sought: Sought) -> dict[str, FloatArray]:
    """Further inputs for a robot with distances: which to keep."""
    if robot.manifest.clearance is None and sought.least is None:
        return {}
    least_distance(robot, sought.clearance)  # refuses one of a robot without distances
    given = {kind: np.asarray(x) for kind, x in obstacles(robot, **sought.obstacles).items()}
    return {"keep_apart": np.array([sought.least or 0.0, float(sought.least is not None), 1.0]), **given}
