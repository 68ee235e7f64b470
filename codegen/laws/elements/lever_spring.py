"""Lever spring: a straight spring between an arm on the parent and an arm on the child of a hinge (the paper's shoulder).

With arms l₁, l₂ and the angle γ = π − α − p between them (the paper's α₁ and α₂ enter only as their sum α, `angle` in alpha)
the law of cosines x² = l₁² + l₂² − 2 l₁ l₂ cos γ is the sum of squares

    x² = (l₁ − l₂)² + 4 l₁ l₂ cos²((α + p)/2),

which rounding cannot make negative. A spring pulled through length zero (l₁ = l₂, γ = 0) has a kink in its potential there,
V = ½ k (x − x_rest)²: the torque jumps. So x² is increased by `SHORTEST`², below rounding for every real length.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from diffpbd.codegen.laws.elements.declaration import Number, Spring

SHORTEST = sp.Float(1e-9)
"""[m] Added to the length of a lever spring as the square root of the sum of squares: no spring is a nanometre long. A spring
of 10 cm becomes longer by 5e-18 m; at length zero the torque is zero and its slope k l₁ l₂ (1 − x_rest/nm) finite."""


def length(p: Any, arm_1: Any, arm_2: Any, angle: Any) -> Any:
    """x [m]; arms [m] ≥ 0."""
    half = sp.cos((angle + p) / 2)
    return sp.sqrt((arm_1 - arm_2) ** 2 + 4 * arm_1 * arm_2 * half**2 + SHORTEST**2)


def potential(p: Any, stiffness: Any, arm_1: Any, arm_2: Any, angle: Any, rest: Any) -> Any:
    """V = ½ k (x − x_rest)² [J]."""
    return stiffness * (length(p, arm_1, arm_2, angle) - rest) ** 2 / 2


LEVER_SPRING = Spring(
    "lever_spring",
    "a straight spring between two lever arms",
    (
        # The rest length is the paper's (Baxter's hardware manual), whose arms and angle are in a figure only: ours let a
        # spring of 7 kN/m carry a stretched Baxter arm. An arm shorter than a millimetre is none.
        Number("stiffness", "N/m", "stiffness; without any it does nothing", 0.0, 0.0, scale=1000.0),
        Number("arm_1", "m", "arm on the parent", 0.06, 1e-3, scale=0.02),
        Number("arm_2", "m", "arm on the child", 0.15, 1e-3, scale=0.02),
        Number("angle", "rad", "π less the angle between the arms at position zero", 1.9, scale=0.5),
        Number("rest", "m", "length at rest", 0.2, 0.0, scale=0.02),
    ),
    potential,
    on="hinge",
    zero="angle",
    shared=lambda p, stiffness, arm_1, arm_2, angle, rest: length(p, arm_1, arm_2, angle),
)
