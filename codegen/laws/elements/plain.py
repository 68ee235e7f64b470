"""Forces of every joint: viscous and smoothed Coulomb friction, and a straight spring."""

from __future__ import annotations

from typing import Any, Final

TRANSITION_VELOCITY: Final = 0.01
"""[rad/s or m/s] Default rate at which smoothed Coulomb friction reaches tanh(1) of its value."""
TRANSITION_BOUNDS: Final = (1e-4, 10.0)
"""[rad/s or m/s] A steeper smoothing is no longer resolved by encoders and makes second derivatives meaningless."""


def spring_potential(p: Any, stiffness: Any, rest: Any) -> Any:
    """½ k (p − rest)² [J]."""
    return stiffness * (p - rest) ** 2 / 2
