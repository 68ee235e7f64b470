"""The arrays that everything here is made of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["FloatArray", "within"]

FloatArray = npt.NDArray[np.float64]


def within(values: FloatArray, low: FloatArray | float, high: FloatArray | float) -> FloatArray:
    """np.clip for small arrays, five times as fast: a tick does it often."""
    return np.minimum(np.maximum(values, low), high)
