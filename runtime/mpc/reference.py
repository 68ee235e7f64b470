"""References over time for predictive control: to a goal at bounded speed, or along a recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.errors import InputError

__all__ = ["GoalReference", "LogReference", "Reference"]


class Reference(Protocol):
    """Where the arm should be."""

    def start(self, q: FloatArray) -> None:
        """Begin at the measured pose [rad] (n,)."""

    def at(self, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions [rad] and rates [rad/s] (times, n) at times [s] since the start."""


@dataclass(eq=False)
class GoalReference:
    """From the start pose to `goal` [rad] (n,) at `speed` [rad/s]; NaN: that joint stays where it starts."""

    goal: FloatArray
    speed: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.speed) and self.speed > 0):
            raise InputError(f"MPC: the goal's speed must be above 0 rad/s, found {self.speed}.")
        self._from = np.where(np.isnan(self.goal), 0.0, self.goal)

    def start(self, q: FloatArray) -> None:
        """From this pose."""
        self._from = q.copy()

    def at(self, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        """At constant speed until the goal."""
        way = np.where(np.isnan(self.goal), 0.0, self.goal - self._from)
        gone = np.maximum(time, 0.0)[:, None] * self.speed
        moved = np.clip(way, -gone, gone)
        return self._from + moved, np.where(np.abs(way) > gone, np.sign(way) * self.speed, 0.0)


@dataclass(eq=False)
class LogReference:
    """Along samples q, dq (samples, n) at `time` (samples,) [s], from the start pose on: what lies between the start pose
    and the first sample goes away at `speed` [rad/s]. After the last sample its pose, at rest."""

    time: FloatArray
    q: FloatArray
    dq: FloatArray
    speed: float

    def __post_init__(self) -> None:
        if len(self.time) < 2 or not (np.diff(self.time) > 0).all():
            raise InputError("MPC: a reference needs at least two samples at increasing times.")
        if not (np.isfinite(self.speed) and self.speed > 0):
            raise InputError(f"MPC: the speed towards the reference must be above 0 rad/s, found {self.speed}.")
        self._offset = np.zeros(self.q.shape[1])

    def start(self, q: FloatArray) -> None:
        """From this pose."""
        self._offset = q - self.q[0]

    def at(self, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Between samples by straight lines, positions and rates alike."""
        since = self.time[0] + np.maximum(time, 0.0)
        gone = np.maximum(time, 0.0)[:, None] * self.speed
        left = self._offset - np.clip(self._offset, -gone, gone)
        P = np.column_stack([np.interp(since, self.time, column) for column in self.q.T]) + left
        PD = np.column_stack([np.interp(since, self.time, column, right=0.0) for column in self.dq.T])
        return P, PD - self.speed * np.sign(left)
