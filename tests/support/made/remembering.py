"""Robots whose friction remembers."""

from __future__ import annotations

FUNCTIONS = ("joint_step", "jac_alpha_joint_step", "forward_dynamics", "torque_terms")


KINDS = ("coulomb", "viscous", "transition_velocity", "way", "deflection")


RAIL, HUB = (4.0, 1.5, 0.02, 0.01, 0.3), (0.3, 0.05, 0.03, 0.02, -0.6)


STATES = {
    "moving": ((0.3, -0.7), (0.8, -0.6), (2.0, 0.1), {}),
    "at rest": ((0.0, 0.4), (0.0, 0.0), (1.2, -0.18), {}),
    "reversing": ((0.5, 0.2), (0.02, -0.03), (-30.0, 4.0), {}),
    "used up": ((0.1, 0.9), (-0.01, 0.02), (1.0, 0.1), {"friction.deflection.rail": 1.0, "friction.deflection.hub": -1.0}),
    "no way": ((0.1, 0.9), (0.11, -0.2), (6.0, -0.4), {"friction.way.rail": 1e-3, "friction.way.hub": 1e-4}),
}  # fmt: skip


def friction(rail: tuple[float, ...], hub: tuple[float, ...] = (0.0, 0.0, 0.01, 0.01, 0.0)) -> dict[str, float]:
    """Entries of alpha for the numbers of `KINDS` of each joint."""
    return {
        f"friction.{kind}.{j}": x
        for j, own in (("rail", rail), ("hub", hub))
        for kind, x in zip(KINDS, own, strict=True)
    }
