"""The robot as the derivation sees it: moving links, one joint before each, named tips. Frozen, hashable.

Frames: `world` is the frame of the root link of the description, in which gravity is given, whatever
the base link; moving joints between root and base are held at their zero position. The frame of a moving link
is the frame of the joint that moves it: joint i moves link i, and at zero position both are the same. A
rotation `R_a_b` maps coordinates of frame b to frame a; it is stored as three rows. SI units everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from diffpbd.codegen.description.robot.contact_law import ContactLaw
from diffpbd.runtime.base.joint_types import JointType
from diffpbd.runtime.folder.manifest import LeftOut

Vec3 = tuple[float, float, float]
Mat3 = tuple[Vec3, Vec3, Vec3]

ZERO: Final[Vec3] = (0.0, 0.0, 0.0)
IDENTITY: Final[Mat3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
SPHERE: Final = "sphere"
CAPSULE: Final = "capsule"
BOX: Final = "box"
WORLD: Final[int] = -1
"""Parent index of a joint that hangs on the base."""


@dataclass(frozen=True)
class Inertial:
    """Mass [kg], centre of mass `com` [m] (3, link frame), `inertia` [kg·m²] (3 x 3, about it, link axes)."""

    mass: float
    com: Vec3
    inertia: Mat3


@dataclass(frozen=True)
class Link:
    """A moving link; `inertial` includes everything rigidly attached to it, whose names `merged` lists."""

    name: str
    inertial: Inertial
    merged: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: its position is `multiplier` · p + `offset` [rad or m], p that of joint `joint`.

    `joint` is an index; the joint followed follows none itself.
    """

    joint: int
    multiplier: float
    offset: float


@dataclass(frozen=True, kw_only=True)
class Mechanics:
    """Bounds of a joint's motion, and the forces of its own: `lower`, `upper` [rad or m], `velocity` [rad/s or m/s] and
    `effort` [N·m or N]; `damping` [N·m·s/rad or N·s/m] and `friction` [N·m or N] are what the file's `dynamics` element says;
    `rotor` [kg·m² or kg] turns with the joint; a spring of `stiffness` [N·m/rad or N/m] is at rest at `rest` [rad or m]."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    rotor: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0


@dataclass(frozen=True)
class Joint(Mechanics):
    """A moving joint; `type` is one of a single motion.

    `parent` is the index of the link that carries it, -1 for the base. `rotation` (3 x 3, R_parent_joint)
    and `translation` [m] (3, parent frame) place the joint frame at zero position in the frame of the parent
    link, or in the world frame for parent -1. `axis` is a unit vector (3) in the joint frame. Bounds are
    None where there are none. A joint with `mimic` has no freedom of its own.
    A `part` is the later motion of the joint that it follows, whose numbers are both's.
    """

    name: str
    type: JointType
    parent: int
    rotation: Mat3
    translation: Vec3
    axis: Vec3
    mimic: Mimic | None = None
    part: bool = False


class LoopType(Enum):
    """Freedom of a closed loop's cut joint: a turn about its axis, every turn, a slide along its axis, nothing; a
    distance holds two points apart and nothing else."""

    HINGE = "hinge"
    BALL = "ball"
    SLIDE = "slide"
    WELD = "weld"
    DISTANCE = "distance"


@dataclass(frozen=True)
class Loop:
    """A closed loop: a cut joint between links `parent` and `child` (indices, -1 the world).

    `rotation` (3 x 3) and `translation` [m] (3) place the cut frame in either link's frame; a closed loop brings both together,
    but for the joint's own motion. `axis` is a unit vector in the cut frame. `length` [m] is that of a distance, 0 of others.
    """

    name: str
    type: LoopType
    parent: int
    child: int
    parent_rotation: Mat3
    parent_translation: Vec3
    child_rotation: Mat3
    child_translation: Vec3
    axis: Vec3
    length: float = 0.0


@dataclass(frozen=True)
class Plane:
    """A flat surface on link `link` (index, -1 the world): its points x have `normal` · x = `height` [m] in the link's frame.

    `normal` is a unit vector (3) that points away from the solid.
    """

    name: str
    link: int
    normal: Vec3
    height: float


@dataclass(frozen=True)
class Contact(ContactLaw):
    """A sphere on link `link` (index, -1 the world) about `point` [m] (3, link frame); radius 0 [m] is a point.

    `against` names planes and other spheres that it touches, all by its law; contacts of one `surface` share it. Those that
    are a `part` of one shape have its radius; they are its ends or corners, or its `core`, which is about `point`: a
    capsule's is between its ends, a box's has `axes` (3 x 3, R_link_box) and `halves` [m].
    """

    name: str
    link: int
    point: Vec3
    radius: float
    against: tuple[str, ...] = ()
    surface: str = ""
    part: str = ""
    core: str = SPHERE
    axes: Mat3 = IDENTITY
    halves: Vec3 = ZERO

    @property
    def law(self) -> str:
        """Whose friction, load, compliance and so on are its own: the name of its entries of alpha."""
        return self.surface or self.name

    @property
    def shape(self) -> str:
        """Whose radius it has."""
        return self.part or self.name


@dataclass(frozen=True)
class Pair:
    """A contact: a sphere or core, and a plane or another of these. `name` is the first's, with the other's where it has
    several."""

    name: str
    sphere: Contact
    other: Plane | Contact


@dataclass(frozen=True)
class Shape:
    """A shape that must not touch others: a core swept by a sphere of `radius` [m], on link `link` (index, -1 the world).

    `kind` is sphere, capsule, box or plane. The core is about `centre` [m] (3, link frame): a point, a segment of `halves[0]`
    [m] to both sides along the last column of `rotation` (3 x 3, R_link_shape), or a box of three `halves`; a plane's last
    column points away from the solid. `part` is the link of the description that it belongs to.
    """

    name: str
    part: str
    link: int
    kind: str
    rotation: Mat3
    centre: Vec3
    halves: tuple[float, ...]
    radius: float


@dataclass(frozen=True)
class Tip:
    """A named frame on link `link` (index): `rotation` (3 x 3, R_link_tip), `translation` [m] (3, link)."""

    name: str
    link: int
    rotation: Mat3
    translation: Vec3


@dataclass(frozen=True)
class Robot:
    """A tree of moving links: joint i moves link i, parents come before children, depth first in file order.

    `base` names the link the tree hangs on, `tips[0]` is the tip of every function that speaks of one. `left_out` and `rotors`
    (joint, reflected inertia [kg·m²]) are in the file and not in the dynamics. `loops` close what the tree leaves open; joints
    in `passive` have no motor. `base_joint` says whether the base is fixed, moves in a plane or is free: its three or six
    freedoms are the first joints then. `contacts` are spheres on links that touch `planes` and each other; `shapes` must not.
    `frames` are all links of the chosen part, fixed ones and those on the base (link -1) included.
    """

    name: str
    base: str
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    tips: tuple[Tip, ...]
    left_out: tuple[LeftOut, ...] = field(default=(), compare=False)
    rotors: tuple[tuple[str, float], ...] = field(default=(), compare=False)
    loops: tuple[Loop, ...] = ()
    passive: tuple[str, ...] = ()
    base_joint: str = "fixed"

    planes: tuple[Plane, ...] = ()
    contacts: tuple[Contact, ...] = ()
    frames: tuple[Tip, ...] = field(default=(), compare=False)
    shapes: tuple[Shape, ...] = ()
    apart: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """Links of the description whose shapes are not compared, as an SRDF says."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Everything that can touch, sphere by sphere."""
        every: list[Plane | Contact] = [*self.planes, *self.contacts]
        others = {other.name: other for other in every}
        return tuple(
            Pair(c.name if len(c.against) == 1 else f"{c.name}/{name}", c, others[name])
            for c in self.contacts
            for name in c.against
        )

    @property
    def floating(self) -> bool:
        """Whether the base is free."""
        return self.base_joint == "floating"

    @property
    def base_freedoms(self) -> tuple[str, ...]:
        """Names of the joints that are freedoms of the base."""
        count = {"planar": 3, "floating": 6}.get(self.base_joint, 0)
        return tuple(joint.name for joint in self.joints[:count])

    @property
    def n(self) -> int:
        """Number of moving joints."""
        return len(self.joints)

    @property
    def independent(self) -> tuple[int, ...]:
        """Indices of the joints that follow no other: the coordinates of every function, in this order."""
        return tuple(i for i, joint in enumerate(self.joints) if joint.mimic is None)

    @property
    def total_mass(self) -> float:
        """Mass of all moving links [kg]."""
        return sum(link.inertial.mass for link in self.links)

    @property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the joints that each link carries, in joint order."""
        return tuple(tuple(j for j, joint in enumerate(self.joints) if joint.parent == i) for i in range(self.n))
