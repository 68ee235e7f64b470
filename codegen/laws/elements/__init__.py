"""Every force element, one file each: friction laws and springs. A new one is its file and its name here."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.laws.elements.asymmetry import ASYMMETRY
from diffpbd.codegen.laws.elements.dahl import DAHL
from diffpbd.codegen.laws.elements.declaration import Friction
from diffpbd.codegen.laws.elements.stribeck import STRIBECK

FRICTION: Final[tuple[Friction, ...]] = (ASYMMETRY, STRIBECK, DAHL)
"""Laws of friction beyond the plain one, in the order of alpha."""
MEMORY: Final = next(law.memory for law in FRICTION if law.memory is not None)
"""The one law with a state; it stands alone."""


def friction(name: str) -> Friction:
    """The law of this name."""
    return next(law for law in FRICTION if law.name == name)
