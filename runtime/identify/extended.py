"""The command that makes a robot which takes what was fitted, where the one at hand does not."""

from __future__ import annotations

from diffpbd.runtime.identify.free_bodies import FreeBodies, generate_with
from diffpbd.runtime.identify.free_friction import FreeFriction
from diffpbd.runtime.model.robot import Robot

__all__ = ["needed"]


def needed(robot: Robot) -> str | None:
    """None where the robot's own code has all entries of its alpha."""
    bodies = isinstance(robot.generated if isinstance(robot, FreeFriction) else robot, FreeBodies)
    return generate_with(robot, bodies) if bodies or isinstance(robot, FreeFriction) else None
