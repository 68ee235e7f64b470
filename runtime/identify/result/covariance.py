"""Standard deviations of estimates whose residuals are correlated in time and in joint position.

To first order an estimate moves by the sum over samples of its influence (the inverse normal matrix times column times
residual). Its variance is the long-run variance of that series: the sum over overlapping windows, Bartlett's kernel (Newey
and West 1987). Coloured noise is correlated in time. Model errors (gear ripple, a cable) recur at the same position of the
joint, however often and in whichever recording (Conley 1999), so influences are also summed over each joint's position. The
larger variance counts.

The window follows from each series' own autocorrelation. With few windows the variance is itself uncertain: deviations are
enlarged by the ratio of the critical values (Kiefer and Vogelsang 2005, Bartlett's kernel), so that ± 2 deviations are 95 %
for any length. With several recordings, the scatter of the sums between them is a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import fft, sparse
from scipy.stats import chi2

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["IN_TIME", "Influence", "correlation_lengths", "long_run"]

UNCORRELATED = 0.05
"""[1] Autocorrelation below which samples count as independent: what 400 independent ones show by chance (1/√400)."""
IN_TIME, IN_POSITION = 4, 3
"""[1] Windows in correlation lengths: Bartlett's kernel of four keeps seven eighths of the covariance on average. Four
lengths of a ripple are a whole wave, which a window would not see."""
LONGEST_PART = 2
"""[1] A window is at most this part of the longest recording, so that there are some of them."""
FEWEST_RECORDINGS, PLENTY = 3, 6
"""[1] Number of recordings from which the scatter between them counts too: drifts, or model errors that differ between
motions, do not show within one. With fewer than PLENTY it is uncertain and counts only if it exceeds chance at the 90 %
level."""
CHANCE = 0.9
BINS = 200
"""[1] Bins of a joint's range: resolves a ripple of several per cent of it."""
CRITICAL = (1.9600, 2.9694, 0.4160, -0.5324)
"""[1] Critical value of 95 % by powers of the window's part of all samples."""


def correlation_lengths(series: Sequence[FloatArray]) -> npt.NDArray[np.intp]:
    """For each column of the recordings' series (samples, k): samples until its autocorrelation is below `UNCORRELATED`."""
    return np.array([_length([s[:, k] for s in series]) for k in range(series[0].shape[1])], dtype=np.intp)


def _length(series: Sequence[FloatArray]) -> int:
    """Of one column; the power spectra of the recordings are added up, and one inverse is the sum of their correlations."""
    longest = max(len(s) for s in series)
    size = fft.next_fast_len(2 * longest - 1, real=True)
    power = np.sum([np.abs(fft.rfft(s, size)) ** 2 for s in series], axis=0)
    total = fft.irfft(power, size)[:longest]
    below = (total < UNCORRELATED * total[0]) | (total[0] == 0.0)
    return max(int(below.argmax()), 1) if below.any() else longest


def long_run(series: Sequence[FloatArray], factor: int = IN_TIME) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Variance (k,) of the sums of series (samples, k), for intervals of twice the deviation, and the window of each."""
    lengths = correlation_lengths(series)
    most, count = max(1, max(len(s) for s in series) // LONGEST_PART), sum(len(s) for s in series)
    windows = np.where(lengths == 1, 1, np.minimum(factor * lengths, most)).astype(np.intp)
    variances = np.zeros(len(windows))
    for s in series:
        for k, w in enumerate(windows.tolist()):
            sums = np.cumsum(s[:, k])
            parts = np.concatenate([sums, np.full(w - 1, sums[-1])])  # up to where each window ends
            parts[w:] -= sums[:-1]
            variances[k] += parts @ parts / w
    critical = np.polynomial.polynomial.polyval(windows / count, CRITICAL) / CRITICAL[0]
    return np.asarray(variances * critical**2), windows


class Influence:
    """Influences of recordings, one after another; `low` and `high` (n,) are the joints' ranges over all of them."""

    def __init__(self, low: FloatArray, high: FloatArray) -> None:
        self.low, self.width = low, np.where(high > low, high - low, 1.0) / BINS
        self.by_time: list[FloatArray] = []
        self.by_position: list[FloatArray] = []

    def add(self, q: FloatArray, parts: Iterable[FloatArray]) -> None:
        """A recording with positions q (samples, n): of every joint's residual the influence (samples, k)."""
        total = np.zeros((0, 0))
        for j, part in enumerate(parts):
            total = part if j == 0 else total + part
            if len(self.by_position) <= j:
                self.by_position.append(np.zeros((BINS, part.shape[1])))
            places = np.clip(((q[:, j] - self.low[j]) / self.width[j]).astype(np.intp), 0, BINS - 1)
            entries = (np.ones(len(places)), places, np.arange(len(places) + 1))
            self.by_position[j] += np.asarray(sparse.csc_matrix(entries, (BINS, len(places))) @ part)
        self.by_time.append(total)

    @property
    def total(self) -> FloatArray:
        """Sums (k,) over all recordings."""
        return np.asarray(sum(part.sum(axis=0) for part in self.by_time), dtype=np.float64)

    def deviations(self) -> tuple[FloatArray, npt.NDArray[np.intp]]:
        """Standard deviation (k,) of the estimates, and the window [samples] of each in time."""
        variances, windows = long_run(self.by_time)
        variances = np.maximum(variances, sum(long_run([sums], IN_POSITION)[0] for sums in self.by_position))
        count = len(self.by_time)
        if count >= FEWEST_RECORDINGS:
            between = count * np.array([s.sum(axis=0) for s in self.by_time]).var(axis=0, ddof=1)
            chance = 1.0 if count >= PLENTY else float(chi2.ppf(CHANCE, count - 1)) / (count - 1)
            variances = np.where(between > chance * variances, between, variances)
        return np.sqrt(variances), windows
