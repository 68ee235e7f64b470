"""Torques that a planner has sent: which acts in a step, which is still on its way."""

from __future__ import annotations

from collections import deque

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.mpc.history import History

__all__ = ["SentTorques"]

LENGTH = 32
"""Stored ticks; more than the longest delay that can be told or found."""


class SentTorques:
    """Torques [N·m] (n,), one a tick, and when they were sent."""

    def __init__(self, first: FloatArray | None, h: float) -> None:
        """`first` acted before the first one sent (None: unknown); ticks are h [s] apart."""
        self.last = self._first = None if first is None else first.copy()
        """The last one sent."""
        self._h, self._ticks, self._told = h, deque[FloatArray](maxlen=LENGTH), True
        self._history = History(self.last)

    def remember(self, time: float, torque: FloatArray) -> None:
        """A tick at `time` [s] gives `torque`, which is sent unless `correct` says otherwise."""
        self.last = torque
        self._ticks.append(torque)
        self._history.begin(time, torque)
        self._told = False

    def correct(self, torque: FloatArray) -> None:
        """The torque really sent, instead of the last tick's, or in a skipped tick."""
        if np.isfinite(torque).all():
            if self._told:
                self._ticks.append(torque)
            self.last = self._ticks[-1] = np.array(torque, dtype=np.float64)
            self._history.sent(self.last, None if not self._told else self._h)
        self._told = True

    def acted(self, delay: int) -> FloatArray | None:
        """The torque that acted in the step that has just ended, where a torque acts `delay` ticks late; None: unknown."""
        return self._ticks[-1 - delay] if len(self._ticks) > delay else self._first

    def mean(self, since: float | None, until: float, late: float = 0.0) -> FloatArray | None:
        """The mean that acted between two times [s], where torques act `late` [s] after they are sent; None: unknown."""
        return None if since is None or not since < until else self._history.mean(since - late, until - late)

    def waiting(self, delay: int) -> list[FloatArray]:
        """Those that act before the next one does, where a torque acts `delay` ticks late."""
        known = list(self._ticks)[-delay:] if delay else []
        assert self.last is not None
        return [known[0] if known else self.last] * (delay - len(known)) + known
