"""How the base of a robot moves: not at all, in a plane, or freely; by the recipe, or by the joint on the description's root.

A moving base is put into the description as joints that no motor drives, in front of the base link, with massless links between
them. After that a planar base, two slides and a hinge, is like any other part of the tree. Of a floating base, three slides and
three hinges, the program pages know nothing either, but the six are coordinates about the base's pose at one instant
(`graph/solved/floating.py`); its position has seven numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from diffpbd.codegen.description.geometry.rigid import Pose, norm, scale, triad_of
from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.codegen.description.robot.robot import Robot, Vec3
from diffpbd.codegen.description.robot.singular import NEGLIGIBLE_MASS
from diffpbd.codegen.description.tree.elements import DEFAULT_AXIS, Document, JointElement, LinkElement
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.base.joint_types import CONTINUOUS, PRISMATIC

FIXED, PLANAR, FLOATING = "fixed", "planar", "floating"
FLOOR: Final = "floor"
"""A planar base whose plane is horizontal, x and y; that of PLANAR is vertical, x and z, unless a file says otherwise."""
BASE_JOINTS: Final = (FIXED, PLANAR, FLOOR, FLOATING)

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_PLANES: Final = {X: (("y", Y), ("z", Z)), Y: (("x", X), ("z", Z)), Z: (("x", X), ("y", Y))}
"""Normal of a plane → names and axes of its slides."""

FREE: Final = (
    ("base_x", PRISMATIC.name, X), ("base_y", PRISMATIC.name, Y), ("base_z", PRISMATIC.name, Z),
    ("base_turn_x", CONTINUOUS.name, X), ("base_turn_y", CONTINUOUS.name, Y), ("base_turn_z", CONTINUOUS.name, Z),
)  # fmt: skip
"""Freedoms of a floating base: name, type, axis."""


@dataclass(frozen=True)
class Base:
    """How a description's base moves: `kind`, the names of the base link, of the joint on the root that says so (empty where
    the recipe does), of what is chosen as base, and of its freedoms; `document` has them as joints, on a root of its own."""

    kind: str
    document: Document
    link: str = ""
    joint: str = ""
    chosen: str = ""
    freedoms: tuple[str, ...] = ()


def with_base(document: Document, base: str | None, hold: Sequence[str], kind: str) -> Base:
    """The description with the freedoms of its base, those of the recipe (`kind`) or of the joint on its root."""
    written = _on_root(document, base, hold)
    if kind == FIXED and written is None:
        return Base(FIXED, document)
    link = written.child if written is not None else base if base is not None else _root(document)
    if link is None or link not in {known.name for known in document.links}:
        return Base(FIXED, document)  # which is a fault of its own
    of_file = written is not None and kind in (FIXED, written.type)
    kind = written.type if of_file and written is not None else kind
    normal, pose = Z if kind == FLOOR else Y, Pose()
    kind = PLANAR if kind == FLOOR else kind
    if of_file and written is not None and kind == PLANAR:
        axis = DEFAULT_AXIS if written.axis is None else written.axis
        normal, pose = (scale(axis, 1.0 / norm(axis)) if norm(axis) > 0.0 else Y), written.pose
    freedoms = FREE if kind == FLOATING else _planar(normal)
    carried = _carried(document, link)
    world = next(name for name in ("world", "world_frame", "_world_frame") if name not in carried)
    names = [name for name, _, _ in freedoms]
    links = (LinkElement(world, 0), *(LinkElement(name, 0) for name in names[:-1]))
    ends = [world, *names[:-1], link]
    joints = tuple(
        JointElement(name, 0, type_, ends[k], ends[k + 1], pose if k == 0 else Pose(), axis, of_base=True)
        for k, (name, type_, axis) in enumerate(freedoms)
    )
    kept = tuple(j for j in document.joints if j.parent in carried and j.child != link)
    rooted = replace(
        document, links=(*links, *(k for k in document.links if k.name in carried)), joints=(*joints, *kept)
    )
    joint, chosen = (written.name, written.parent) if written is not None else ("", link)
    return Base(kind, rooted, link, joint, chosen, tuple(names))


def base_faults(base: Base, document: Document, hold: Sequence[str]) -> Iterator[Finding]:
    """Joints that follow the base, and freedoms of it that are held."""
    for name in base.freedoms:
        if name in hold:
            message = f"hold {quoted(name)}: it is a freedom of the {base.kind} base, which moves as a whole; "
            message += f"choose another base_joint ({', '.join(kind for kind in BASE_JOINTS if kind != base.kind)})"
            yield Finding("hold", message, (), (name,))
    followed = {base.joint, *base.freedoms} - {""}
    for joint in document.joints:
        if joint.mimic is not None and joint.mimic.joint in followed:
            message = f"joint {quoted(joint.name)} mimics joint {quoted(joint.mimic.joint)}, which is the base joint: "
            yield Finding("base", f"{message}nothing can follow the base", (), (joint.name, joint.mimic.joint))


def massless_base(base: Base, robot: Robot) -> Iterator[Finding]:
    """A floating base without mass."""
    mass = robot.links[len(base.freedoms) - 1].inertial.mass
    if base.kind == FLOATING and mass <= NEGLIGIBLE_MASS:
        message = f'base_joint "{FLOATING}": the base link {quoted(base.link)} has no mass; choose the trunk as base'
        yield Finding("base", message, (base.link,), (), (("mass", mass),))


def base_doubts(base: Base, document: Document) -> Iterator[Finding]:
    """Warnings about a root joint that the moving base replaces."""
    if not base.joint:
        return
    joint = next(j for j in document.joints if j.name == base.joint)
    message = f"joint {quoted(joint.name)} on the root is {joint.type}: the base moves, with coordinates "
    message += f"{listed(base.freedoms)} that no motor drives; hold it ({arg.hold}) to weld it at zero"
    yield Finding("base", message, (base.link,), (joint.name,))
    if base.kind == FLOATING and joint.pose != Pose():
        message = (
            f"joint {quoted(joint.name)}: its origin is not used; positions of the floating base are those of link "
        )
        yield Finding("base", f"{message}{quoted(base.link)} in the frame of the root", (base.link,), (joint.name,))


def _on_root(document: Document, base: str | None, hold: Sequence[str]) -> JointElement | None:
    """The floating or planar joint on the root, where nothing else that moves hangs there."""
    root = _root(document)
    if root is None or base not in (None, root):
        return None
    below = [joint for joint in document.joints if joint.parent == root and _moves(document, joint)]
    if len(below) != 1 or not below[0].kind.at_root or below[0].name in hold:
        return None
    return below[0]


def _moves(document: Document, joint: JointElement) -> bool:
    """Whether this joint or one behind it moves; what does not, stands in the world."""
    behind = _carried(document, joint.child)
    return joint.moves or any(other.moves for other in document.joints if other.parent in behind)


def _root(document: Document) -> str | None:
    children = {joint.child for joint in document.joints}
    roots = [link.name for link in document.links if link.name not in children]
    return roots[0] if len(roots) == 1 else None


def _carried(document: Document, link: str) -> set[str]:
    """A link and all that hangs on it."""
    found, waiting = {link}, [link]
    while waiting:
        parent = waiting.pop()
        fresh = {joint.child for joint in document.joints if joint.parent == parent} - found
        found |= fresh
        waiting += fresh
    return found


def _planar(normal: Vec3) -> tuple[tuple[str, str, Vec3], ...]:
    if normal in _PLANES:
        slides: tuple[tuple[str, Vec3], ...] = _PLANES[normal]
    else:
        a, b, c, d, e, f, *_ = triad_of(normal)
        slides = (("1", (a, b, c)), ("2", (d, e, f)))
    return (*((f"base_{name}", PRISMATIC.name, axis) for name, axis in slides), ("base_turn", CONTINUOUS.name, normal))
