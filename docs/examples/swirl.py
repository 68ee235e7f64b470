"""Friction that grows with the square of the rate, as in a fluid."""

import sympy as sp

from diffpbd.codegen.laws.elements.declaration import Friction, Number


def viscous(rate, transition, swirl):
    return swirl * sp.sqrt(rate**2 + transition**2)


ELEMENT = Friction("swirl", "drag of a fluid", (Number("swirl", "N·m·s^2/rad^2", "drag", 0.0, 0.0),), viscous=viscous)
