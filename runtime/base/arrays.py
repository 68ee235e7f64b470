"""The arrays that everything here is made of."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

import numpy as np
import numpy.typing as npt

__all__ = ["FloatArray", "common_factor", "finite", "mixed", "or_else", "within"]

FloatArray = npt.NDArray[np.float64]


def within(values: FloatArray, low: FloatArray | float, high: FloatArray | float) -> FloatArray:
    """np.clip for small arrays, five times as fast: a tick does it often."""
    return np.minimum(np.maximum(values, low), high)


def common_factor(values: FloatArray, allowed: FloatArray) -> float:
    """The largest factor up to 1 that brings all values, whatever their signs, within what is allowed (≥ 0)."""
    factor = 1.0
    for value, most in zip(values.tolist(), allowed.tolist(), strict=True):
        if abs(value) > most:
            factor = min(factor, most / abs(value))
    return factor


def finite(values: FloatArray) -> bool:
    """Whether all of a vector's numbers are; on short ones four times as fast as by NumPy."""
    return all(map(isfinite, values.tolist()))


def mixed(values: FloatArray, centre: FloatArray | None, low: FloatArray, high: FloatArray) -> FloatArray:
    """Values within [low, high]: what they are beyond `centre` (None: zero) is scaled by one factor."""
    if (low <= values).all() and (values <= high).all():
        return values
    base = within(np.zeros_like(values) if centre is None else centre, low, high)
    beyond = values - base
    return within(base + common_factor(beyond, np.where(beyond > 0.0, high - base, base - low)) * beyond, low, high)


def or_else(values: Iterable[float | None], missing: float) -> FloatArray:
    """The numbers as an array, `missing` in place of None."""
    return np.array([missing if value is None else value for value in values], dtype=np.float64)
