"""The flat parameter vector alpha of a robot: its entries in order, with units, defaults and bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, cast

from diffpbd.codegen.description.geometry.rigid import ANGLES, AXES, MOMENTS, rpy_from_rotation, upper_triangle
from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.codegen.description.robot.contact_law import NUMBERS, OF_ALL, given
from diffpbd.codegen.description.robot.robot import Contact, Joint, Loop, LoopType, Robot, Vec3
from diffpbd.codegen.graph.model.force_elements import attached_springs, friction_laws
from diffpbd.codegen.joint_space.contact.cones import LIMIT_LOAD
from diffpbd.codegen.laws import elements
from diffpbd.codegen.laws.elements.plain import TRANSITION_BOUNDS, TRANSITION_VELOCITY
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.manifest import Parameter

SLIP: Final = 1e-5
"""[m/s, and rad/s at limits] Default rate of slip below which friction gives way instead of holding: what a body at rest
creeps at, and small against any motion of interest. Plans want more, 1e-2, so that gradients say something at rest."""
LEAST_SLIP: Final = 1e-9
"""[m/s] Below, rounding decides."""
SLOPE_SLIP: Final = 1e-3
"""[m/s] Default slip of the derivatives of steps at the cone itself: the gradient of a way to rest is within 1 % there."""
SMOOTHING: Final = 1e-7
"""[m] Default smoothing length of distances: far above what rounding makes of parallel segments, and 1e-9 m of error for cores
that are 10 µm apart."""
LEAST_SMOOTHING: Final = 1e-8
"""[m] Below, rounding decides where parallel segments touch."""
LEAST_LOAD: Final = 1e-6
"""[N·m or N, at limits] Without any there is no smoothing, and what it smooths has no slope at rest."""

SIDES: Final = ("lower", "upper")
WRENCH_PARTS: Final = (("force", "N"), ("torque", "N·m"))


def is_limited(joint: Joint) -> bool:
    """Whether a joint has limits that a step can act on: both, in order, and a hinge's less than a turn apart, because poses
    of links do not tell one turn from the next."""
    if joint.lower is None or joint.upper is None or joint.type.endless or joint.lower >= joint.upper:
        return False
    return joint.type.slides or joint.upper - joint.lower < 2.0 * math.pi


def without_entry(kind: str) -> float:
    """Value of the numbers of a kind at joints that have none, those of a floating base: zero, but where it divides."""
    if kind == "friction.transition_velocity":
        return TRANSITION_VELOCITY
    return elements.defaults().get(kind, 0.0)


def alpha_entries(robot: Robot, recipe: Recipe) -> tuple[Parameter, ...]:
    """Every entry of alpha in order: gravity, payload, the joint kinds one after another (friction beyond the plain law
    after what every robot has of it), springs on chosen joints, limits, external
    wrenches, contacts, the smoothing of distances, then what is symbolic, frames of closed loops last."""
    return tuple(_entries(robot, recipe))


def _entries(robot: Robot, recipe: Recipe) -> Iterator[Parameter]:
    urdf = recipe.friction == "urdf"
    joints = _with_numbers(robot)
    written = [joint for joint in robot.joints[len(robot.base_freedoms) :] if not joint.part]
    unwritten = {*robot.base_freedoms[:-1], *(joint.name for joint in robot.joints if joint.part)}
    links = [link for link in robot.links if link.name not in unwritten]
    for axis, value in zip(AXES, recipe.gravity, strict=True):
        yield Parameter(f"gravity.{axis}", "m/s^2", value, None, None)
    yield Parameter("payload.mass", "kg", 0.0, 0.0, None)
    for axis in AXES:
        yield Parameter(f"payload.com.{axis}", "m", 0.0, None, None)
    for moment in MOMENTS:
        yield Parameter(f"payload.inertia.{moment}", "kg·m^2", 0.0, 0.0 if moment[0] == moment[1] else None, None)
    for j in joints:
        yield Parameter(f"friction.coulomb.{j.name}", j.type.effort_unit, j.friction if urdf else 0.0, 0.0, None)
    for j in joints:
        unit = f"{j.type.effort_unit}·s/{j.type.unit}"
        yield Parameter(f"friction.viscous.{j.name}", unit, j.damping if urdf else 0.0, 0.0, None)
    for j in joints:
        yield Parameter(
            f"friction.transition_velocity.{j.name}", f"{j.type.unit}/s", TRANSITION_VELOCITY, *TRANSITION_BOUNDS
        )
    yield from _more_friction(robot, recipe)
    for j in joints:
        yield Parameter(f"rotor_inertia.{j.name}", j.type.motions[0].inertia_unit, j.rotor, 0.0, None)
    for j in joints:
        if j.mimic is None:  # the others have no sensor
            yield Parameter(f"torque_offset.{j.name}", j.type.effort_unit, 0.0, None, None)
    for j in joints:
        yield Parameter(f"spring.stiffness.{j.name}", f"{j.type.effort_unit}/{j.type.unit}", j.stiffness, 0.0, None)
    for j in joints:
        yield Parameter(f"spring.rest.{j.name}", j.type.unit, j.rest, None, None)
    yield from _spring_entries(robot, recipe)
    if recipe.limits:
        for side in SIDES:
            for j in joints:
                if is_limited(j):
                    bound = j.lower if side == "lower" else j.upper
                    yield Parameter(f"limit.{side}.{j.name}", j.type.unit, float(bound or 0.0), None, None)
        if any(map(is_limited, robot.joints)):
            yield Parameter("limit.load", "N·m or N", LIMIT_LOAD, LEAST_LOAD, None)
            yield Parameter("limit.slip", "rad/s or m/s", SLIP, LEAST_SLIP, None)
    for name in recipe.wrench:
        for kind, unit in WRENCH_PARTS:
            for axis in AXES:
                yield Parameter(f"wrench.{name}.{kind}.{axis}", unit, 0.0, None, None)
    yield from _contact_entries(robot, recipe.cone == "exact")
    if recipe.clearance:
        yield Parameter("clearance.smoothing", "m", SMOOTHING, LEAST_SMOOTHING, None)
    if "mass" in recipe.symbolic:
        for link in links:
            yield Parameter(f"mass.{link.name}", "kg", link.inertial.mass, 0.0, None)
    if "com" in recipe.symbolic:
        for link in links:
            for axis, value in zip(AXES, link.inertial.com, strict=True):
                yield Parameter(f"com.{link.name}.{axis}", "m", value, None, None)
    if "inertia" in recipe.symbolic:
        for link in links:
            for moment, value in zip(MOMENTS, upper_triangle(link.inertial.inertia), strict=True):
                lower = 0.0 if moment[0] == moment[1] else None
                yield Parameter(f"inertia.{link.name}.{moment}", "kg·m^2", value, lower, None)
    if "contact" in recipe.symbolic:
        yield from _places_of_contacts(robot)
    if "origin" in recipe.symbolic:
        for j in written:
            for axis, value in zip(AXES, j.translation, strict=True):
                yield Parameter(f"origin.{j.name}.{axis}", "m", value, None, None)
            for angle, value in zip(ANGLES, rpy_from_rotation(j.rotation), strict=True):
                yield Parameter(f"origin.{j.name}.{angle}", "rad", value, None, None)
    if "loop" in recipe.symbolic:
        for loop in robot.loops:
            yield from _loop_entries(loop)


def _spring_entries(robot: Robot, recipe: Recipe) -> Iterator[Parameter]:
    """Numbers of the springs on chosen joints."""
    chosen = attached_springs(robot, recipe)
    for element in dict.fromkeys(one.element for one in chosen):
        spring = elements.spring(element)
        for number in spring.numbers:
            for j in (robot.joints[one.joint] for one in chosen if one.element == element):
                unit = number.unit_on(j.type.effort_unit, j.type.unit)
                name = f"{spring.name}.{number.name}.{j.name}"
                yield Parameter(name, unit, number.default, number.least, number.most)


def _loop_entries(loop: Loop) -> Iterator[Parameter]:
    """Both cut frames of a loop, and the length of a distance."""
    for side, translation, rotation in (
        ("parent", loop.parent_translation, loop.parent_rotation),
        ("child", loop.child_translation, loop.child_rotation),
    ):
        for axis, value in zip(AXES, translation, strict=True):
            yield Parameter(f"loop.origin.{loop.name}.{side}.{axis}", "m", value, None, None)
        for angle, value in zip(ANGLES, rpy_from_rotation(rotation), strict=True):
            yield Parameter(f"loop.origin.{loop.name}.{side}.{angle}", "rad", value, None, None)
    if loop.type is LoopType.DISTANCE:
        yield Parameter(f"loop.length.{loop.name}", "m", loop.length, 0.0, None)


def _contact_entries(robot: Robot, exact: bool) -> Iterator[Parameter]:
    """Laws of contacts, radii of spheres, heights of planes, the rate of slip; none where nothing touches."""
    active = [c for c in robot.contacts if c.against]
    used = {name for c in active for name in c.against}
    laws = list({c.law: c for c in active}.values())
    said = [
        Parameter(f"contact.{kind}.{c.law}", number.unit, given(c)[kind], number.least, number.most)
        for kind, number in NUMBERS.items() for c in laws if kind in given(c)
    ]  # fmt: skip
    frictions = sum(entry.name.startswith("contact.friction.") for entry in said)
    yield from said[:frictions]
    for c in {c.shape: c for c in robot.contacts if c.against or c.name in used}.values():
        yield Parameter(f"contact.radius.{c.shape}", "m", c.radius, 0.0, None)
    for kind, (unit, default, least) in OF_ALL.items():
        for c in laws:
            yield Parameter(f"contact.{kind}.{c.law}", unit, default, least, None)
    yield from said[frictions:]
    if active:
        yield Parameter("contact.slip", "m/s", LEAST_SLIP if exact else SLIP, LEAST_SLIP, None)
    if active and exact:
        yield Parameter("contact.slope_slip", "m/s", SLOPE_SLIP, LEAST_SLIP, None)
    for plane in robot.planes:
        if plane.name in used:
            yield Parameter(f"plane.height.{plane.name}", "m", plane.height, None, None)


def _places_of_contacts(robot: Robot) -> Iterator[Parameter]:
    """Points of contacts, of a surface its middle and half its extent, and slopes of planes."""
    used = {name for c in robot.contacts for name in c.against}
    every = [c for c in robot.contacts if c.against or c.name in used]
    for c in every:
        if not c.surface:
            for axis, value in zip(AXES, c.point, strict=True):
                yield Parameter(f"contact.point.{c.name}.{axis}", "m", value, None, None)
    surfaces = list({c.surface: c for c in every if c.surface}.values())
    for c in surfaces:
        for axis, value in zip(AXES, extent(robot, c)[0], strict=True):
            yield Parameter(f"contact.centre.{c.surface}.{axis}", "m", value, None, None)
    for c in surfaces:
        for axis, value in zip(AXES, extent(robot, c)[1], strict=True):
            if value > 0.0:
                yield Parameter(f"contact.half.{c.surface}.{axis}", "m", value, 0.0, None)
    for plane in robot.planes:
        if plane.name in used:
            for k in (1, 2):
                yield Parameter(f"plane.slope.{plane.name}.{k}", "1", 0.0, None, None)


def extent(robot: Robot, contact: Contact) -> tuple[Vec3, Vec3]:
    """Middle and half the extent [m] of the points of a contact's surface, along the axes of its link."""
    points = [c.point for c in robot.contacts if c.surface == contact.surface]
    low, high = (tuple(map(side, zip(*points, strict=True))) for side in (min, max))
    ends = list(zip(low, high, strict=True))
    return cast("Vec3", tuple((a + b) / 2.0 for a, b in ends)), cast("Vec3", tuple((b - a) / 2.0 for a, b in ends))


def across(normal: Vec3) -> tuple[Vec3, Vec3]:
    """Unit vectors across a unit vector and each other: along x and y where it is z (as `contacts.tangents`)."""
    x, y, z = normal
    sign = 1.0 if z >= 0.0 else -1.0
    a = -1.0 / (sign + z)
    return (1.0 + sign * x * x * a, sign * x * y * a, -sign * x), (x * y * a, sign + y * y * a, -y)


def _with_numbers(robot: Robot) -> list[Joint]:
    """Joints with friction, rotors and springs of their own: not those of a floating base, nor the slide of a screw."""
    first = len(robot.base_freedoms) if robot.floating else 0
    return [joint for joint in robot.joints[first:] if not joint.part]


def _more_friction(robot: Robot, recipe: Recipe) -> Iterator[Parameter]:
    """Numbers of the friction laws beyond the plain one, which do nothing by default."""
    laws = [elements.friction(key) for key in friction_laws(recipe)]
    if len(laws) > 1 and (memory := [law.name for law in laws if law.memory is not None]):
        asked = ",".join(law.name for law in laws)
        raise InputError(
            f"{recipe.name}: friction_law = {asked}: friction with memory ({memory[0]}) stands alone: what its deflection "
            "holds during a step has one Coulomb coefficient. Leave the other parts out."
        )
    for number in (number for law in laws for number in law.numbers):
        for j in _with_numbers(robot):
            unit = number.unit_on(j.type.effort_unit, j.type.unit)
            yield Parameter(f"friction.{number.name}.{j.name}", unit, number.default, number.least, number.most)
