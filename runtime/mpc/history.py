"""History of sent torques; each acts from the time it was sent until the next one."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["History"]

LENGTH = 64
"""Number of stored torques; at 1 kHz twice the longest valid time between two states."""


class History:
    """Torques [N·m] (n,) and the times [s] from which they acted."""

    def __init__(self, first: FloatArray | None) -> None:
        """`first`: what acted before the first one sent; None: unknown."""
        self._times: list[float] = []
        self._torques: list[list[float]] = []
        if first is not None:
            self._add(-math.inf, first)

    def _add(self, time: float, torque: FloatArray) -> None:
        self._times.append(time)
        self._torques.append(torque.tolist())
        del self._times[:-LENGTH], self._torques[:-LENGTH]

    def begin(self, time: float, torque: FloatArray) -> None:
        """`torque` acts from `time` [s] on; a time that is not finite or not later than the last one's changes nothing."""
        if math.isfinite(time) and (not self._times or time > self._times[-1]):
            self._add(time, torque)

    def sent(self, torque: FloatArray, after: float | None) -> None:
        """Corrects the last torque; with `after` [s], another torque was sent that much later."""
        if not self._times:
            return
        if after is None:
            self._torques[-1] = torque.tolist()
        else:
            self.begin(self._times[-1] + after, torque)

    def impulse(self, start: float, end: float) -> list[float] | None:
        """The integral of the torque [N·m·s] (n,) from `start` to `end` [s], later than it; None where it is not known."""
        times = self._times
        if not times or not times[0] <= start < end:
            return None
        first, last = bisect_right(times, start) - 1, bisect_left(times, end)
        edges = [start, *times[first + 1 : last], end]
        total = [0.0] * len(self._torques[first])
        for k, torque in enumerate(self._torques[first:last]):
            span = edges[k + 1] - edges[k]
            total = [past + span * value for past, value in zip(total, torque, strict=True)]
        return total

    def mean(self, start: float, end: float) -> FloatArray | None:
        """The mean torque [N·m] (n,) from `start` to `end` [s], later than it; None where it is not known."""
        total = self.impulse(start, end)
        return None if total is None else np.asarray(total, dtype=np.float64) / (end - start)
