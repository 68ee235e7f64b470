"""From the chosen part of a description to a Robot: what hangs rigidly together becomes one moving link."""

from __future__ import annotations

import math
from typing import Final

from diffpbd.codegen.description.geometry.rigid import MASSLESS, compose, merged, moved, norm, scale
from diffpbd.codegen.description.robot.robot import WORLD, Joint, Link, Mimic, Robot, Tip, Vec3
from diffpbd.codegen.description.tree.elements import DEFAULT_AXIS, JointElement
from diffpbd.codegen.description.tree.selection import Selection
from diffpbd.runtime.folder.manifest import LeftOut

_UNIT_ROUNDING: Final = 4e-16
"""[1] Two units in the last place: an axis this close to unit length is kept to the bit."""


def assemble(name: str, selection: Selection) -> Robot:
    """The Robot of a selection without faults."""
    joints = tuple(_joint(selection, joint) for joint in selection.joints)
    links = tuple(_link(selection, names) for names in selection.carried())
    frames = _frames(selection)
    tips = [frames[tip] for tip in selection.tips]
    left_out = tuple(
        LeftOut(branch.joint.name, selection.joints[branch.carrier].child, branch.links, branch.mass)
        for branch in selection.unused
        if branch.carrier != WORLD
    )
    return Robot(name, selection.base, joints, links, tuple(tips), left_out, frames=tuple(frames.values()))


def _frames(selection: Selection) -> dict[str, Tip]:
    """Every link as a frame on the moving link that carries it, without those of no file."""
    return {
        name: Tip(name, carrier, pose.rotation, pose.translation)
        for name, (carrier, pose) in selection.place.items()
        if name not in selection.hidden
    }


def _link(selection: Selection, names: list[str]) -> Link:
    """`names`: what the link consists of, the moving link first."""
    bodies = []
    for part in names:
        inertial = selection.tree.links[part].inertial
        bodies.append(moved(selection.place[part][1], MASSLESS if inertial is None else inertial))
    return Link(names[0], merged(bodies), tuple(names[1:]))


def _joint(selection: Selection, joint: JointElement) -> Joint:
    parent, pose = selection.place[joint.parent]
    pose = compose(pose, joint.pose)
    unbounded = joint.kind.endless or not joint.has_limit
    return Joint(
        name=joint.name,
        type=joint.kind,
        parent=parent,
        rotation=pose.rotation,
        translation=pose.translation,
        axis=_unit(DEFAULT_AXIS if joint.axis is None else joint.axis),
        lower=None if unbounded else _finite(0.0 if joint.lower is None else joint.lower),
        upper=None if unbounded else _finite(0.0 if joint.upper is None else joint.upper),
        velocity=_finite(joint.velocity),
        effort=_finite(joint.effort),
        damping=joint.damping,
        friction=joint.friction,
        mimic=_mimic(selection, joint),
        rotor=joint.rotor,
        stiffness=joint.stiffness,
        rest=joint.rest,
        part=joint.part,
    )


def _mimic(selection: Selection, joint: JointElement) -> Mimic | None:
    """The joint that a joint follows, chains of mimics multiplied out: m₁ (m₂ p + o₂) + o₁."""
    if joint.mimic is None:
        return None
    multiplier, offset = 1.0, 0.0
    chosen = {element.name: k for k, element in enumerate(selection.joints)}
    while joint.mimic is not None:
        offset = multiplier * joint.mimic.offset + offset
        multiplier = multiplier * joint.mimic.multiplier
        joint = selection.joints[chosen[joint.mimic.joint]]
    return Mimic(chosen[joint.name], multiplier, offset)


def _unit(axis: Vec3) -> Vec3:
    length = norm(axis)
    return axis if abs(length - 1.0) <= _UNIT_ROUNDING else scale(axis, 1.0 / length)


def _finite(bound: float | None) -> float | None:
    return None if bound is None or math.isinf(bound) else bound
