"""Friction of a contact by what the file says of both surfaces, as MuJoCo combines them."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.description.source import Element

UNSAID: Final = 0.5
"""[1] Coefficient of contacts from collision shapes of a file that says none; `contact.friction.NAME` changes it."""
FRICTIONLESS: Final = 1
"""MuJoCo's `condim` of a contact without friction."""
SLIDING: Final = 3
"""The `condim` of one that resists sliding and nothing else; beyond, turning and rolling on the spot too."""


def coefficient(own: Element, other: Element | None) -> tuple[float, str]:
    """Friction [1] of a `<collision>` against `other` (None: nothing in the file), and a doubt or empty.

    The surface of higher priority decides; of equal ones the larger friction and the larger `condim`.
    """
    pair = [surface for surface in (own, other) if surface is not None and "friction" in surface.attributes]
    if not pair:
        return UNSAID, ""
    highest = max(_whole(surface, "priority") for surface in pair)
    pair = [surface for surface in pair if _whole(surface, "priority") == highest]
    condim = max(_whole(surface, "condim") for surface in pair)
    friction = max(float(surface.attributes["friction"]) for surface in pair)
    if condim <= FRICTIONLESS:
        return 0.0, ""
    doubt = f"friction against turning or rolling on the spot (condim {condim}) is left out" if condim > SLIDING else ""
    return friction, doubt


def _whole(surface: Element, attribute: str) -> int:
    return int(surface.attributes[attribute])
