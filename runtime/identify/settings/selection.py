"""`--fit`: which entries of alpha are unknown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import hint, listing
from diffpbd.runtime.folder.manifest import Element
from diffpbd.runtime.identify.columns.design import every_joint
from diffpbd.runtime.identify.columns.lever_springs import scaled
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.sensors import SENSOR, sensor_names

__all__ = [
    "CONTACT",
    "FRICTION_OF_CONTACT",
    "HEIGHT",
    "INERTIALS",
    "Selection",
    "Total",
    "in_contact",
    "select",
]

FRICTION = ("friction.coulomb", "friction.viscous", "torque_offset")
SPRING = ("spring.stiffness", "spring.rest")
INERTIALS = ("mass", "com", "inertia")
DIRECTION = "gravity_direction"
CONTACT = "contact"
FRICTION_OF_CONTACT, HEIGHT = "contact.friction.", "plane.height."
NO_LAW = ("radius", "load", "compliance", "point", "centre", "half", "slip", "slope_slip")
"""Entries `contact.KIND` that are a place, or what the law is smoothed by; every other KIND is a number of the law."""
WORDS = ("friction", "spring", "inertials", CONTACT, DIRECTION, *SENSOR)


@dataclass(frozen=True)
class Total:
    """The masses `entries` of alpha that are fitted and the `rest` come to `value`, known to `spread` [kg]."""

    entries: tuple[str, ...]
    rest: float
    value: float
    spread: float = 0.0


@dataclass(frozen=True)
class Selection:
    """Names of the unknown entries of alpha, in its order, then those of the sensors; sentences on what was left fixed and
    why; whether gravity keeps its magnitude; what is known of their sum of masses; the `planes` of symmetry that were stated,
    and the entries `held` at zero by them, which had these values.
    """

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    direction: bool = False
    total: Total | None = None
    planes: tuple[str, ...] = ()
    held: Mapping[str, float] = field(default_factory=dict)


def select(robot: Robot, fit: Sequence[str], fixed: Collection[str] = ()) -> Selection:
    """The entries named by words, prefixes and names, but for those that are `fixed`.

    `friction`: Coulomb and viscous friction and a torque offset of every joint that follows no other (a follower's friction
    reads as its leader's; a joint without a motor has no sensor to be offset), but no offset on a joint whose spring's rest
    is fitted: the two are the same parameter there, nor beside such a number of a spring on a chosen joint.
    `spring`: stiffness and rest of the joints that the recipe lists in `springs`;
    `spring.JOINT` of that joint. An element (lever_spring): the numbers of all its springs, or with `.JOINT`
    of one.
    `inertials`: mass, COM and inertia of every link. `contact`: friction of every contact that has some, and what else of a law
    it declares (restitution, torsional and rolling friction), height of every plane.
    `gravity_direction`: gravity with its magnitude kept. `sensor.gain`, `sensor.delay`: of every torque sensor, or with
    `.JOINT` of one. Anything else is an entry of alpha or the beginning of some, such as `friction.viscous`, `payload` or
    `spring.stiffness.JOINT`.
    """
    words = [word.strip() for word in fit if word.strip()]
    if not words:
        raise InputError(f"{arg.fit} names nothing; for example {arg.fit} friction,spring.")
    chosen: set[int] = set()
    known = sensor_names(robot)
    sensors = [n for n in known if any(n == word or n.startswith(f"{word}.") for word in words)]
    for word in words:
        if not any(n == word or n.startswith(f"{word}.") for n in known):
            chosen.update(_indices(robot, word))
    alpha = robot.alpha
    notes = []
    if "friction" in words:
        unnamed = [j for j in robot.joints if f"torque_offset.{j}" not in words]
        sought = {alpha.names[k] for k in chosen}.difference(fixed)
        both = [j for j in unnamed if any(f"spring.rest.{k}" in sought for k in _train(robot, j))]
        zeros = {e.entries(j, (e.zero,))[0]: j for e in robot.manifest.elements if e.zero for j in e.joints}
        turned = {zeros[name]: name for name in sorted(sought) if name in zeros and zeros[name] not in both}
        turned = {joint: name for joint, name in turned.items() if joint in unnamed}
        for joint in (*both, *turned):
            chosen.discard(alpha.index(f"torque_offset.{joint}"))
        if both:
            notes.append(
                f"The torque offset of {listing(both)} is fixed: beside a spring's rest it is the same parameter."
            )
        if turned:
            notes.append(
                f"The torque offset of {listing(list(turned))} is fixed: beside {listing(list(turned.values()))} it is hardly "
                f"told apart. Name torque_offset.JOINT in {arg.fit} to have both"
            )
    names = tuple(name for k, name in enumerate(alpha.names) if k in chosen and name not in fixed)
    notes += [
        f"The lever spring at {joint} has the same torque with all lengths times c and its stiffness over c²: hold a measured "
        f"one, such as {arg.fixed} lever_spring.arm_1.{joint}=0.06. Arms in the inverse ratio have the same torque too"
        for joint in scaled(names)
    ]
    if not names and not sensors:
        raise InputError(f"{arg.fixed} holds all that {arg.fit} names; nothing is left to fit.")
    return Selection((*names, *sensors), tuple(notes), DIRECTION in words and "gravity" not in words)


def in_contact(names: Sequence[str]) -> bool:
    """Whether any of these words or entries is of a contact or a plane."""
    return any(name.strip().split(".")[0] in (CONTACT, "plane") for name in names)


def _train(robot: Robot, joint: str) -> list[str]:
    """A joint and those that follow it."""
    return [joint, *(m.name for m in robot.manifest.robot.mimics if m.joint == joint)]


def _laws(names: Sequence[str]) -> set[str]:
    """How entries of laws of contacts begin."""
    kinds = {n.split(".")[1] for n in names if n.startswith(f"{CONTACT}.")}
    return {f"{CONTACT}.{kind}." for kind in kinds.difference(NO_LAW)}


def _indices(robot: Robot, word: str) -> list[int]:
    alpha = robot.alpha
    if word == "friction":
        followers = {m.name for m in robot.manifest.robot.mimics}
        silent = {f"torque_offset.{joint}" for joint in robot.manifest.robot.passive}
        return [
            k
            for kind in FRICTION
            for k in alpha.indices(kind)
            if alpha.names[k].removeprefix(f"{kind}.") not in followers and alpha.names[k] not in silent
        ]
    if word == DIRECTION:
        return list(alpha.indices("gravity"))
    if in_contact([word]) and not robot.manifest.robot.contacts:
        raise InputError(
            f"{arg.fit} {word}: {robot.name} has no contacts; see docs/contact.md for how a recipe says what touches."
        )
    if word == CONTACT:
        return [k for k, n in enumerate(alpha.names) if n.startswith((*_laws(alpha.names), HEIGHT))]
    if word == "spring":
        joints = robot.manifest.recipe.springs
        if not joints:
            raise InputError(
                f"{arg.fit} spring: the recipe of {robot.name} lists no joints with springs. Name the joint, for example "
                f"{arg.fit} spring.{robot.joints[0]}, or add `springs = [...]` to the recipe."
            )
        return [alpha.index(f"{kind}.{joint}") for joint in joints for kind in SPRING]
    if word.startswith("spring.") and word.removeprefix("spring.") in every_joint(robot):
        return [alpha.index(f"{kind}.{word.removeprefix('spring.')}") for kind in SPRING]
    if element := next((e for e in robot.manifest.elements if f"{word}.".startswith(f"{e.name}.")), None):
        return _attached(robot, element, word)
    if word in ("inertials", *INERTIALS) or word.split(".")[0] in INERTIALS:
        return _inertials(robot, word)
    try:
        return list(alpha.indices(word))
    except InputError:
        words = (*WORDS, *(element.name for element in robot.manifest.elements))
        kinds = sorted({".".join(n.split(".")[:k]) for n in alpha.names for k in (1, 2, 3)})
        more = (
            f" A spring on a chosen joint: `{robot.manifest.again()} --lever-spring JOINT`." if "spring" in word else ""
        )
        raise InputError(
            f"{arg.fit}: {robot.name} has no parameters {word!r}. {hint(word, [*words, *sensor_names(robot), *kinds])} Words: "
            f"{', '.join(words)}.{more}"
        ) from None


def _attached(robot: Robot, element: Element, word: str) -> list[int]:
    """The name of an element, with a joint, or with a number of it."""
    alpha = robot.alpha
    own = word.removeprefix(f"{element.name}.")
    if own in element.joints:
        return [alpha.index(name) for name in element.entries(own)]
    try:
        return list(alpha.indices(word))
    except InputError:
        names = [name for joint in element.joints for name in element.entries(joint)]
        known = [element.name, *(f"{element.name}.{joint}" for joint in element.joints), *names]
        raise InputError(f"{arg.fit}: {robot.name} has no parameters {word!r}. {hint(word, known)}") from None


def _inertials(robot: Robot, word: str) -> list[int]:
    alpha = robot.alpha
    kinds = INERTIALS if word == "inertials" else (word.split(".")[0],)
    there = {name.split(".")[0] for name in alpha.names}
    missing = [kind for kind in kinds if kind not in there]
    if missing:
        raise InputError(
            f"{arg.fit} {word}: {', '.join(missing)} of the links are numbers in the generated code of {robot.name}. Fit them "
            f"by {arg.form('torque')}, or generate it with `{robot.manifest.again()} --symbolic {','.join(INERTIALS)}`."
        )
    if word == "inertials":
        return [k for kind in INERTIALS for k in alpha.indices(kind)]
    return list(alpha.indices(word))
