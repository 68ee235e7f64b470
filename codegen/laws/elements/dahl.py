"""Dahl's friction with memory (Dahl 1968), as a step takes it: how the deflection of a joint changes in a step.

After a reversal Coulomb friction turns from one side to the other over a way s: the torque is −c z, the deflection z within
±1, and z' = ṗ/s (1 − z sign ṗ). Backward Euler over a step h from z to the rate ṗ at its end is

    z₊ = (z + a ṗ)/(1 + a w),    a = h/(s + h v),    w = √(ṗ² + e² + η²) − e,    e = ε v (1 − z²)/2,    η = 1e-7 v,

v the transition velocity. w stands for |ṗ|: it is smooth, and since a e ≤ ½ (1 − z²), |z₊| ≤ 1 and ∂z₊/∂ṗ ≥ 0 stay as they
are with |ṗ|, so a kick of it is the gradient of a convex function. w(0) is zero but for rounding, so a joint at rest keeps z
and does not creep; a smooth w with both properties falls short of |ṗ|, here by e, which is why ε is small. With the energy
½ c (s + h v) z² of the deflection friction only takes energy, as w ≥ 0. h v beside s makes the slope at most 2/v whatever s is,
zero included; it is of first order in h, as the step is.

Over a step the torque −c z of its start acts like a motor's, and the kick at the end is that of the change alone, −c (z₊ − z):
a load that friction holds then moves no pose either.
"""

from __future__ import annotations

from typing import Any, Final

import sympy as sp

from diffpbd.codegen.laws.elements.declaration import Friction, Memory, Number

WAY: Final = 0.01
"""[rad or m] Default way over which friction turns after a reversal."""
ROUNDED: Final = sp.Rational(1, 100)
"""[1] Part of the transition velocity over which the slope changes from one direction to the other: so much does the rate fall
short where friction turns. The plain law needs the whole of it to be solved; here the slope is bounded without."""
LEAST: Final = sp.Float("1e-7")
"""[1] The least of it, where friction is used up (|z| = 1), so that the second derivative exists; a joint creeps by no more."""


def per_rate(way: Any, transition: Any, h: Any) -> Any:
    """a [s/rad or s/m] of a step h."""
    return h / (way + h * transition)


def change(pd: Any, transition: Any, deflection: Any, per: Any) -> Any:
    """z₊ − z [1] from the rate at the end of a step, the deflection z at its start and `per_rate`."""
    edge = ROUNDED * transition * (1 - deflection**2) / 2
    size = sp.sqrt(pd**2 + edge**2 + (LEAST * transition) ** 2) - edge
    return per * (pd - deflection * size) / (1 + per * size)


DAHL = Friction(
    "dahl",
    "memory: turns over a way after a reversal",
    (
        Number("way", "rad", "the way over which friction turns after a reversal", WAY, 0.0),
        Number("deflection", "1", "the state of friction with memory", 0.0, -1.0, 1.0),
    ),
    memory=Memory("deflection", change, lambda own, transition, h: per_rate(own["way"], transition, h)),
)
