"""Stribeck's part of friction: what holds beyond Coulomb's at rest, and falls with the rate."""

from __future__ import annotations

from typing import Any, Final

import sympy as sp

from diffpbd.codegen.laws.elements.declaration import Friction, Number
from diffpbd.codegen.laws.elements.plain import TRANSITION_BOUNDS

VELOCITY: Final = 0.1
"""[rad/s or m/s] Default rate at which it has fallen to 1/e."""


def coulomb(rate: Any, _: Any, stribeck: Any, stribeck_velocity: Any) -> Any:
    """s exp(−(ṗ/v_s)²), s ≥ 0."""
    return stribeck * sp.exp(-((rate / stribeck_velocity) ** 2))


STRIBECK = Friction(
    "stribeck",
    "more at rest, falling with speed",
    (
        Number("stribeck", "N·m", "what holds at rest beyond Coulomb friction", least=0.0),
        Number("stribeck_velocity", "rad/s", "the rate at which that falls", VELOCITY, *TRANSITION_BOUNDS),
    ),
    coulomb,
)
