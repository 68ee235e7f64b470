"""The arrays that everything here is made of."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

__all__ = ["FloatArray", "or_else", "within"]

FloatArray = npt.NDArray[np.float64]


def within(values: FloatArray, low: FloatArray | float, high: FloatArray | float) -> FloatArray:
    """np.clip for small arrays, five times as fast: a tick does it often."""
    return np.minimum(np.maximum(values, low), high)


def or_else(values: Iterable[float | None], missing: float) -> FloatArray:
    """The numbers as an array, `missing` in place of None."""
    return np.array([missing if value is None else value for value in values], dtype=np.float64)
