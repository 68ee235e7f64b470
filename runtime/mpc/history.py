"""Which torque acted when: each from the time it was sent until the next one."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from diffpbd.runtime.arrays import FloatArray

__all__ = ["History"]

LENGTH = 64
"""Torques that are remembered; at 1 kHz twice the longest time between two states that counts."""


class History:
    """Torques [N·m] (n,) and the times [s] from which they acted."""

    def __init__(self, first: FloatArray | None) -> None:
        """`first`: what acted before the first one sent; None: unknown."""
        self._rows: deque[tuple[float, FloatArray]] = deque(maxlen=LENGTH)
        if first is not None:
            self._rows.append((-math.inf, first))

    def begin(self, time: float, torque: FloatArray) -> None:
        """`torque` acts from `time` [s] on; a time that is not finite or not later than the last one's changes nothing."""
        if math.isfinite(time) and (not self._rows or time > self._rows[-1][0]):
            self._rows.append((time, torque))

    def sent(self, torque: FloatArray, after: float | None) -> None:
        """The last torque was really this one, or, `after` [s] later, another followed it."""
        if not self._rows:
            return
        time, _ = self._rows[-1]
        if after is None:
            self._rows[-1] = (time, torque)
        else:
            self.begin(time + after, torque)

    def mean(self, start: float, end: float) -> FloatArray | None:
        """The mean torque [N·m] (n,) from `start` to `end` [s], later than it; None where it is not known."""
        if not self._rows or not self._rows[0][0] <= start < end:
            return None
        total, upper = np.zeros_like(self._rows[0][1]), end
        for begun, torque in reversed(self._rows):
            lower = max(begun, start)
            if lower < upper:
                total = total + (upper - lower) * torque
                upper = lower
            if lower <= start:
                break
        return total / (end - start)
