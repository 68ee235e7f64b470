"""The torque that holds an arm still."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.robot import Robot

__all__ = ["holding_torque"]


def holding_torque(robot: Robot, p: FloatArray, alpha: FloatArray) -> FloatArray:
    """The torque [N·m or N] (…, n) that holds the poses p [rad or m] (…, n) at rest: gravity less springs."""
    return np.asarray(robot.gravity(p, alpha) - robot.spring_torque(p, alpha), dtype=np.float64)
