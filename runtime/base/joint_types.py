"""Joint types, each declared once. The derivation knows two motions, a turn and a slide; a type is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Motion:
    """An elementary motion about or along an axis: units of its position, its effort and the inertia that it moves."""

    unit: str
    effort_unit: str
    inertia_unit: str


TURN: Final = Motion("rad", "N·m", "kg·m^2")
SLIDE: Final = Motion("m", "N", "kg")
EFFORT_UNITS: Final = {motion.unit: motion.effort_unit for motion in (TURN, SLIDE)}
"""Unit of a position → unit of the effort."""


@dataclass(frozen=True)
class JointType:
    """A type of joint under its name in a URDF.

    `motions` are along one axis, one after the other. The first is the joint's coordinate; the second follows it, by `pitch`:
    the child element of the joint that gives its way [m] in a whole turn of the first. A type without motions is fixed, or
    `at_root`: a moving base. `endless`: without position limits. `closes`: the type of loop that it closes, empty where none.
    """

    name: str
    motions: tuple[Motion, ...] = ()
    endless: bool = False
    closes: str = ""
    pitch: str = ""
    at_root: bool = False

    @property
    def slides(self) -> bool:
        """Whether its coordinate is a way along the axis instead of an angle about it."""
        return self.motions[:1] == (SLIDE,)

    @property
    def unit(self) -> str:
        """Unit of the position: `rad` or `m`."""
        return self.motions[0].unit

    @property
    def effort_unit(self) -> str:
        """Unit of the effort: `N·m` or `N`."""
        return self.motions[0].effort_unit


REVOLUTE: Final = JointType("revolute", (TURN,), closes="hinge")
CONTINUOUS: Final = JointType("continuous", (TURN,), endless=True, closes="hinge")
PRISMATIC: Final = JointType("prismatic", (SLIDE,), closes="slide")
SCREW: Final = JointType("screw", (TURN, SLIDE), pitch="screw_thread_pitch")
FIXED: Final = JointType("fixed", closes="weld")
PLANAR: Final = JointType("planar", at_root=True)
FLOATING: Final = JointType("floating", at_root=True)
UNKNOWN: Final = JointType("")
"""Whatever else a description says, which is a fault."""

JOINT_TYPES: Final = {kind.name: kind for kind in (REVOLUTE, CONTINUOUS, PRISMATIC, SCREW, FIXED, PLANAR, FLOATING)}
MOVING: Final = tuple(kind.name for kind in JOINT_TYPES.values() if kind.motions)
AT_ROOT: Final = tuple(kind.name for kind in JOINT_TYPES.values() if kind.at_root)


def type_of(name: str) -> JointType:
    """The type of this name."""
    return JOINT_TYPES.get(name, UNKNOWN)


def alone(motion: Motion) -> JointType:
    """The type that is one motion between limits."""
    return next(kind for kind in JOINT_TYPES.values() if kind.motions == (motion,) and not kind.endless)
