"""What a joint's torque says about a lever spring.

With l₁, l₂ the arms and x the length, τ = k l₁ l₂ (1 − x_rest/x) sin(α + p). All lengths times c with k / c² have the same
torque, so one length must be known; and l₂/l₁ enters through 2 l₁ l₂ / (l₁² + l₂²) alone, so its inverse does as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["NAME", "Combination", "combinations", "scaled"]

NAME = "lever_spring"
PREFIX = f"{NAME}."
PARTS = ("stiffness", "arm_1", "arm_2", "rest")
"""What lengths and stiffness trade between."""


@dataclass(frozen=True)
class Combination:
    """A number that the torque determines: its value, and derivatives by the fitted entries of alpha."""

    name: str
    unit: str
    value: float
    gradient: FloatArray


def scaled(names: Sequence[str]) -> Iterator[str]:
    """Joints whose stiffness and lengths are all among the names: nothing says how large their lever springs are."""
    for name in names:
        joint = name.removeprefix(f"{PREFIX}stiffness.")
        if joint != name and all(f"{PREFIX}{part}.{joint}" in names for part in PARTS):
            yield joint


def combinations(names: Sequence[str], values: Mapping[str, float]) -> list[Combination]:
    """k l₁ l₂, l₂/l₁ and x_rest/√(l₁ l₂) of the lever springs of `scaled`; what they have beside them is the angle."""
    found = []
    for joint in scaled(names):
        k, one, two, rest = (values[f"{PREFIX}{part}.{joint}"] for part in PARTS)
        # Exponents of k, l1, l2, x_rest.
        for label, unit, powers in (
            ("stiffness·arm_1·arm_2", "N·m", (1.0, 1.0, 1.0, 0.0)),
            ("arm_2/arm_1", "1", (0.0, -1.0, 1.0, 0.0)),
            ("rest/√(arm_1·arm_2)", "1", (0.0, -0.5, -0.5, 1.0)),
        ):
            value = float(np.prod([x**n for x, n in zip((k, one, two, rest), powers, strict=True)]))
            gradient = np.zeros(len(names))
            for part, x, n in zip(PARTS, (k, one, two, rest), powers, strict=True):
                if n and x > 0.0:
                    gradient[names.index(f"{PREFIX}{part}.{joint}")] = n * value / x
            found.append(Combination(f"{label} of the lever spring at {joint}", unit, value, gradient))
    return found
