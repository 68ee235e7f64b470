"""Every force element, one file each: friction laws and springs. A new one is its file and its name here."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from diffpbd.codegen.laws.elements import own
from diffpbd.codegen.laws.elements.asymmetry import ASYMMETRY
from diffpbd.codegen.laws.elements.dahl import DAHL
from diffpbd.codegen.laws.elements.declaration import Friction, Spring
from diffpbd.codegen.laws.elements.lever_spring import LEVER_SPRING
from diffpbd.codegen.laws.elements.stribeck import STRIBECK
from diffpbd.runtime.base.errors import InputError

FRICTION: Final[tuple[Friction, ...]] = (ASYMMETRY, STRIBECK, DAHL)
"""Laws of friction beyond the plain one, in the order of alpha."""
TAKEN: Final = (
    "gravity", "payload", "friction", "rotor_inertia", "torque_offset", "spring", "limit", "wrench", "contact", "clearance",
    "mass", "com", "inertia", "origin", "loop", "plane", "sensor", "coulomb", "viscous", "transition", "stiffness", "rest",
    "rotor", "body", "attached", "offset",
)  # fmt: skip
"""Kinds of alpha and blocks of numbers that are no element's."""
SPRINGS: Final[tuple[Spring, ...]] = (LEVER_SPRING,)
"""Springs for chosen joints."""
MEMORY: Final = next(law.memory for law in FRICTION if law.memory is not None)
"""The one law with a state; it stands alone."""
_known: Final[dict[str, Friction | Spring]] = {
    **{law.name: law for law in FRICTION}, **{spring.name: spring for spring in SPRINGS},
}  # fmt: skip


def know(path: Path) -> str:
    """Read a user's own element from a file; returns the key by which it is known from now on."""
    key, element = own.read(path)
    if element.name in TAKEN or element.name in _known:
        raise InputError(f'--element {path}: the name "{element.name}" is taken; choose another one.')
    _known[key] = element
    return key


def friction(key: str) -> Friction:
    """The law of this name, or of a user's key."""
    found = _known[key]
    assert isinstance(found, Friction)
    return found


def spring(key: str) -> Spring:
    """The spring of this name, or of a user's key."""
    found = _known[key]
    assert isinstance(found, Spring)
    return found


def is_spring(key: str) -> bool:
    """Whether it hangs on chosen joints."""
    return isinstance(_known[key], Spring)


def defaults() -> dict[str, float]:
    """Defaults of the numbers of all friction laws, by their kind in alpha."""
    laws = (law for law in _known.values() if isinstance(law, Friction))
    return {f"friction.{number.name}": number.default for law in laws for number in law.numbers}


def table() -> str:
    """The elements of the documentation, in Markdown."""
    rows = ["| element | on | numbers | what it is |", "|---|---|---|---|"]
    every: tuple[Friction | Spring, ...] = (*FRICTION, *SPRINGS)
    for element in every:
        on = "every joint" if isinstance(element, Friction) else f"a chosen {element.on}"
        prefix = "friction" if isinstance(element, Friction) else element.name
        numbers = ", ".join(f"`{prefix}.{n.name}` [{n.unit}] {n.default:g}" for n in element.numbers)
        rows.append(f"| {element.name} | {on} | {numbers} | {element.words} |")
    return "\n".join(rows)
