"""Finds the ends of a recording without motion, which contain no information on dynamics."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["still_ends"]

SLOW = 0.02
"""[1] A joint moves above this part of its fastest rate: above filtered encoder noise, below slow motion."""
RANGE = 2e-3
"""[rad or m] A joint whose range is below this never moves: five quanta of a 14-bit encoder."""
HELD = 0.1
"""[s] Least duration of motion, longer than a spike."""


def still_ends(q: FloatArray, dq: FloatArray, rate: float) -> tuple[int, int] | None:
    """Samples at the start and at the end of positions and rates (samples, n) at which no joint moves; None if none ever
    moves. `rate` [Hz]."""
    travelling = np.ptp(q, axis=0) > RANGE
    moving = ((np.abs(dq) > SLOW * np.abs(dq).max(axis=0)) & travelling).any(axis=1)
    long = max(1, round(HELD * rate))
    held = np.flatnonzero(np.convolve(moving, np.ones(long), mode="valid") > long - 0.5)
    if not held.size:
        return None
    return int(held[0]), len(moving) - int(held[-1]) - long
