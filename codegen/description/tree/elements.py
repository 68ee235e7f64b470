"""Links, joints and loops as a description writes them, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from diffpbd.codegen.description.geometry.rigid import Pose
from diffpbd.codegen.description.read.source import Element
from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.codegen.description.robot.robot import Inertial, Mechanics, Vec3
from diffpbd.runtime.base.joint_types import FIXED, JointType, type_of
from diffpbd.runtime.base.names import LONGEST, PUNCTUATION, strange_characters

DEFAULT_AXIS: Final[Vec3] = (1.0, 0.0, 0.0)
"""Axis by URDF of a joint without an `axis` element."""


@dataclass(frozen=True)
class LinkElement:
    """A link as written; `inertial` in link axes (its origin applied), None where the element is absent."""

    name: str
    line: int
    inertial: Inertial | None = None
    of_shapes: bool = False
    """Whether the inertia is computed from shapes, which is never a placeholder."""


@dataclass(frozen=True)
class MimicElement:
    """A mimic element as written: position = multiplier · position of `joint` + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class JointElement(Mechanics):
    """A joint as written: `axis` not normalised, bounds infinite as in the file, None where it is silent; no URDF has `rotor`,
    `stiffness` and `rest`."""

    name: str
    line: int
    type: str
    parent: str
    child: str
    pose: Pose = field(default_factory=Pose)
    axis: Vec3 | None = None
    has_limit: bool = False
    mimic: MimicElement | None = None
    of_base: bool = False
    """Whether this is a freedom of a moving base, which no file names."""
    pitch: float = 0.0
    """[m] Way along the axis in a whole turn."""
    part: bool = False
    """Whether this is a later motion of the joint that it follows, which no file names."""

    @property
    def kind(self) -> JointType:
        """The joint type that `type` names."""
        return type_of(self.type)

    @property
    def written(self) -> str:
        """Its name in the file: of a later motion, that of the joint that it follows."""
        return self.mimic.joint if self.part and self.mimic else self.name

    @property
    def moves(self) -> bool:
        """False for fixed joints."""
        return self.type != FIXED.name


@dataclass(frozen=True)
class LoopElement:
    """A `<loop_joint>` as written: both links with the pose of the cut joint's frame there, and its axis in that frame."""

    name: str
    line: int
    type: str
    ends: tuple[tuple[str, Pose], tuple[str, Pose]]
    axis: Vec3


@dataclass(frozen=True)
class Document:
    """Links and joints in file order; joints in `passive` have no motor, as far as the file says which have one. `shapes` is
    where links with their `<collision>` are to be found, None for the file itself; links in `sites` are none of the file's."""

    name: str
    links: tuple[LinkElement, ...]
    joints: tuple[JointElement, ...]
    faults: tuple[Finding, ...]
    doubts: tuple[Finding, ...]
    loops: tuple[LoopElement, ...] = ()
    passive: tuple[str, ...] = ()
    shapes: Element | None = None
    sites: frozenset[str] = frozenset()


def strange_name(kind: str, name: str) -> Finding | None:
    """Error of the name of a link or joint (`kind`), which goes into code and pages; None for a good one."""
    if strange := strange_characters(name):
        message = (
            f"the name holds {listed(strange, 5)}; letters, digits, space and {PUNCTUATION.strip()} are expected, "
        )
        message += "rename it"
    elif len(name) > LONGEST:
        message = f"the name has {len(name)} characters; at most {LONGEST} are expected"
    else:
        return None
    where: tuple[tuple[str, ...], tuple[str, ...]] = ((name,), ()) if kind == "link" else ((), (name,))
    return Finding(f"{kind}-name", f"{kind} {quoted(name)}: {message}", *where)
