"""Sensors as physical arms have them: speeds that are filtered and noisy."""

from __future__ import annotations

import math
import random

import numpy as np

LAG = 0.012  # s; of the speeds. Recordings of physical arms show 0.01 to 0.02
NOISE = 0.004  # rad/s


class Filtered:
    """A message's speeds through a filter of first order, with noise; for `Bench.fault`."""

    def __init__(self, lag: float = LAG, noise: float = NOISE) -> None:
        self.lag, self.noise = lag, noise
        self._last: tuple[float, np.ndarray] | None = None
        self._random = random.Random(5)

    def __call__(self, data: dict) -> dict:
        stamp, dq = data["stamp"], data["dq"]
        if self._last is not None:
            before, shown = self._last
            dq = shown + (1.0 - math.exp((before - stamp) / self.lag)) * (dq - shown)
        self._last = (stamp, dq)
        return {**data, "dq": dq + self.noise * np.array([self._random.gauss(0.0, 1.0) for _ in dq])}
