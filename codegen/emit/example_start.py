"""The pose from which the example `main.c` of a generated folder starts."""

from __future__ import annotations

from diffpbd.codegen.description.robot.robot import Joint, Robot

__all__ = ["example_start"]

SHARE = 0.6
"""Position within a joint's limits as a share of the range: not an equilibrium pose."""
UNLIMITED = 0.3
"""Position of a joint without limits [rad or m]."""


def example_start(robot: Robot) -> tuple[float, ...]:
    """Positions (n_p,) [rad, m]: the base at the origin, joints where gravity moves them.

    With loops, which are closed at few poses, or contacts, inside which no start may lie, joints are at zero.
    """
    held = len(robot.base_freedoms)
    base = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0) if robot.floating else (0.0,) * held
    still = bool(robot.loops or robot.contacts)
    joints = [robot.joints[i] for i in robot.independent][held:]
    return (*base, *(0.0 if still else _within(joint) for joint in joints))


def _within(joint: Joint) -> float:
    if joint.lower is None or joint.upper is None:
        return UNLIMITED
    return round(joint.lower + SHARE * (joint.upper - joint.lower), 3)
