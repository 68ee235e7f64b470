"""Holding a pose by torque, for an effort interface without a position mode.

The law is that of a joint whose inertia is the model's: M(q) (−ω² (q − pose) − 2 ω q̇) beside what holds the arm, critically
damped, slow enough for commands a hundredth of a second apart.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.loop.motion import Inertial

__all__ = ["HOLD_PERIOD", "SAG", "holding_servo"]

FREQUENCY = 10.0
"""1/s; ω. Gravity that nobody holds lets a bar of a metre sink by 0.15 rad under it, in 0.4 s."""
SAG = 0.05
"""rad from the pose at which the hold has failed: the gravity owner is wrong, or something pulls."""
HOLD_PERIOD = 0.01
"""s between the commands of a hold."""

Servo = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def holding_servo(inertial: Inertial) -> Servo:
    """The torque [N·m], what holds the arm left out, at q [rad], dq [rad/s] towards a pose [rad]."""

    def torque(q: FloatArray, dq: FloatArray, pose: FloatArray) -> FloatArray:
        return inertial(q, np.zeros_like(q), FREQUENCY**2 * (pose - q) - 2.0 * FREQUENCY * dq)

    return torque
