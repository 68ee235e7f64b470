"""Whether the measured motion agrees with the plans and with the delay that the planner was told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.astray import Astray
from diffpbd.runtime.mpc.delay import remark, watch_of
from diffpbd.runtime.mpc.sent_torques import SentTorques

__all__ = ["Agreement"]


class Agreement:
    """The delay that is believed, and doubts about it and about the plans."""

    def __init__(self, robot: Robot, alpha: FloatArray, h: float, told: int, speed: FloatArray) -> None:
        """Ticks of h [s]; `told` in steps; `speed` (n,) [rad/s]: limits, infinite: none."""
        self._robot, self._alpha, self._h, self._told = robot, alpha, h, told
        self._astray = Astray(speed, h)
        self.start()

    def start(self) -> None:
        """Believe what was told."""
        self.remark: str | None = None
        """What is wrong with what was told, in words."""
        self._believe(self._told)

    def _believe(self, delay: int) -> None:
        self.delay = delay
        self._watch = watch_of(self._robot, self._alpha, self._h, delay)
        self._astray.start()

    def later(self, reference: Any) -> Any:
        """A reference by rows from where torques act, whose last row stays; one row, or None, as it is."""
        steps = self.delay - self._told
        if steps == 0 or reference is None or np.ndim(reference) < 2:
            return reference
        rows = np.asarray(reference)
        return rows[np.clip(np.arange(len(rows)) + steps, 0, len(rows) - 1)]

    def compare(
        self, time: float, stamp: float | None, state: tuple[FloatArray, FloatArray], sent: SentTorques
    ) -> bool:
        """Whether a tick's state shows a motion far from the planned one; a delay that was not told is found and believed."""
        moment = time if stamp is None else float(stamp)
        if not (math.isfinite(time) and math.isfinite(moment) and all(np.isfinite(x).all() for x in state)):
            return False
        age = None if stamp is None else (time - stamp) / self._h
        found = None if self._watch is None else self._watch.update(moment, *state, sent, age)
        if found is not None:
            self.remark = remark(self._told, found, time)
            self._believe(found)
        return self._astray.measure(moment, state[1])

    def plan(self, time: float, stamp: float | None, pd: FloatArray) -> None:
        """A plan of this tick reaches the speeds pd (n,) [rad/s] at its first node."""
        self._astray.plan((time if stamp is None else stamp) + (self.delay + 1) * self._h, pd)
