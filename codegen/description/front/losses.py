"""Parts of a robot that a URDF cannot hold, and elements that it demands and a robot may not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from diffpbd.codegen.description.geometry.rigid import AXES
from diffpbd.codegen.description.read.numerals import LARGEST
from diffpbd.codegen.description.recipe.recipe import DEFAULT_GRAVITY
from diffpbd.codegen.description.report import listed
from diffpbd.codegen.description.robot.robot import Joint, LoopType, Robot

NOT_IN_URDF: Final = {
    "friction.transition_velocity": "the smoothing rate of Coulomb friction",
    "rotor_inertia": "rotor inertia",
    "torque_offset": "a sensor's torque offset",
    "spring.stiffness": "a joint spring",
    "spring.rest": "the rest position of a joint spring",
    "wrench": "an external wrench",
    "limit.load": "how a joint's stop gives way",
    "limit.slip": "how a joint's stop gives way",
    "loop": "another frame or length of a closed loop",
    "contact": "contact",
    "plane": "a plane",
}
"""Kinds of alpha entries for which a URDF has no place, beside the numbers of force elements, which are named as they are."""
PLAIN: Final = ("friction.coulomb", "friction.viscous", "friction.transition_velocity")
"""Kinds of the plain friction law."""


BOUNDS: Final = ("effort", "velocity", "lower", "upper")
"""Attributes of a `<limit>`."""


def losses(robot: Robot, values: Mapping[str, float], defaults: Mapping[str, float]) -> list[str]:
    """A line for every kind of thing that a URDF leaves out or says otherwise, with values; `defaults` are those of alpha."""
    notices = []
    own = _of_description(robot)
    known = {name: value for name, value in defaults.items() if name not in own}
    values = {**own, **values}
    gravity = [{**defaults, **values}.get(f"gravity.{axis}", g) for axis, g in zip(AXES, DEFAULT_GRAVITY, strict=True)]
    if tuple(gravity) != DEFAULT_GRAVITY:
        told = " ".join(f"{g:g}" for g in gravity)
        usual = " ".join(f"{g:g}" for g in DEFAULT_GRAVITY)
        notices.append(f"a URDF cannot hold gravity: here {told} m/s², readers take {usual}")
    more = dict.fromkeys(name.rpartition(".")[0] for name in values if name.startswith("friction."))
    laws = {kind: kind for kind in more if kind not in PLAIN}
    for kind, what in {**laws, **NOT_IN_URDF}.items():
        lost = {
            name: value
            for name, value in values.items()
            if f"{name}.".startswith(f"{kind}.") and value != known.get(name)
        }
        if kind == "spring.rest":
            lost = {n: v for n, v in lost.items() if values.get(n.replace("rest", "stiffness", 1), 0.0) != 0.0}
        if lost:
            told = ", ".join(f"{name} = {value:g}" for name, value in lost.items())
            notices.append(f"a URDF cannot hold {what}: {told}")
    notices += _unbounded(robot)
    if robot.passive[len(robot.base_freedoms) :]:
        notices.append(
            f"a URDF cannot say which joints have no motor: {listed(robot.passive[len(robot.base_freedoms) :], 6)}"
        )
    if robot.contacts:
        notices.append(f"a URDF cannot say what touches: {listed((contact.name for contact in robot.contacts), 6)}")
    for loop in robot.loops:
        if loop.type is LoopType.DISTANCE:
            notices.append(f"a URDF cannot hold loop {loop.name}, a distance of {loop.length:g} m")
    if closed := [loop.name for loop in robot.loops if loop.type is not LoopType.DISTANCE]:
        notices.append(f"closed loops are <loop_joint>, which most readers leave open: {listed(closed, 6)}")
    if following := [joint.name for joint in robot.joints if joint.mimic is not None]:
        notices.append(f"joints that follow others have <mimic>, which some readers leave free: {listed(following, 6)}")
    if robot.base_freedoms:
        notices.append("the base moves by a joint of its own, which some readers refuse on the root")
    if values.get("payload.mass", 0.0) != 0.0:
        link = robot.links[robot.tips[0].link].name
        notices.append(f"the payload of {values['payload.mass']:g} kg is part of link {link} now; set it to 0 in alpha")
    for body in robot.links:
        if body.merged:
            notices.append(f"link {body.name} includes {listed(body.merged, 6)}, which are no links of their own now")
    return notices


def _unbounded(robot: Robot) -> list[str]:
    """Bounds that the format demands and no joint of these has, one line for each kind."""
    lines = []
    limits = {joint.name: limit_of(joint) for joint in robot.joints[len(robot.base_freedoms) :]}
    for key in BOUNDS:
        if names := [name for name, limit in limits.items() if abs(limit.get(key, 0.0)) == LARGEST]:
            lines.append(
                f"joints without a bound have {LARGEST:g} in <limit {key}>, which readers demand: {listed(names, 6)}"
            )
    return lines


def _of_description(robot: Robot) -> dict[str, float]:
    """Rotors and springs that a joint has from its description, by their names in alpha."""
    kinds = (("rotor_inertia", "rotor"), ("spring.stiffness", "stiffness"), ("spring.rest", "rest"))
    return {f"{kind}.{j.name}": getattr(j, own) for kind, own in kinds for j in robot.joints if getattr(j, own)}


def limit_of(joint: Joint) -> dict[str, float]:
    """Attributes of a `<limit>`, none of a continuous joint without bounds; `LARGEST` where a bound is missing: the format
    demands effort and velocity, and knows no infinity."""
    turns = joint.type.endless
    bounds = {key: getattr(joint, key) for key in (("effort", "velocity") if turns else BOUNDS)}
    if turns and all(bound is None for bound in bounds.values()):
        return {}
    missing = {"lower": -LARGEST}
    return {key: missing.get(key, LARGEST) if bound is None else bound for key, bound in bounds.items()}
