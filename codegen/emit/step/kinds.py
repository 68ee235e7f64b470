"""Kinds of friction's parameters, and where a kind begins in alpha."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.codegen.laws import elements
from diffpbd.codegen.laws.elements.declaration import PARTS
from diffpbd.runtime.folder.manifest import Parameter


def _more(part: str, laws: Sequence[str]) -> list[str]:
    return [f"friction.{name}" for law in laws for name in elements.friction(law).linear(part)]


def coulomb_kinds(laws: Sequence[str]) -> tuple[str, ...]:
    """Kinds of alpha whose values, where all are zero, leave no Coulomb friction."""
    return ("friction.coulomb", *_more("coulomb", laws))


def friction_kinds(laws: Sequence[str]) -> tuple[str, ...]:
    """The same of all friction."""
    return ("friction.coulomb", "friction.viscous", *(kind for part in PARTS for kind in _more(part, laws)))


PLAIN_FRICTION = 2


def starts(alpha: Sequence[Parameter], kinds: Sequence[str]) -> list[int]:
    """Where each of these kinds that a robot has begins in alpha."""
    found = ([k for k, entry in enumerate(alpha) if entry.name.startswith(f"{kind}.")] for kind in kinds)
    return [places[0] for places in found if places]


def zero(places: Sequence[int], nothing: str = "0.0") -> str:
    """C that is true where joint k has zeros in alpha from all of these places on."""
    return "(" + " && ".join(f"(alpha)[{at} + (k)] == {nothing}" for at in places) + ")"
