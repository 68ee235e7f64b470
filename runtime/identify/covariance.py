"""Standard deviations that know that neighbouring residuals are alike.

To first order an estimate moves by the sum over samples of its influence (the inverse normal matrix times column times
residual). Its variance is the long-run variance of that series: the sum over overlapping windows, Bartlett's kernel (Newey
and West 1987), within recordings only. The window follows from each series' own autocorrelation; white noise has a window of
one sample. Where there are several recordings, the scatter of the sums between them is a lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.arrays import FloatArray

__all__ = ["correlation_lengths", "deviations"]

UNCORRELATED = 0.05
"""[1] Autocorrelation below which samples count as independent: what 400 independent ones show by chance (1/√400)."""
WINDOW_IN_LENGTHS = 4
"""[1] Window in correlation lengths: Bartlett's kernel then keeps seven eighths of the covariance on average."""
LONGEST_PART = 4
"""[1] A window is at most this part of the shortest recording, so that there are enough of them."""

FEWEST_RECORDINGS = 6
"""[1] From so many recordings on, the scatter between them counts too: model errors differ from motion to motion, which
no window within one shows. With fewer, that scatter is itself too uncertain."""


def correlation_lengths(series: Sequence[FloatArray]) -> npt.NDArray[np.intp]:
    """For each column of the recordings' series (samples, k): samples until its autocorrelation is below `UNCORRELATED`."""
    longest = max(len(s) for s in series)
    size = 1 << (2 * longest - 1).bit_length()
    total = np.zeros((longest, series[0].shape[1]))
    for s in series:
        spectrum = np.fft.rfft(s, size, axis=0)
        total[: len(s)] += np.fft.irfft(np.abs(spectrum) ** 2, size, axis=0)[: len(s)]
    below = total < UNCORRELATED * total[0]
    below |= total[0] == 0.0
    return np.asarray(np.where(below.any(axis=0), np.maximum(below.argmax(axis=0), 1), longest), dtype=np.intp)


def deviations(influence: Sequence[FloatArray]) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Standard deviation (k,) of the sums of the influence series (samples, k), and the window [samples] of each."""
    lengths = correlation_lengths(influence)
    most = max(1, min(len(s) for s in influence) // LONGEST_PART)
    windows = np.where(lengths == 1, 1, np.minimum(WINDOW_IN_LENGTHS * lengths, most)).astype(np.intp)
    variances = np.zeros(len(windows))
    for s in influence:
        sums = np.vstack([np.zeros((1, s.shape[1])), np.cumsum(s, axis=0)])
        for k, w in enumerate(windows.tolist()):
            ends = np.arange(1, len(s) + w)
            parts = sums[np.minimum(ends, len(s)), k] - sums[np.maximum(ends - w, 0), k]
            variances[k] += parts @ parts / w
    if len(influence) >= FEWEST_RECORDINGS:
        sums = np.array([s.sum(axis=0) for s in influence])
        between = len(sums) * sums.var(axis=0, ddof=1)
        variances = np.maximum(variances, between)
    return np.sqrt(variances), windows
