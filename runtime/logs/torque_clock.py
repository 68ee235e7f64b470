"""Detects a torque with another clock than the motion: its delay grows or shrinks over the recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["Clock", "clock_of"]

FARTHEST: Final = 0.4
"""[s] Largest tried shift at the end of a recording relative to its middle."""
STEPS: Final = 41
"""[1] Number of tried shifts: 20 ms are within the same swing of an arm."""
EDGES: Final = 0.1
"""[1] Largest part of a recording at each end whose shifted torques may lie outside."""


@dataclass(frozen=True)
class Clock:
    """`factor` [1]: seconds of the torque's clock per second; `first`, `last` [s]: its delay after the motion
    at the start and at the end; `left` [1]: unexplained part then."""

    factor: float
    first: float
    last: float
    left: float


def clock_of(
    time: FloatArray, torque: FloatArray, middle: float, left: Callable[[FloatArray, npt.NDArray[np.intp]], float]
) -> Clock:
    """The clock that explains a torque (samples,) best, from a shift in the `middle` [s]; `left` gives the unexplained part of
    torques at these samples."""
    half = 0.5 * float(time[-1] - time[0])
    rows = np.flatnonzero(np.abs(time - time[0] - half) <= max(half - FARTHEST - abs(middle), (1.0 - EDGES) * half))
    about = (time[rows] - time[0]) / half - 1.0

    def unexplained(shift: FloatArray) -> float:
        return left(np.interp(time[rows] + shift[0] + shift[1] * about, time, torque), rows)

    ends = np.linspace(-FARTHEST, FARTHEST, STEPS)
    start = min(((middle, end) for end in ends.tolist()), key=lambda own: unexplained(np.array(own)))
    size = np.full(2, FARTHEST / STEPS)
    simplex = np.array(start) + np.array([[0.0, 0.0], [size[0], 0.0], [0.0, size[1]]])
    best = minimize(unexplained, start, method="Nelder-Mead", options={"initial_simplex": simplex, "xatol": 1e-4})
    a, b = best.x.tolist()
    return Clock(1.0 + b / half, a - b, a + b, float(best.fun))
