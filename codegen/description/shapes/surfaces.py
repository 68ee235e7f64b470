"""Friction of a contact by what the file says of both surfaces, as MuJoCo combines them."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.description.read.numerals import read_number
from diffpbd.codegen.description.read.source import Element

UNSAID: Final = 0.5
"""[1] Coefficient of contacts from collision shapes of a file that says none; `contact.friction.NAME` changes it."""
FRICTIONLESS: Final = 1
"""MuJoCo's `condim` of a contact without friction."""
SLIDING: Final = 3
"""The `condim` of one that resists sliding and nothing else; beyond, turning and rolling on the spot too."""


def of_gazebo(root: Element, link: str) -> float | None:
    """Friction [1] that `<gazebo reference="LINK"><mu1>` of a URDF gives a link, None where it says none."""
    for element in root.named("gazebo"):
        if element.attributes.get("reference") == link:
            for child in element.children:
                if child.tag in ("mu1", "mu") and child.text.strip():
                    return read_number(child.text)
    return None


def coefficient(own: Element, other: Element | None, unsaid: float | None = None) -> tuple[float, str]:
    """Friction [1] of a `<collision>` against `other` (None: nothing in the file), and a doubt or empty.

    Where neither says one it is `unsaid`, or 0.5. The surface of higher priority decides; of equal ones the larger friction and
    the larger `condim`.
    """
    pair = [surface for surface in (own, other) if surface is not None and "friction" in surface.attributes]
    if not pair:
        return UNSAID if unsaid is None else unsaid, ""
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
