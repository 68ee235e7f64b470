"""Warnings: numbers of joints and masses that are legal and most likely not meant."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from diffpbd.codegen.description.check.faults import ROUNDED_OFF, principal_moments
from diffpbd.codegen.description.geometry.rigid import (
    MASSLESS,
    SHORTEST_AXIS,
    Pose,
    compose,
    inertia_about_axis,
    merged,
    moved,
    norm,
)
from diffpbd.codegen.description.report import Finding, counted, listed, printable, quoted
from diffpbd.codegen.description.robot.robot import WORLD, ZERO, Inertial, Robot
from diffpbd.codegen.description.robot.singular import (
    NEGLIGIBLE_INERTIA,
    NEGLIGIBLE_MASS,
    massless_links,
    singular_links,
)
from diffpbd.codegen.description.tree.elements import Document, JointElement
from diffpbd.codegen.description.tree.selection import Selection
from diffpbd.runtime.base.errors import arg

UNIT_LENGTH_DIGITS: Final = 1e-3
"""[1] Deviation from unit length that three printed digits of an axis can cause."""

PLACEHOLDER_SHARE: Final = 0.05
"""[1] Part of a joint's inertia from which three equal moments are named as a likely placeholder."""

GYRATION_SHARE: Final = 0.01
"""[1] Part of a joint's inertia from which a radius of gyration beyond the link's reach matters."""

LIMIT_DIGITS: Final = 1e-3
"""[rad or m, relative above 1] Difference of two limits that printed digits can cause."""

MOST_TURNS: Final = 2.0
"""[1] Turns to either side beyond which a hinge's limit is most likely in degrees (or stands for none): cables and hoses allow
no more than the two of UR's and Kinova's hinges; a limit of 15° or more reads as more turns."""

FASTEST_HINGE: Final = 60.0
"""[rad/s] Velocity limit of a hinge with ends from which degrees are the likelier unit: the quickest geared joints (legs,
gimbals) reach about half of it; 60 °/s and more is what catalogues of arms print."""

TRIANGLE_DIGITS: Final = 1e-3
"""[1] Part of the largest moment by which it may exceed the sum of the others: what printing digits costs."""


def link_doubts(document: Document) -> Iterator[Finding]:
    """Every link as written: inertias that no body of that mass can have."""
    for link in document.links:
        if link.inertial is not None:
            yield from _inertia_doubts(link.name, link.inertial)


def selection_doubts(selection: Selection) -> Iterator[Finding]:
    """Axes and limits of the chosen joints, and what the choice leaves out."""
    for joint in selection.joints:
        if not joint.kind.motions or joint.of_base or joint.part:
            continue
        yield from _axis_doubts(joint)
        yield from _limit_doubts(joint)
    for joint in selection.joints:
        if joint.mimic is not None and not joint.part:
            mimic = joint.mimic
            message = (
                f"joint {quoted(joint.name)} follows joint {quoted(mimic.joint)} as a rigid gear: its position is "
            )
            message += f"{mimic.multiplier:g} times the other's plus {mimic.offset:g}; it is no coordinate of its own"
            numbers = (("multiplier", mimic.multiplier), ("offset", mimic.offset))
            yield Finding("mimic", message, (), (joint.name, mimic.joint), numbers)
    for joint in selection.held:
        if joint.part:
            continue
        message = f"joint {quoted(joint.name)} lies between root and base {quoted(selection.base)}:"
        yield Finding("held", f"{message} it is held at its zero position", (), (joint.name,))
    for branch in selection.unused:
        joint, mass = branch.joint, branch.mass
        message = f"joint {quoted(joint.name)} was not chosen:"
        message += f" {counted(len(branch.links), 'link')} behind it ({listed(branch.links, 5)}), {mass:.4g} kg, "
        if branch.carrier == WORLD:
            message += "left out; they hang on the base, the robot does not feel them"
        else:
            carrier = selection.joints[branch.carrier].child
            message += (
                f"missing from link {quoted(carrier)}; {arg.hold} {printable(joint.name)} keeps it (welded at zero), "
            )
            message += "or a tip behind it"
        yield Finding("unused-branch", message, branch.links, (joint.name,), (("mass", mass),))


def mimic_doubts(robot: Robot) -> Iterator[Finding]:
    """Joints whose limits stop the joint that they follow before its own do."""
    for joint in robot.joints:
        if joint.mimic is None or joint.mimic.multiplier == 0.0:
            continue
        leader, mimic = robot.joints[joint.mimic.joint], joint.mimic
        reach = [None if end is None else (end - mimic.offset) / mimic.multiplier for end in (joint.lower, joint.upper)]
        low, high = reach if mimic.multiplier > 0.0 else reach[::-1]
        room = LIMIT_DIGITS * max([1.0, *(abs(end) for end in (low, high) if end is not None)])
        short = low is not None and (leader.lower is None or low > leader.lower + room)
        if short or (high is not None and (leader.upper is None or high < leader.upper - room)):
            ends = [("-inf", low), ("inf", high), ("-inf", leader.lower), ("inf", leader.upper)]
            own = [f"{value:g}" if value is not None else name for name, value in ends]
            message = (
                f"joint {quoted(joint.name)}: its limits allow joint {quoted(leader.name)}, which it follows, only"
            )
            message += f" {own[0]} to {own[1]} of its own {own[2]} to {own[3]}; only the latter are kept"
            keys = ("lower_allowed", "upper_allowed", "lower", "upper")
            numbers = tuple((key, value) for key, (_, value) in zip(keys, ends, strict=True) if value is not None)
            yield Finding("mimic-limits", message, (), (joint.name, leader.name), numbers)


def mass_doubts(selection: Selection, robot: Robot) -> Iterator[Finding]:
    """Links whose mass or inertia cannot carry the dynamics, or would dominate them."""
    parts = {joint.name: joint for joint in selection.joints if joint.part}
    carried = {joint.parent: joint.child for joint in parts.values()}
    singular = [(carried.get(link, link), joint) for link, joint in singular_links(robot)]
    for link, joint in singular:
        message = f"link {quoted(link)} behind joint {quoted(joint)} moves no mass: the mass matrix is singular;"
        message += " inverse dynamics is generated, forward dynamics and steps are impossible"
        yield Finding("singular", message, (link,), (joint,))
    inertials = {link.name: link.inertial for link in robot.links}
    for link, behind in massless_links(robot):
        joint = parts[behind].written if behind in parts else behind
        if (link, joint) in singular or link in selection.hidden:
            continue
        inertial = inertials[link]
        smallest = principal_moments(inertial.inertia)[0]
        message = f"link {quoted(link)} behind joint {quoted(joint)} has mass {inertial.mass:.4g} kg and smallest"
        message += f" moment {smallest:.4g} kg·m²: steps in maximal coordinates divide by both and are impossible"
        numbers = (("mass", inertial.mass), ("smallest_moment", smallest))
        yield Finding("massless", message, (link,), (joint,), numbers)
    hinges = _hinge_inertias(robot)
    for name, (carrier, _) in selection.place.items():
        written = selection.tree.links[name]
        inertial = MASSLESS if written.inertial is None or written.of_shapes else written.inertial
        if carrier != WORLD and inertial.mass >= NEGLIGIBLE_MASS:
            yield from _size_doubts(selection, robot, hinges, name, inertial)


def _inertia_doubts(link: str, inertial: Inertial) -> Iterator[Finding]:
    where, names, mass = f"link {quoted(link)}: ", (link,), inertial.mass
    smallest, middle, largest = principal_moments(inertial.inertia)
    numbers = (("largest_moment", largest), ("sum_of_others", smallest + middle))
    if smallest < -NEGLIGIBLE_INERTIA and -ROUNDED_OFF * largest <= smallest:
        message = f"{where}smallest principal moment is {smallest:.4g} kg·m²; that is rounding, but negative"
        yield Finding("rounded-inertia", message, names, (), (("smallest_moment", smallest),))
    excess = largest - (smallest + middle)
    if smallest >= -ROUNDED_OFF * largest and excess > max(TRIANGLE_DIGITS * largest, NEGLIGIBLE_INERTIA):
        message = f"{where}no body has this inertia: its largest moment {largest:.4g} exceeds the sum"
        yield Finding("triangle", f"{message} {smallest + middle:.4g} kg·m² of the others", names, (), numbers)
    if mass == 0.0 and largest > NEGLIGIBLE_INERTIA:
        message = f"{where}mass is 0 and inertia is not (largest moment {largest:.4g} kg·m²)"
        yield Finding("inertia-without-mass", message, names, (), (("mass", mass), ("largest_moment", largest)))
    if mass > 0.0 and largest == 0.0:
        message = f"{where}inertia is zero and mass is {mass:.4g} kg: a point"
        yield Finding("point-mass", message, names, (), (("mass", mass),))


def _size_doubts(
    selection: Selection, robot: Robot, hinges: list[float], name: str, inertial: Inertial
) -> Iterator[Finding]:
    """Radius of gyration against the link's reach; three equal moments that matter to the joint."""
    largest = principal_moments(inertial.inertia)[2]
    if largest <= 0.0:
        return
    radius = math.sqrt(largest / inertial.mass)
    neighbours = (*selection.tree.below[name], selection.tree.above[name])
    reach = max([norm(inertial.com), *(norm(joint.pose.translation) for joint in neighbours)])
    joint, share = _share(robot, hinges, *selection.place[name], inertial)
    numbers = [("mass", inertial.mass), ("radius_of_gyration", radius), ("reach", reach)]
    message = f"link {quoted(name)}: mass {inertial.mass:.4g} kg, radius of gyration {radius:.3g} m"
    part = ""
    if joint:
        numbers.append(("share", share))
        part = f"; its inertia is {100.0 * share:.3g} % of that of joint {quoted(joint)}"
    joints = (joint,) if joint else ()
    if radius > reach and (not joint or share >= GYRATION_SHARE):
        message += f", but the link reaches only {reach:.3g} m{part}; a placeholder?"
        yield Finding("gyration", message, (name,), joints, tuple(numbers))
    elif _is_isotropic(inertial) and share >= PLACEHOLDER_SHARE:
        message += f", three equal moments of {largest:.4g} kg·m²{part}; a placeholder?"
        yield Finding("placeholder", message, (name,), joints, tuple(numbers))


def _is_isotropic(inertial: Inertial) -> bool:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertial.inertia
    return xx == yy == zz and xy == xz == yz == 0.0


def _hinge_inertias(robot: Robot) -> list[float]:
    """For every joint, the inertia [kg·m²] about its axis of everything behind it, at zero position."""
    composites = [link.inertial for link in robot.links]
    for index in reversed(range(robot.n)):
        parent = robot.joints[index].parent
        if parent != WORLD:
            composites[parent] = merged((composites[parent], moved(_zero_pose(robot, index), composites[index])))
    return [inertia_about_axis(body, ZERO, joint.axis) for body, joint in zip(composites, robot.joints, strict=True)]


def _share(robot: Robot, hinges: list[float], carrier: int, pose: Pose, inertial: Inertial) -> tuple[str, float]:
    """The nearest hinge before a body, and the part of its inertia (zero pose) that is the body's tensor."""
    while robot.joints[carrier].type.slides:
        pose = compose(_zero_pose(robot, carrier), pose)
        carrier = robot.joints[carrier].parent
        if carrier == WORLD:
            return "", 0.0
    axis = robot.joints[carrier].axis
    body = moved(pose, inertial)
    own = inertia_about_axis(body, body.com, axis)
    whole = hinges[carrier]
    return robot.joints[carrier].name, own / whole if whole > 0.0 else 0.0


def _zero_pose(robot: Robot, index: int) -> Pose:
    return Pose(robot.joints[index].rotation, robot.joints[index].translation)


def _axis_doubts(joint: JointElement) -> Iterator[Finding]:
    where, names = f"joint {quoted(joint.name)}: ", (joint.name,)
    if joint.axis is None:
        yield Finding("no-axis", f"{where}no <axis>; the format's default 1 0 0 was taken", (), names)
    elif norm(joint.axis) >= SHORTEST_AXIS and abs(norm(joint.axis) - 1.0) > UNIT_LENGTH_DIGITS:
        length = norm(joint.axis)
        message = f"{where}axis has length {length:.6g} and was normalised; positions are rad or m along it"
        yield Finding("axis-length", message, (), names, (("axis_length", length),))


def _limit_doubts(joint: JointElement) -> Iterator[Finding]:
    where, names = f"joint {quoted(joint.name)}: ", (joint.name,)
    if not joint.has_limit:
        if not joint.kind.endless:
            message = f"{where}no <limit>; position, velocity and effort are unbounded"
            yield Finding("no-limit", message, (), names)
        return
    if not joint.kind.endless:
        lower, upper = joint.lower or 0.0, joint.upper or 0.0
        absent = [name for name in ("lower", "upper") if getattr(joint, name) is None]
        note = f" ({' and '.join(absent)} absent, which the format reads as 0)" if absent else ""
        numbers = (("lower", lower), ("upper", upper))
        if lower == upper:
            message = f"{where}limit lower = upper = {lower:g} locks the joint in any optimisation{note}"
            yield Finding("zero-range", message, (), names, numbers)
        elif lower > upper:
            message = f"{where}limit lower {lower:g} is above upper {upper:g}{note}: no position respects both"
            yield Finding("inverted-range", message, (), names, numbers)
        elif absent:
            message = f"{where}limit lower {lower:g}, upper {upper:g}{note}"
            yield Finding("half-range", message, (), names, numbers)
    if not (joint.kind.slides or joint.kind.endless or joint.pitch):
        yield from _degree_doubts(joint)
    for attribute, bound in (("velocity", joint.velocity), ("effort", joint.effort)):
        if bound is None:
            yield Finding("no-bound", f"{where}<limit> has no {attribute}; it is unbounded", (), names)
        elif bound <= 0.0:
            message = f"{where}limit {attribute} is {bound:g}, which leaves an optimisation nothing"
            yield Finding(f"zero-{attribute}", message, (), names, ((attribute, bound),))


def _degree_doubts(joint: JointElement) -> Iterator[Finding]:
    """Limits of a hinge that no hinge has in radians."""
    ends = [end for end in (joint.lower, joint.upper) if end is not None and math.isfinite(end)]
    turns = max([abs(end) for end in ends], default=0.0) / (2.0 * math.pi)
    if turns > MOST_TURNS:
        message = (
            f"joint {quoted(joint.name)}: limits up to {2.0 * math.pi * turns:g} rad are {turns:.3g} turns; in degrees?"
        )
        message += " A hinge without ends is of type continuous"
        yield Finding("degrees", message, (), (joint.name,), (("turns", turns),))
    elif ends and joint.velocity is not None and FASTEST_HINGE < joint.velocity < math.inf:
        message = (
            f"joint {quoted(joint.name)}: limit velocity {joint.velocity:g} rad/s is {joint.velocity / math.tau:.3g}"
        )
        message += " turns a second; in degrees a second?"
        yield Finding("degrees", message, (), (joint.name,), (("velocity", joint.velocity),))
