"""A reference that yields to a push just enough that the end of the push does not throw a joint beyond its speed limit.

Torque that balances a push still acts for the delay after its end, and accelerates a light joint as much as the push did at
its begin. If the joint already moves with the push at the right speed, that torque stops it instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray, within
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.disturbance import DisturbanceObserver

__all__ = ["Yielding"]

SPEED_SHARE = 0.7
"""Share of the speed limit that a joint may reach when the push ends."""
RETURN_TIME = 0.2
"""s; time constant with which the offset decays after the push."""
STILL, BESIDE = 2e-3, 5e-4
"""rad/s and rad, or m/s and m; a joint slower than this is at rest, and further than this from its reference beside it: half of
what a constant load may leave."""
SLOWEST = 1.0
"""1/s; a joint that makes less than this share of its way to a resting reference in a second sticks; a free one makes seven."""


class Yielding:
    """Shifts a reference by an offset that grows at the required speed and otherwise decays."""

    def __init__(self, robot: Robot, alpha: FloatArray, h: float, delay: int, speed: FloatArray) -> None:
        """`delay` in steps of h [s] until a torque acts; `speed` (n,) [rad/s], infinite: none."""
        self._step, self._alpha, self._h = robot.function("joint_step"), alpha, h
        self.delay = delay
        self._speed = SPEED_SHARE * speed
        self.start()

    def start(self) -> None:
        """No offset."""
        self.offset: FloatArray = np.zeros_like(self._speed)
        """Present offset of positions [rad]."""
        self._before: FloatArray = np.zeros_like(self._speed)

    def follow(
        self, observer: DisturbanceObserver, p: FloatArray, pd: FloatArray, u: FloatArray, P: Any, PD: Any,
        nodes: FloatArray,
    ) -> tuple[Any, Any]:  # fmt: skip
        """`shift` by the part of the disturbance that may end at once. A joint that sticks beside its reference is freed."""
        rates = 0.0 if PD is None else PD
        if observer.estimate.any() or self.offset.any():
            load = observer.lasting
            P, PD = self.shift(p, pd, u + load, observer.estimate - load, P, rates, nodes)
        observer.free(
            _sticking(p, 0.5 * (self._before + pd), P, rates)
        )  # a joint that shakes in step with its samples sticks, too
        self._before = pd
        return P, PD

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
        """Change of speed [rad/s] by the disturbance during the delay until its end can be answered."""
        pushed, free = (p, pd), (p, pd)
        for _ in range(self.delay + 1):
            pushed = self._step(*pushed, u + d, self._h, self._alpha)
            free = self._step(*free, u, self._h, self._alpha)
        difference: FloatArray = pushed[1] - free[1]
        return difference


def _sticking(p: FloatArray, pd: FloatArray, P: Any, PD: Any) -> FloatArray:
    """The directions (n,) -1, 0 or 1 in which joints that stick beside a resting reference P, PD (N + 1, n) have to go."""
    away = np.atleast_2d(P)[0] - p
    sticks = (np.abs(pd) < STILL + SLOWEST * np.abs(away)) & (np.abs(away) > BESIDE)
    resting = np.abs(np.atleast_2d(PD)[0]) < STILL
    return np.asarray(np.sign(away) * (sticks & resting), dtype=np.float64)
