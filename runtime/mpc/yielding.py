"""A reference that gives way to a push as far as it must, so that its end does not throw a joint beyond its speed limit.

Torque that balances a push acts on for the delay after the push has ended, and turns a light joint as fast as the push did
when it came. A joint that goes along with the push at the right speed is then stopped by it instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, within
from diffpbd.runtime.model.robot import Robot

__all__ = ["Yielding"]

SPEED_SHARE = 0.7
"""Of the speed limit: what a joint may come to when the push ends."""
RETURN_TIME = 0.2
"""s in which the reference, free again, makes good all but a third of the way it gave."""


class Yielding:
    """Moves a reference by an offset that grows at the speed asked for and fades without need."""

    def __init__(self, robot: Robot, alpha: FloatArray, h: float, delay: int, speed: FloatArray) -> None:
        """`delay` in steps of h [s] until a torque acts; `speed` (n,) [rad/s], infinite: none."""
        self._step, self._alpha, self._h = robot.function("joint_step"), alpha, h
        self._steps = delay + 1
        self._speed = SPEED_SHARE * speed
        self.start()

    def start(self) -> None:
        """No offset."""
        self.offset: FloatArray = np.zeros_like(self._speed)
        """Of the positions now [rad]."""

    def shift(
        self, p: FloatArray, pd: FloatArray, u: FloatArray, d: FloatArray, P: Any, PD: Any, nodes: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """References of `nodes` (N + 1,) [s from now] moved, P, PD (N + 1, n), for the state p, pd under the torque u and the
        disturbance d [N·m]."""
        end = self._speed_at_the_end(p, pd, u, d)
        rates = np.broadcast_to(np.asarray(PD, dtype=np.float64), (len(nodes), len(p)))
        low = np.where(end > 0.0, np.minimum(end - self._speed, self._speed), -self._speed)
        high = np.where(end < 0.0, np.maximum(end + self._speed, -self._speed), self._speed)
        given = within(rates[0] - self.offset / RETURN_TIME, low, high) - rates[0]
        path = self.offset + nodes[:, None] * given
        self.offset = self.offset + self._h * given
        return np.asarray(P) + path, rates + given

    def _speed_at_the_end(self, p: FloatArray, pd: FloatArray, u: FloatArray, d: FloatArray) -> FloatArray:
        """What the disturbance brings in speed [rad/s] in the time until something can be done about its end."""
        pushed, free = (p, pd), (p, pd)
        for _ in range(self._steps):
            pushed = self._step(*pushed, u + d, self._h, self._alpha)
            free = self._step(*free, u, self._h, self._alpha)
        difference: FloatArray = pushed[1] - free[1]
        return difference
