"""Kinds of friction's parameters, and where a kind begins in alpha."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.codegen.laws import elements, forces
from diffpbd.runtime.folder.manifest import Parameter


def _kinds(part: str) -> tuple[str, ...]:
    more = (name for law in elements.FRICTION for name in law.linear(part))
    return (f"friction.{part}", *(f"friction.{name}" for name in more))


COULOMB, VISCOUS = map(_kinds, forces.PARTS)
FRICTION = (COULOMB[0], VISCOUS[0], *COULOMB[1:], *VISCOUS[1:])
"""Kinds of alpha whose values, where all are zero, leave no Coulomb friction, no viscous friction, none."""
PLAIN_FRICTION = 2


def starts(alpha: Sequence[Parameter], kinds: Sequence[str]) -> list[int]:
    """Where each of these kinds that a robot has begins in alpha."""
    found = ([k for k, entry in enumerate(alpha) if entry.name.startswith(f"{kind}.")] for kind in kinds)
    return [places[0] for places in found if places]


def zero(places: Sequence[int], nothing: str = "0.0") -> str:
    """C that is true where joint k has zeros in alpha from all of these places on."""
    return "(" + " && ".join(f"(alpha)[{at} + (k)] == {nothing}" for at in places) + ")"
