"""Holding a pose by torque, for an effort interface without a position mode.

The law is that of a joint whose inertia is the model's: M(q) (−ω² (q − pose) − 2 ω q̇ + a) beside what holds the arm, critically
damped, slow enough for commands a hundredth of a second apart. The acceleration a integrates what is left of the error: a load,
or gravity that the model has not.
"""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, within
from diffpbd.runtime.model.statics import Inertial

__all__ = ["HOLD_PERIOD", "SAG", "HoldingServo"]

FREQUENCY = 10.0
"""1/s; ω. Gravity that nobody holds lets a bar of a metre sink by 0.15 rad under it, in 0.4 s."""
INTEGRATING = 400.0
"""1/s³; a fifth of what would shake: 2 ω³."""
MOST = 100.0
"""rad/s²; bound of a: a bar of a metre falls with 15, a hand of 0.15 m with 100."""
CLOSE = 0.005
"""rad; an error that is not integrated: friction holds there."""
SAG = 0.05
"""rad from the pose at which the hold has failed: the gravity owner is wrong, or something pulls."""
HOLD_PERIOD = 0.01
"""s between the commands of a hold."""


class HoldingServo:
    """One arm's servo; `reset` forgets what it has integrated."""

    def __init__(self, inertial: Inertial) -> None:
        self._inertial = inertial
        self._sum: FloatArray | None = None

    def reset(self) -> None:
        """Begin anew."""
        self._sum = None

    def torque(self, q: FloatArray, dq: FloatArray, pose: FloatArray, seconds: float) -> FloatArray:
        """The torque [N·m], what holds the arm left out, at q [rad], dq [rad/s] towards a pose [rad], `seconds` after the last
        one."""
        error, zero = pose - q, np.zeros_like(q)
        far = error - within(error, -CLOSE, CLOSE)
        learnt = (zero if self._sum is None else self._sum) + INTEGRATING * min(seconds, HOLD_PERIOD) * far
        self._sum = within(learnt, -MOST, MOST)
        return self._inertial(q, zero, FREQUENCY**2 * error - 2.0 * FREQUENCY * dq + self._sum)
