"""What an arm carried beside the model at the end of a run, in words: a load that nobody told shows in no single tick."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["Beside"]

WINDOW = 2.0
"""s over which unexplained torque is averaged."""
EVERY = 0.02
"""s between two states that are looked at."""
LEAST_SPAN = 1.0
"""s that it has to last: an arm that sinks to its stop may be there in less than the window."""
PLACES = 10
"""Poses of the window at which a load is weighed."""
SLOW = 1.0
"""rad/s of every joint, below which what a model lacks of the motion is little beside a load."""
LEAST = 0.015
"""Of a joint's effort limit: of friction's size, which is no load's by its pattern."""
LIGHTEST = 0.3
"""kg that are said."""
ALIKE = 0.8
"""Share of the unexplained torques, as parts of the effort limits and squared, that a load at the tip explains."""


class Beside:
    """Fed with every state; `words` says what the last seconds show, or is empty."""

    def __init__(self, joints: tuple[str, ...], effort: FloatArray) -> None:
        """`effort` [N·m] are the limits."""
        self.load: Callable[[FloatArray], FloatArray] | None = None
        """Torque [N·m] that holds a kilogram at the tip, by the pose [rad]; None: nobody knows."""
        self._joints, self._effort = joints, effort
        self.start()

    def start(self) -> None:
        """Forget the past."""
        self._past: deque[tuple[float, list[float], FloatArray, FloatArray | None]] = deque()

    def add(
        self, stamp: float, q: list[float], dq: list[float], external: FloatArray, reference: FloatArray | None
    ) -> None:
        """A state [s, rad, rad/s], the torque on the joints that the model does not explain [N·m], and where the law leads."""
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
        held = -np.mean([external for _, _, external, _ in self._past], axis=0)  # what holds it
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
