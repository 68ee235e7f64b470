"""Errors: numbers that no body or joint can have, joints that cannot be derived."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from diffpbd.codegen.description.geometry.rigid import SHORTEST_AXIS, norm
from diffpbd.codegen.description.report import Finding, quoted
from diffpbd.codegen.description.robot.robot import Mat3
from diffpbd.codegen.description.robot.singular import NEGLIGIBLE_INERTIA
from diffpbd.codegen.description.tree.elements import DEFAULT_AXIS, Document, JointElement, LinkElement
from diffpbd.codegen.description.tree.selection import Selection
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.base.joint_types import AT_ROOT, MOVING

ROUNDED_OFF: Final = 1e-6
"""[1] Part of the largest principal moment by which the smallest may be negative: printed digits."""

BODY_FAULTS: Final = ("negative-mass", "negative-inertia")
"""Codes of faults of a body's numbers, which do not matter where the body cannot move."""

JOINT_FAULTS: Final = ("joint", "equality", "tendon", "actuator")
"""Codes of faults of what an MJCF has on joints, which do not matter where none of those joints is chosen."""


def principal_moments(inertia: Mat3) -> tuple[float, float, float]:
    """Eigenvalues [kg·m²] of an inertia, ascending."""
    smallest, middle, largest = np.linalg.eigvalsh(np.array(inertia))
    return (float(smallest), float(middle), float(largest))


def document_faults(document: Document) -> Iterator[Finding]:
    """Every link and every joint as written, before anything is merged or chosen."""
    for link in document.links:
        yield from _link_faults(link)
    for joint in document.joints:
        yield from _joint_faults(joint)


def selection_faults(selection: Selection) -> Iterator[Finding]:
    """Joints among the chosen ones that cannot be derived."""
    for joint in selection.joints:
        name = quoted(joint.name)
        if joint.kind.at_root:
            message = f"joint {name}: type {quoted(joint.type)} is not supported here;"
            message += f" supported are {', '.join(MOVING)} and fixed, on a root that carries nothing else"
            message += f" {' and '.join(AT_ROOT)}"
            message += f" too; hold it ({arg.hold}) to weld it at zero, or choose another base ({arg.base})"
            yield Finding("joint-type", message, (), (joint.name,))
        if joint.mimic is not None and joint.mimic.joint:
            yield from _mimic_faults(selection, joint, joint.mimic.joint)


def _mimic_faults(selection: Selection, joint: JointElement, followed: str) -> Iterator[Finding]:
    """Errors of mimics that are no chain: a joint can follow any chosen joint, but not itself in the end."""
    where = f"joint {quoted(joint.name)} mimics joint {quoted(followed)}, "
    names = (joint.name, followed)
    chain = selection.chain(joint)
    known = {written.name: written for written in selection.tree.above.values() if not written.part}
    if followed in chain and followed in known:
        if joint.name in chain:
            yield Finding("mimic", f"{where}which in the end follows it: the two have no position", (), names)
        return
    if followed not in known:
        yield Finding("mimic", f"{where}which does not exist", (), names)
    elif not known[followed].moves:
        yield Finding("mimic", f"{where}which is fixed", (), names)
    else:
        message = f"{where}which is not among the chosen moving joints; choose a tip behind it too, or hold both"
        yield Finding("mimic", message, (), names)


def _link_faults(link: LinkElement) -> Iterator[Finding]:
    if link.inertial is None:
        return
    where = f"link {quoted(link.name)}: "
    mass = link.inertial.mass
    if mass < 0.0:
        yield Finding("negative-mass", f"{where}mass {mass:g} kg is negative", (link.name,), (), (("mass", mass),))
    smallest, _, largest = principal_moments(link.inertial.inertia)
    if smallest < -max(ROUNDED_OFF * largest, NEGLIGIBLE_INERTIA):
        message = f"{where}inertia is not positive: principal moments from {smallest:.4g} to {largest:.4g} kg·m²"
        numbers = (("smallest_moment", smallest), ("largest_moment", largest))
        yield Finding("negative-inertia", message, (link.name,), (), numbers)


def _joint_faults(joint: JointElement) -> Iterator[Finding]:
    where = f"joint {quoted(joint.name)}: "
    names = (joint.name,)
    axis = DEFAULT_AXIS if joint.axis is None else joint.axis
    if joint.kind.motions and norm(axis) < SHORTEST_AXIS:
        x, y, z = axis
        message = f'{where}axis "{x:g} {y:g} {z:g}" has no direction; a {joint.type} joint needs one'
        yield Finding("axis", message, (), names, (("axis_length", norm(axis)),))
    for attribute, coefficient in (("damping", joint.damping), ("friction", joint.friction)):
        if coefficient < 0.0:
            message = f"{where}{attribute} {coefficient:g} is negative, it would add energy"
            yield Finding("negative-friction", message, (), names, ((attribute, coefficient),))
    bounds = (("lower", joint.lower, 1.0), ("upper", joint.upper, -1.0))
    sizes = (("velocity", joint.velocity, -1.0), ("effort", joint.effort, -1.0))
    for attribute, bound, wrong in (*bounds, *sizes):
        if bound is not None and math.isinf(bound) and math.copysign(1.0, bound) == wrong:
            message = f"{where}limit {attribute} is {bound:g}, which no value can respect"
            yield Finding("limit", message, (), names)
