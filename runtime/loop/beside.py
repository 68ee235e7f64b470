"""Detects a payload missing in the model at the end of a run, which no single tick shows, and describes it in words."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["Beside"]

WINDOW = 2.0
"""s over which unexplained torque is averaged."""
EVERY = 0.02
"""s between two evaluated states."""
LEAST_SPAN = 1.0
"""s; least duration: an arm that sinks to its stop may arrive in less than the window."""
PLACES = 10
"""Poses of the window at which a load is fitted."""
SLOW = 1.0
"""rad/s; below it in every joint, model errors of the motion are small compared with a load."""
LEAST = 0.015
"""Share of a joint's effort limit: the size of friction, which does not have a load's pattern."""
LIGHTEST = 0.3
"""kg; smallest reported load."""
ALIKE = 0.8
"""Least share of the squared unexplained torques (over the effort limits) that a load at the tip must explain."""


class Beside:
    """Takes every state; `words` describes the load of the last seconds, or is empty."""

    def __init__(self, joints: tuple[str, ...], effort: FloatArray) -> None:
        """`effort` [N·m] are the limits."""
        self.load: Callable[[FloatArray], FloatArray] | None = None
        """Torque [N·m] that holds a kilogram at the tip in a pose [rad]; None: unknown."""
        self._joints, self._effort = joints, effort
        self.start()

    def start(self) -> None:
        """Reset."""
        self._past: deque[tuple[float, list[float], FloatArray, FloatArray | None]] = deque()

    def add(
        self, stamp: float, q: list[float], dq: list[float], external: FloatArray, reference: FloatArray | None
    ) -> None:
        """A state [s, rad, rad/s], the unexplained joint torque [N·m], and the law's reference."""
        if any(abs(rate) > SLOW for rate in dq):
            self._past.clear()
        if self._past and stamp - self._past[-1][0] < EVERY:
            return
        self._past.append((stamp, q, external, reference))
        while stamp - self._past[0][0] > WINDOW:
            self._past.popleft()

    @property
    def words(self) -> str:
        """A sentence, or empty."""
        span = self._past[-1][0] - self._past[0][0] if self._past else 0.0
        if span < LEAST_SPAN:
            return ""
        held = -np.mean([external for _, _, external, _ in self._past], axis=0)  # the holding torque
        large = np.flatnonzero(np.abs(held) > LEAST * self._effort)
        if not len(large) or self.load is None:
            return ""
        _, q, _, reference = self._past[-1]
        places = [np.array(at) for _, at, _, _ in self._past]
        one = np.mean([self.load(at) for at in places[:: max(1, len(places) // PLACES)]], axis=0) / self._effort
        share = held / self._effort
        mass = float(one @ share / max(one @ one, np.finfo(float).tiny))
        if mass < LIGHTEST or ((share - mass * one) ** 2).sum() > (1.0 - ALIKE) * (share @ share):
            return ""
        figures = ", ".join(f"{self._joints[k]} by {held[k]:.1f} N·m" for k in large)
        off = "" if reference is None else f", up to {np.abs(q - reference).max():.3f} rad beside where its law led"
        return (
            f"in the last {span:.2g} s the arm was held beside the model, {figures}, like {mass:.2f} kg at its tip{off}: "
            "a load that nobody told the robot or the model?"
        )
