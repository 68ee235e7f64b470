"""The torque that holds an arm still, and that of a motion without it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.model.closed import driven, motor_torque
from diffpbd.runtime.model.robot import Robot

__all__ = ["Inertial", "holding_torque", "inertial_model"]

Inertial = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Torque [N·m] of a motion without gravity at q [rad], dq [rad/s], ddq [rad/s²]: inertia, Coriolis, friction."""


def holding_torque(robot: Robot, p: FloatArray, alpha: FloatArray) -> FloatArray:
    """The torque [N·m or N] (…, n) that holds the poses p [rad or m] (…, n) at rest: gravity less springs; with
    closed loops that of the motors, a best approximation if joints without a motor cannot be held."""
    facts = robot.manifest.robot
    if facts.loops:
        still = np.zeros_like(p)
        offset = alpha[[robot.alpha.index(f"torque_offset.{joint}") for joint in robot.joints]]
        return motor_torque(robot, p, still, still, alpha) - np.where(driven(robot), offset, 0.0)
    if facts.passive:
        return np.where(driven(robot), robot.gravity(p, alpha) - robot.spring_torque(p, alpha), 0.0)
    return np.asarray(robot.gravity(p, alpha) - robot.spring_torque(p, alpha), dtype=np.float64)


def inertial_model(robot: Robot, alpha: FloatArray) -> Inertial:
    """The torque [N·m] of a motion without gravity: inertia, Coriolis, the friction of alpha. Not thread-safe."""
    dynamics = robot.fixed("inverse_dynamics", alpha)
    zero = np.zeros(robot.n)
    return lambda q, dq, ddq: dynamics(q, dq, ddq) - dynamics(q, zero, zero)
