"""Rotors behind gears, as `<transmission>` elements give them: what the joint feels of them is J N².

Two dialects: `<motorInertia>` and `<mechanicalReduction>` in the actuator or the joint (ros_control, as some vendors extend
it), and `rotor_inertia` and `gear_ratio` with a `value` in a namespace of their own (Drake).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from diffpbd.codegen.description.read.numerals import NumberError, read_number
from diffpbd.codegen.description.read.source import Element
from diffpbd.codegen.description.report import Finding, quoted
from diffpbd.runtime.base.errors import arg

INERTIAS: Final = ("motorInertia", "rotorInertia", "rotor_inertia")
RATIOS: Final = ("mechanicalReduction", "gear_ratio", "gearRatio")


@dataclass(frozen=True)
class Rotor:
    """A rotor of `inertia` [kg·m²] behind a gear of `ratio` [1] (None: the file gives none) on `joint`."""

    joint: str
    inertia: float
    ratio: float | None

    @property
    def reflected(self) -> float:
        """Rotor inertia that the joint feels [kg·m²]."""
        ratio = 1.0 if self.ratio is None else self.ratio
        return self.inertia * ratio * ratio


def rotors(root: Element) -> tuple[Rotor, ...]:
    """The rotors of all transmissions that drive a single joint, in file order; numbers that cannot be read are passed over."""
    found = []
    for transmission in root.children:
        if transmission.tag != "transmission":
            continue
        joints = [e.attributes.get("name", "") for e in transmission.walk() if e.tag == "joint"]
        inertia, ratio = _number(transmission, INERTIAS), _number(transmission, RATIOS)
        if len(set(joints)) == 1 and inertia:
            found.append(Rotor(joints[0], inertia, ratio))
    return tuple(found)


def rotor_doubts(found: Iterable[Rotor]) -> Iterator[Finding]:
    """A doubt for every rotor: the dynamics is generated without it."""
    for rotor in found:
        gear = "without a gear ratio" if rotor.ratio is None else f"behind a gear of {rotor.ratio:g}"
        message = (
            f"joint {quoted(rotor.joint)}: its <transmission> has a rotor of {rotor.inertia:g} kg·m² {gear}, which"
        )
        message += f" turns with the joint as {rotor.reflected:.4g} kg·m²; the dynamics starts without it:"
        message += f" rotor_inertia.{rotor.joint} takes it ({arg.start}), identify begins there"
        numbers = (("rotor_inertia", rotor.reflected),)
        yield Finding("rotor", message, (), (rotor.joint,), numbers)


def _number(transmission: Element, names: tuple[str, ...]) -> float | None:
    """The first number of one of these names, as text or as `value`."""
    for element in transmission.walk():
        if element.tag in names:
            try:
                return read_number(element.attributes.get("value", element.text))
            except NumberError:
                return None
    return None
