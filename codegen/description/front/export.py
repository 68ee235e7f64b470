"""A robot back to URDF: its moving links with everything merged into them, under changed parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from diffpbd.codegen.description.check.validate import examine
from diffpbd.codegen.description.front.losses import limit_of, losses
from diffpbd.codegen.description.geometry.rigid import (
    ANGLES,
    AXES,
    MOMENTS,
    Pose,
    merged,
    moved,
    rotation_from_rpy,
    rpy_from_rotation,
    symmetric,
    upper_triangle,
)
from diffpbd.codegen.description.joints.loops import OF_JOINT
from diffpbd.codegen.description.robot.robot import (
    IDENTITY,
    WORLD,
    ZERO,
    Inertial,
    Joint,
    Link,
    Loop,
    Robot,
    Tip,
    Vec3,
)
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.joint_types import type_of


@dataclass(frozen=True)
class Export:
    """`text` of a URDF, the robot it describes, and `notices` about what it cannot hold."""

    text: str
    robot: Robot
    notices: tuple[str, ...]


def export(robot: Robot, values: Mapping[str, float], defaults: Mapping[str, float]) -> Export:
    """The URDF of a robot with entries of alpha changed to `values`; `defaults` are those of all entries.

    Masses, COMs, inertias and joint origins are written, a payload is merged into the link that carries the tip, viscous
    and Coulomb friction become damping and friction. Whatever else differs from its default is named in a notice.
    What is written is read again: faults are refused as an InputError, all at once.
    """
    changed = changed_robot(robot, values)
    text = urdf_text(changed)
    report, _ = examine(text.encode(), tip=[tip.name for tip in changed.tips])
    if report.faults:
        told = "\n".join(f"  {fault.message}" for fault in report.faults)
        raise InputError(f"{robot.name}: these parameters are no robot; nothing was written:\n{told}")
    return Export(text, changed, tuple(losses(robot, values, defaults)))


def changed_robot(robot: Robot, values: Mapping[str, float]) -> Robot:
    """The robot with the entries of alpha that a description can hold; others are ignored."""
    links = [_changed_link(link, values) for link in robot.links]
    if any(name.startswith("payload.") for name in values):
        tip = robot.tips[0]
        body = moved(Pose(tip.rotation, tip.translation), _payload(values))
        own = links[tip.link]
        links[tip.link] = dataclasses.replace(own, inertial=merged((own.inertial, body)))
    joints = tuple(_changed_joint(joint, values) for joint in robot.joints)
    return dataclasses.replace(robot, joints=joints, links=tuple(links))


def _changed_link(link: Link, values: Mapping[str, float]) -> Link:
    own = link.inertial
    x, y, z = (values.get(f"com.{link.name}.{axis}", c) for axis, c in zip(AXES, own.com, strict=True))
    moments = zip(MOMENTS, upper_triangle(own.inertia), strict=True)
    inertia = symmetric(*(values.get(f"inertia.{link.name}.{key}", m) for key, m in moments))
    return dataclasses.replace(link, inertial=Inertial(values.get(f"mass.{link.name}", own.mass), (x, y, z), inertia))


def _changed_joint(joint: Joint, values: Mapping[str, float]) -> Joint:
    x, y, z = (values.get(f"origin.{joint.name}.{axis}", t) for axis, t in zip(AXES, joint.translation, strict=True))
    written = rpy_from_rotation(joint.rotation)
    rpy = tuple(values.get(f"origin.{joint.name}.{key}", a) for key, a in zip(ANGLES, written, strict=True))
    roll, pitch, yaw = rpy
    return dataclasses.replace(
        joint,
        translation=(x, y, z),
        rotation=joint.rotation if rpy == written else rotation_from_rpy((roll, pitch, yaw)),
        damping=values.get(f"friction.viscous.{joint.name}", joint.damping),
        friction=values.get(f"friction.coulomb.{joint.name}", joint.friction),
        lower=values.get(f"limit.lower.{joint.name}", joint.lower),
        upper=values.get(f"limit.upper.{joint.name}", joint.upper),
    )


def _payload(values: Mapping[str, float]) -> Inertial:
    x, y, z = (values.get(f"payload.com.{axis}", 0.0) for axis in AXES)
    moments = (values.get(f"payload.inertia.{key}", 0.0) for key in MOMENTS)
    return Inertial(values.get("payload.mass", 0.0), (x, y, z), symmetric(*moments))


def urdf_text(robot: Robot) -> str:
    """A URDF that `read_urdf` reads back as this robot; numbers are written so that they read back to the same bits.

    Rotations become roll, pitch and yaw, which costs their last bits.
    """
    root = ElementTree.Element("robot", name=robot.name)
    base, free = _root_link(robot), len(robot.base_freedoms)
    ElementTree.SubElement(root, "link", name=base)
    if free:
        _add_link(root, robot.links[free - 1])
        _add_base_joint(root, robot, base, robot.links[free - 1].name)
    for link, joint in zip(robot.links[free:], robot.joints[free:], strict=True):
        _add_link(root, link)
        _add_joint(root, robot, joint, link.name)
    for loop in robot.loops:
        _add_loop(root, robot, loop)
    names = {base, *(link.name for link in robot.links), *(joint.name for joint in robot.joints)}
    for tip in robot.tips:
        if tip.name != robot.links[tip.link].name:
            _add_tip(root, robot, tip, names)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_link(root: ElementTree.Element, link: Link) -> None:
    element = ElementTree.SubElement(root, "link", name=link.name)
    own = link.inertial
    if own.mass == 0.0 and not any(map(any, own.inertia)):
        return
    inertial = ElementTree.SubElement(element, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=_numbers(own.com))
    ElementTree.SubElement(inertial, "mass", value=repr(own.mass))
    moments = dict(zip(MOMENTS, upper_triangle(own.inertia), strict=True))
    ElementTree.SubElement(inertial, "inertia", {f"i{key}": repr(value) for key, value in moments.items()})


def _add_joint(root: ElementTree.Element, robot: Robot, joint: Joint, child: str) -> None:
    element = ElementTree.SubElement(root, "joint", name=joint.name, type=joint.type.name)
    _add_pose(element, Pose(joint.rotation, joint.translation))
    ElementTree.SubElement(element, "parent", link=_link_name(robot, joint.parent))
    ElementTree.SubElement(element, "child", link=child)
    ElementTree.SubElement(element, "axis", xyz=_numbers(joint.axis))
    if limit := limit_of(joint):
        ElementTree.SubElement(element, "limit", {key: repr(float(value)) for key, value in limit.items()})
    if joint.damping != 0.0 or joint.friction != 0.0:
        ElementTree.SubElement(element, "dynamics", damping=repr(joint.damping), friction=repr(joint.friction))
    if joint.mimic is not None:
        own = joint.mimic
        followed = robot.joints[own.joint].name
        ElementTree.SubElement(
            element, "mimic", joint=followed, multiplier=repr(own.multiplier), offset=repr(own.offset)
        )


def _root_link(robot: Robot) -> str:
    """Name of the root: that of a base that stands still, or one for what a moving base moves in."""
    name = "world" if robot.base_freedoms else robot.base
    while robot.base_freedoms and name in {link.name for link in robot.links}:
        name += "_"
    return name


def _link_name(robot: Robot, link: int) -> str:
    return _root_link(robot) if link == WORLD else robot.links[link].name


def _add_base_joint(root: ElementTree.Element, robot: Robot, base: str, child: str) -> None:
    """The joint of a moving base; the axis of a planar one is the plane's normal."""
    names = {joint.name for joint in robot.joints}
    name = "base"
    while name in names:
        name += "_"
    first, last = robot.joints[0], robot.joints[len(robot.base_freedoms) - 1]
    element = ElementTree.SubElement(root, "joint", name=name, type=robot.base_joint)
    _add_pose(element, Pose(first.rotation, first.translation))
    ElementTree.SubElement(element, "parent", link=base)
    ElementTree.SubElement(element, "child", link=child)
    if not robot.floating:
        ElementTree.SubElement(element, "axis", xyz=_numbers(last.axis))


def _add_loop(root: ElementTree.Element, robot: Robot, loop: Loop) -> None:
    """A `<loop_joint>`; none for a distance."""
    types = {kind: joint for joint, kind in OF_JOINT.items() if not type_of(joint).endless}
    if loop.type.value not in types:
        return
    element = ElementTree.SubElement(root, "loop_joint", name=loop.name, type=types[loop.type.value])
    for tag, link, rotation, place in (
        ("link1", loop.parent, loop.parent_rotation, loop.parent_translation),
        ("link2", loop.child, loop.child_rotation, loop.child_translation),
    ):
        rpy = ZERO if rotation == IDENTITY else rpy_from_rotation(rotation)
        ElementTree.SubElement(element, tag, link=_link_name(robot, link), xyz=_numbers(place), rpy=_numbers(rpy))
    ElementTree.SubElement(element, "axis", xyz=_numbers(loop.axis))


def _add_tip(root: ElementTree.Element, robot: Robot, tip: Tip, names: set[str]) -> None:
    """A tip frame as a massless link on a fixed joint."""
    ElementTree.SubElement(root, "link", name=tip.name)
    name = f"{tip.name}_fixed"
    while name in names:
        name += "_"
    names.add(name)
    element = ElementTree.SubElement(root, "joint", name=name, type="fixed")
    _add_pose(element, Pose(tip.rotation, tip.translation))
    ElementTree.SubElement(element, "parent", link=robot.links[tip.link].name)
    ElementTree.SubElement(element, "child", link=tip.name)


def _add_pose(element: ElementTree.Element, pose: Pose) -> None:
    if pose.translation == ZERO and pose.rotation == IDENTITY:
        return
    rpy: Vec3 = ZERO if pose.rotation == IDENTITY else rpy_from_rotation(pose.rotation)
    ElementTree.SubElement(element, "origin", xyz=_numbers(pose.translation), rpy=_numbers(rpy))


def _numbers(values: Vec3) -> str:
    return " ".join(repr(value) for value in values)
