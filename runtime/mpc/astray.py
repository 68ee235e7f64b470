"""Whether the measured motion is the planned one."""

from __future__ import annotations

from collections import deque

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["Astray"]

FAR = 1.0
"""[1] Mean difference of a measured speed from the planned one, over the joint's limit. A push by hand takes a light joint
further in a tick or two, friction that the model lacks or has too much of by 0.7; a wrong delay or sign by several limits."""
LEAST = 0.5
"""rad/s or m/s; a lower speed limit counts as this one: noise of a sensor is no motion beside the plan."""
HELD = 0.5
"""s without plans after that, in which the damped hold brings the arm to rest."""
TICKS = 5
"""Ticks of the mean: half a tenth of a second at 100 Hz."""


class Astray:
    """Compares speeds with those that plans had for the same moment."""

    def __init__(self, speed: FloatArray, h: float) -> None:
        """`speed` (n,) [rad/s]: limits; infinite ones are not watched. Ticks of h [s]."""
        self._speed, self._h = np.maximum(speed, LEAST), h
        self.start()

    def start(self) -> None:
        """No plan yet."""
        self._plans: deque[tuple[float, FloatArray]] = deque(maxlen=2 * TICKS)
        self._shares: deque[FloatArray] = deque(maxlen=TICKS)
        self._since: float | None = None

    def plan(self, moment: float, pd: FloatArray) -> None:
        """A plan has the speeds pd (n,) [rad/s] at `moment` [s]."""
        self._plans.append((moment, pd))

    def measure(self, moment: float, pd: FloatArray) -> bool:
        """Whether the speeds pd (n,) measured at `moment` [s] and before are far from those planned for these moments, or were
        within HELD. A clock that goes back begins anew."""
        if self._since is not None and 0.0 <= moment - self._since < HELD:
            return True
        if self._since is not None:
            self.start()
        while self._plans and self._plans[0][0] < moment - 0.5 * self._h:
            self._plans.popleft()
        if self._plans and self._plans[0][0] <= moment + 0.5 * self._h:
            self._shares.append(np.abs(pd - self._plans.popleft()[1]) / self._speed)
        astray = len(self._shares) == TICKS and bool((np.mean(self._shares, axis=0) > FAR).any())
        self._since = moment if astray else None
        return astray
