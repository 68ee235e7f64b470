"""Standard deviations that know that neighbouring residuals are alike.

The covariance of a least-squares estimate is H⁻¹ S H⁻¹ with H the normal matrix and S the long-run covariance of the
scores (column times residual). S sums the scores over overlapping windows (Bartlett's kernel; Newey and West 1987), within
recordings only. White noise is the window of one sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["correlation_length", "long_run", "window"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

UNCORRELATED = 0.05
"""[1] Autocorrelation below which residuals count as independent: what 400 independent samples show by chance (1/√400)."""
WINDOWS_A_LENGTH = 4
"""[1] Window in correlation lengths: Bartlett's kernel then keeps seven eighths of the covariance on average."""
LONGEST_PART = 4
"""[1] A window is at most this part of the shortest recording, so that there are enough of them."""


def correlation_length(residuals: Sequence[FloatArray]) -> int:
    """Samples until the autocorrelation of residuals (samples, joints) is first below `UNCORRELATED`, the worst joint."""
    longest = max(len(r) for r in residuals)
    size = 1 << (2 * longest - 1).bit_length()
    n = residuals[0].shape[1]
    total = np.zeros((longest, n))
    for r in residuals:
        spectrum = np.fft.rfft(r - r.mean(axis=0), size, axis=0)
        covariance = np.fft.irfft(np.abs(spectrum) ** 2, size, axis=0)[: len(r)]
        total[: len(r)] += covariance
    lengths = []
    for column in total.T:
        below = np.flatnonzero(column < UNCORRELATED * column[0]) if column[0] > 0.0 else np.array([1])
        lengths.append(int(below[0]) if below.size else longest)
    return max(1, *lengths)


def window(residuals: Sequence[FloatArray]) -> int:
    """Samples in a window."""
    shortest = min(len(r) for r in residuals)
    length = correlation_length(residuals)
    if length == 1:
        return 1
    return max(1, min(WINDOWS_A_LENGTH * length, shortest // LONGEST_PART))


def long_run(scores: Sequence[FloatArray], samples: int) -> FloatArray:
    """S (k, k): long-run covariance of scores (samples, k), summed over recordings, windows of so many samples."""
    k = scores[0].shape[1]
    total = np.zeros((k, k))
    for g in scores:
        sums = np.vstack([np.zeros((1, k)), np.cumsum(g, axis=0)])
        ends = np.arange(1, len(g) + samples)
        parts = sums[np.minimum(ends, len(g))] - sums[np.maximum(ends - samples, 0)]
        total += parts.T @ parts / samples
    return total
