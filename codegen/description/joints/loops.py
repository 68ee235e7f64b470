"""Closed loops: what closes what the tree leaves open, by the recipe, a `<loop_joint>` or a second joint onto one child."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from diffpbd.codegen.description.geometry.rigid import (
    SHORTEST_AXIS,
    Pose,
    compose,
    norm,
    rotation_from_rpy,
    scale,
    subtract,
)
from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.codegen.description.robot.robot import WORLD, ZERO, Loop, LoopType, Robot, Vec3
from diffpbd.codegen.description.tree.elements import DEFAULT_AXIS, JointElement, LoopElement
from diffpbd.codegen.description.tree.selection import Selection
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.joint_types import JOINT_TYPES

WORLD_FRAME: Final = "world"
"""How a loop names the frame of the root link, whatever the root link is called."""

OF_JOINT: Final[Mapping[str, str]] = {
    **{kind.name: kind.closes for kind in JOINT_TYPES.values() if kind.closes},
    "spherical": "ball",
}
"""Type of a URDF joint → type of the loop that it closes."""

SHORTEST_LENGTH: Final = 1e-9
"""[m] A distance below this has no direction along which it could act."""


@dataclass(frozen=True)
class LoopEntry:
    """A `[[loop]]` of a recipe, or a joint of the description read as one.

    Frames of the cut joint in both links: `xyz` [m] and `rpy` [rad]; `axis` is in either of them. `parent` and `child` name
    links, or the world. `length` [m] belongs to a distance alone; None is the distance at the zero pose.
    """

    name: str
    type: str
    parent: str
    child: str
    parent_xyz: Vec3 = ZERO
    parent_rpy: Vec3 = ZERO
    child_xyz: Vec3 = ZERO
    child_rpy: Vec3 = ZERO
    axis: Vec3 = DEFAULT_AXIS
    length: float | None = None


CLOSING: Final = ("ball", "hinge", "weld")
"""Types of the loops of `close`, the default first."""


def closing(words: str) -> LoopEntry:
    """The loop of `LINK=LINK` or `LINK=LINK:TYPE`; a hinge turns about z of both frames."""
    pair, _, kind = words.partition(":")
    parent, _, child = pair.partition("=")
    if not parent or not child or (kind or CLOSING[0]) not in CLOSING:
        raise InputError(
            f'recipe: close = "{words}"; expected LINK=LINK or LINK=LINK:TYPE with a type of {", ".join(CLOSING)}'
        )
    return LoopEntry(f"{parent} to {child}", kind or CLOSING[0], parent, child, axis=(0.0, 0.0, 1.0))


@dataclass(frozen=True)
class _Cut:
    """A loop before its links are looked up: poses of the cut frame in links of the description."""

    name: str
    type: str
    parent: str
    child: str
    at_parent: Pose
    at_child: Pose
    axis: Vec3
    length: float | None = None


def gathered(selection: Selection, entries: Sequence[LoopEntry], elements: Sequence[LoopElement]) -> list[_Cut]:
    """Every loop of a description (but those of which neither link was chosen), then of a recipe."""
    found = []
    for joint in selection.tree.cut:
        kind = "weld" if joint.name in selection.welded else OF_JOINT.get(joint.type, joint.type)
        axis = DEFAULT_AXIS if joint.axis is None else joint.axis
        found.append(_Cut(joint.name, kind, joint.parent, joint.child, joint.pose, Pose(), axis))
    for element in elements:
        kind = OF_JOINT.get(element.type, element.type)
        (one, at_one), (other, at_other) = element.ends
        found.append(_Cut(element.name, kind, one, other, at_one, at_other, element.axis))
    links = selection.tree.links
    found = [
        cut
        for cut in found
        if not {cut.parent, cut.child} <= set(links) or {cut.parent, cut.child} & set(selection.place)
    ]
    for e in entries:
        ends = [
            Pose(rotation_from_rpy(rpy), xyz) for rpy, xyz in ((e.parent_rpy, e.parent_xyz), (e.child_rpy, e.child_xyz))
        ]
        found.append(_Cut(e.name, e.type, e.parent, e.child, ends[0], ends[1], e.axis, e.length))
    return found


def loop_faults(selection: Selection, cuts: Sequence[_Cut]) -> Iterator[Finding]:
    """Loops that cannot be: unknown links or types, both ends on one link, no axis."""
    names = [cut.name for cut in cuts]
    joints = {joint.name for joint in selection.joints}
    for name in dict.fromkeys(names):
        if names.count(name) > 1 or name in joints:
            what = "a joint and a loop are" if name in joints else f"{names.count(name)} loops are"
            yield Finding("loop", f"{what} called {quoted(name)}; names must differ", (), (name,))
    for cut in cuts:
        where = f"loop {quoted(cut.name)}: "
        known = [kind.value for kind in LoopType]
        if cut.type not in known:
            yield Finding("loop", f"{where}type {quoted(cut.type)}: {', '.join(known)} are expected", (), (cut.name,))
            continue
        if cut.type in ("hinge", "slide") and norm(cut.axis) < SHORTEST_AXIS:
            yield Finding("loop", f"{where}its axis has no direction; a {cut.type} needs one", (), (cut.name,))
        if cut.length is not None and (cut.type != "distance" or cut.length < SHORTEST_LENGTH):
            above = "a distance above 0 m is expected"
            reason = above if cut.type == "distance" else f"a {cut.type} has none, type distance alone does"
            yield Finding("loop", f"{where}length {cut.length:g} m: {reason}", (), (cut.name,))
        ends = [place_of(selection, link) for link in (cut.parent, cut.child)]
        missing = [link for link, end in zip((cut.parent, cut.child), ends, strict=True) if end is None]
        for link in missing:
            yield Finding("loop", f"{where}{no_link(selection, link)}", (link,), (cut.name,))
        if not missing and ends[0] and ends[1] and ends[0][0] == ends[1][0]:
            same = "the same link" if cut.parent == cut.child else "rigidly one link"
            message = f"{where}parent {quoted(cut.parent)} and child {quoted(cut.child)} are {same}; nothing can close"
            yield Finding("loop", message, tuple(dict.fromkeys((cut.parent, cut.child))), (cut.name,))


def cut_doubts(selection: Selection) -> Iterator[Finding]:
    """Joints of the file that close a loop and so have no coordinate."""
    for joint in selection.tree.cut:
        kept = selection.tree.above[joint.child].written
        message = f"link {quoted(joint.child)} is the child of 2 joints ({listed((kept, joint.name))}): a closed loop"
        message += f"; joint {quoted(joint.name)}, the later in the file, is cut and closes it"
        unused = [name for name, there in _unused(joint) if there]
        if unused:
            message += f"; its {', '.join(unused)} {'is' if len(unused) == 1 else 'are'} not used"
        message += "; reorder the file to cut another"
        yield Finding("cut", message, (joint.child,), (kept, joint.name))


def _unused(joint: JointElement) -> tuple[tuple[str, bool], ...]:
    """Elements of a joint that only a coordinate has."""
    friction = joint.damping != 0.0 or joint.friction != 0.0
    return (("limit", joint.has_limit), ("dynamics", friction), ("mimic", joint.mimic is not None))


def passive_faults(selection: Selection, passive: Sequence[str]) -> Iterator[Finding]:
    """Names of joints without a motor that are none, and gears that would drive them."""
    chosen = {joint.name: joint for joint in selection.joints if not joint.part}
    for name in dict.fromkeys(passive):
        if name not in chosen:
            known = f"moving joints are {listed(chosen)}"
            yield Finding("passive", f"passive joint {quoted(name)} does not exist; {known}", (), (name,))
        if passive.count(name) > 1:
            yield Finding("passive", f"passive joint {quoted(name)} is named twice", (), (name,))
    for joint in selection.joints:
        if joint.mimic is None or joint.part or joint.name in passive:
            continue
        if joint.mimic.joint in passive:
            message = f"passive joint {quoted(joint.mimic.joint)} is followed by the mimic joint {quoted(joint.name)}"
            message += ", which has a motor; name that too, or hold it"
            yield Finding("passive", message, (), (joint.mimic.joint, joint.name))


def passive_doubts(selection: Selection, passive: Sequence[str]) -> Iterator[Finding]:
    """A robot that nothing drives."""
    without = {joint.name for joint in selection.joints if joint.of_base} | set(passive)
    driven = [joint.name for joint in selection.joints if joint.name not in without and joint.mimic is None]
    if passive and not driven:
        yield Finding("passive", "every joint is passive: nothing drives this robot", (), tuple(passive))


def closed(robot: Robot, selection: Selection, cuts: Sequence[_Cut]) -> tuple[Loop, ...]:
    """The loops of a robot; there are no `loop_faults`."""
    return tuple(_loop(robot, selection, cut) for cut in cuts)


def length_faults(robot: Robot) -> Iterator[Finding]:
    """Distances that are left to the zero pose, where their ends coincide."""
    for loop in robot.loops:
        if loop.type is LoopType.DISTANCE and loop.length < SHORTEST_LENGTH:
            message = f"loop {quoted(loop.name)}: its ends coincide at the zero pose; give it a length above 0 m"
            yield Finding("loop", message, (), (loop.name,))


def _loop(robot: Robot, selection: Selection, cut: _Cut) -> Loop:
    (parent, on_parent), (child, on_child) = (found_place(selection, link) for link in (cut.parent, cut.child))
    a, b = compose(on_parent, cut.at_parent), compose(on_child, cut.at_child)
    length = cut.length
    if cut.type == LoopType.DISTANCE.value and length is None:
        ends = [compose(_at_zero(robot, link), pose).translation for link, pose in ((parent, a), (child, b))]
        length = norm(subtract(ends[1], ends[0]))
    axis = cut.axis if norm(cut.axis) == 0.0 else scale(cut.axis, 1.0 / norm(cut.axis))
    return Loop(cut.name, LoopType(cut.type), parent, child, a.rotation, a.translation, b.rotation, b.translation, axis,
                length or 0.0)  # fmt: skip


def _at_zero(robot: Robot, link: int) -> Pose:
    """Pose of a moving link in the world with all joints at zero."""
    pose = Pose()
    while link != WORLD:
        joint = robot.joints[link]
        pose = compose(Pose(joint.rotation, joint.translation), pose)
        link = joint.parent
    return pose


def no_link(selection: Selection, link: str) -> str:
    """Why nothing can be fixed to a link that is not there, or was not chosen."""
    if link in selection.tree.links:
        return f"link {quoted(link)} is not among the chosen ones; choose a tip behind it too"
    near = get_close_matches(link, [*selection.tree.links, WORLD_FRAME], 1)
    return f"link {quoted(link)} does not exist" + (f"; {quoted(near[0])} was meant?" if near else "")


def place_of(selection: Selection, link: str) -> tuple[int, Pose] | None:
    """The moving link (-1 the world) that a named one is part of, and its pose there; None where there is none."""
    if link not in selection.place and link == WORLD_FRAME and link not in selection.tree.links:
        return WORLD, Pose()
    return selection.place.get(link)


def found_place(selection: Selection, link: str) -> tuple[int, Pose]:
    """Place of a link that is there: moving link and pose on it."""
    found = place_of(selection, link)
    if found is None:
        raise KeyError(link)
    return found
