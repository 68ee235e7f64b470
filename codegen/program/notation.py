"""The legend: every letter of the method, its meaning, frame, unit and shape, and where it sits in the flat
vectors.

Frames: `world` is the robot's fixed frame; `link` axes are those of the moving link, its origin the centre of
mass (COM) in maximal coordinates; `parent` are the axes of the link (or world) that carries the joint. Joint
`j` couples parent `a` and child `b`; index `j` is also the index of the child. Quaternions are wxyz, unit,
and map link to world.

Twists and wrenches have their linear part first in `method`, as the paper's (dx, phi) and the state (x, v, q, omega)
do, and their angular part first in `joint_space`, whose recursions are those of Featherstone's spatial vectors. No program
takes one from the other room.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.program.program import Matrix
from diffpbd.codegen.program.tree import Tree


@dataclass(frozen=True)
class Letter:
    """One line of the legend."""

    letter: str
    meaning: str
    frame: str
    unit: str
    shape: str


LEGEND: Final[tuple[Letter, ...]] = (
    Letter("xi", "maximal state: x, v, q, omega of every link", "world", "mixed", "13 a link"),
    Letter("x", "position of the COM", "world", "m", "3"),
    Letter("v", "velocity of the COM", "world", "m/s", "3"),
    Letter("q", "orientation, unit quaternion wxyz, link to world", "world", "1", "4"),
    Letter("omega", "angular velocity", "world", "rad/s", "3"),
    Letter("R", "rotation matrix of q, link to world", "world", "1", "3x3"),
    Letter("pose", "x and q of every link", "world", "m, 1", "7 a link"),
    Letter("p, pd", "joint position and rate", "joint", "rad, rad/s or m, m/s", "1 a joint"),
    Letter("u", "joint effort, + on the child and - on the parent", "joint", "N·m or N", "1 a joint"),
    Letter("h", "time step", "-", "s", "1"),
    Letter("gravity", "acceleration of free fall", "world", "m/s^2", "3"),
    Letter("body", "m, then I about the COM (xx, xy, xz, yy, yz, zz)", "link", "kg, kg·m^2", "7 a link"),
    Letter("joint", "numbers of a joint, see JointNumbers", "link, parent", "m, 1", "28 a joint"),
    Letter("t", "COM of the child to the joint", "child link", "m", "3"),
    Letter("r", "COM of the parent (or world origin) to the joint", "parent", "m", "3"),
    Letter("q_rest", "child orientation in the parent at p = 0", "parent", "1", "4"),
    Letter(
        "e1, e2, axis_a",
        "right-handed triad fixed to the parent, axis_a the joint axis",
        "parent",
        "1",
        "3 each",
    ),
    Letter(
        "f1, f2, axis_b",
        "the same triad fixed to the child; equal to e1, e2, axis_a at p = 0",
        "child link",
        "1",
        "3 each",
    ),
    Letter(
        "friction",
        "Coulomb, viscous, transition rate",
        "joint",
        "N·m, N·m·s/rad, rad/s (N, N·s/m, m/s)",
        "3 a joint",
    ),
    Letter("spring", "stiffness, rest position", "joint", "N·m/rad, rad (N/m, m)", "2 a joint"),
    Letter("attached", "numbers of the springs on chosen joints, one after the other", "joint", "mixed", "as declared"),
    Letter("limit", "lower and upper position limit", "joint", "rad or m", "2 a joint"),
    Letter(
        "room", "how far a joint may still move: lower - p (<= 0), upper - p (>= 0)", "joint", "rad or m", "2 a joint"
    ),
    Letter("lock", "-1 at its lower limit, 1 at its upper, 0 free: the active set", "joint", "1", "1 a joint"),
    Letter(
        "wrench (input)",
        "external wrench: point r on its link, force f and torque t at it",
        "link; world",
        "m, N, N·m",
        "9 a wrench",
    ),
    Letter("push", "force and moment at the COM by the external wrenches on a body", "world", "N, N·m", "6"),
    Letter("c", "constraint residual of a joint, positional rows first", "world, parent", "m, 1", "5 a joint"),
    Letter("J_a, J_b", "gradient of c by (dx, phi) of parent and child", "world", "m, 1 / m, rad", "5x6"),
    Letter(
        "phi",
        "left perturbation: R <- (1 + [phi]x) R, q <- normalize(q + [0, phi]/2 * q)",
        "world",
        "rad",
        "3",
    ),
    Letter("W", "weights diag(1/m, R I^-1 R^T)", "world", "1/kg, 1/(kg·m^2)", "6x6"),
    Letter("L", "angular momentum about the COM, R I R^T omega", "world", "N·m·s", "3"),
    Letter("J_d", "Moser-Veselov inertia, tr(I)/2 1 - I", "link", "kg·m^2", "3x3"),
    Letter(
        "rho",
        "offset: COM relative to the root joint of its tree, as the orientations alone give it",
        "world",
        "m",
        "3",
    ),
    Letter(
        "d",
        "displacement (dx + rho x phi, phi): as seen at the root joint, equal for rigidly coupled links",
        "world",
        "m, rad",
        "6",
    ),
    Letter("S", "motion: d per unit of joint motion, J S = 0", "world", "m/rad, 1 (1, 0)", "6"),
    Letter("gap", "displacement of a link that closes every joint up to it, J gap = -c", "world", "m, rad", "6"),
    Letter("wrench", "force and moment (or their impulses) at the root joint of the tree", "world", "N, N·m", "6"),
)


def table() -> str:
    """The legend of the documentation, in Markdown."""
    rows = ["| letter | meaning | frame | unit | shape |", "|---|---|---|---|---|"]
    return "\n".join([*rows, *(f"| {k.letter} | {k.meaning} | {k.frame} | {k.unit} | {k.shape} |" for k in LEGEND)])


WORLD: Final = -1
"""Parent index of a joint that hangs on the world."""

# One link of xi, one pose, one body.
STATE: Final = 13
POSITION: Final = slice(0, 3)
VELOCITY: Final = slice(3, 6)
QUATERNION: Final = slice(6, 10)
OMEGA: Final = slice(10, 13)
POSE: Final = 7
POSE_POSITION: Final = slice(0, 3)
POSE_QUATERNION: Final = slice(3, 7)
BODY: Final = 7
JOINT: Final = 28
FRICTION: Final = 3
SPRING: Final = 2
LIMIT: Final = 2
WRENCH: Final = 9
ROWS: Final = 5
"""Constraint rows of a joint: a hinge and a slide both leave one freedom of six."""

WORLD_STATE: Final = Matrix([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])


@dataclass(frozen=True)
class JointNumbers:
    """The numbers of one joint by name, in the order of the flat block of 28."""

    t: Any
    r: Any
    q_rest: Any
    e1: Any
    e2: Any
    axis_a: Any
    f1: Any
    f2: Any
    axis_b: Any

    @staticmethod
    def of(block: Any) -> JointNumbers:
        """From the flat block (28)."""
        cuts = (0, 3, 6, 10, 13, 16, 19, 22, 25, 28)
        return JointNumbers(*(block[start:stop, 0] for start, stop in zip(cuts, cuts[1:], strict=False)))

    def flat(self) -> Any:
        """The flat block (28)."""
        parts = (self.t, self.r, self.q_rest, self.e1, self.e2, self.axis_a, self.f1, self.f2, self.axis_b)
        return Matrix([e for part in parts for e in part])


def children(tree: Tree, link: int) -> tuple[int, ...]:
    """Joints (and links) that hang on a link, in order."""
    return tuple(j for j, parent in enumerate(tree.parents) if parent == link)


def part(vector: Any, size: int, index: int, within: slice | None = None) -> Any:
    """Block `index` of a flat column of blocks of `size`, or a slice within that block."""
    within = within or slice(0, size)
    return vector[size * index + within.start : size * index + within.stop, 0]


def square(flat: Any) -> Any:
    """A 3x3 matrix from its 9 entries by rows."""
    return Matrix(3, 3, list(flat))


def column(*parts: Any) -> Any:
    """One column of the entries of columns, matrices (by rows) and scalars, in order."""
    entries: list[Any] = []
    for piece in parts:
        entries.extend(list(piece) if isinstance(piece, sp.MatrixBase) else [piece])
    return Matrix(entries)
