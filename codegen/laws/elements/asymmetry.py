"""Friction that differs by direction: half the differences between the positive and the negative one."""

from __future__ import annotations

from typing import Any

import sympy as sp

from diffpbd.codegen.laws.elements.declaration import Friction, Number


def coulomb(rate: Any, transition: Any, coulomb_asymmetry: Any, _: Any) -> Any:
    """c ± δ as c + δ tanh, so that nothing pushes at rest; passive where |δ| ≤ c."""
    return coulomb_asymmetry * sp.tanh(rate / transition)


def viscous(rate: Any, transition: Any, _: Any, viscous_asymmetry: Any) -> Any:
    """d ± ε likewise."""
    return viscous_asymmetry * sp.tanh(rate / transition)


ASYMMETRY = Friction(
    "asymmetric",
    "coefficients differ by direction",
    (
        Number("coulomb_asymmetry", "N·m", "Coulomb friction that differs by direction"),
        Number("viscous_asymmetry", "N·m·s/rad", "viscous friction that differs by direction"),
    ),
    coulomb,
    viscous,
)
