"""A progressive spring: a straight and a cubic part about a position of rest."""

from diffpbd.codegen.laws.elements.declaration import Number, Spring


def potential(position, stiffness, cubic, rest):
    turned = position - rest
    return stiffness * turned**2 / 2 + cubic * turned**4 / 4


ELEMENT = Spring(
    "bumper",
    "a spring that grows stiffer with the way",
    (
        Number("stiffness", "N·m/rad", "stiffness at rest", 0.0, 0.0),
        Number("cubic", "N·m/rad^3", "growth of the stiffness", 0.0, 0.0),
        Number("rest", "rad", "position at rest"),
    ),
    potential,
    around="rest",
)
