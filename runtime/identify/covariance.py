"""Standard deviations that know that residuals are alike: at neighbouring times, and at neighbouring positions of a joint.

To first order an estimate moves by the sum over samples of its influence (the inverse normal matrix times column times
residual). Its variance is the long-run variance of that series: the sum over overlapping windows, Bartlett's kernel (Newey
and West 1987). Coloured noise is alike within a time; what the model lacks (a ripple of the gear, a cable) is alike at the
same position of the joint that shows it, however often and in whichever recording it comes back (Conley 1999), so influences
are also summed by the position of each joint and the windows run over these. The larger of the two counts.

A window follows from each series' own autocorrelation. Several windows are tried, because one that holds whole waves of a
residual that swings does not see it. Few windows are uncertain themselves: deviations are larger by the ratio of the critical
values (Kiefer and Vogelsang 2005, Bartlett's kernel), so that twice the deviation means 95 % whatever the length. Where there
are several recordings, the scatter of the sums between them is a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.arrays import FloatArray

__all__ = ["Influence", "correlation_lengths", "long_run"]

UNCORRELATED = 0.05
"""[1] Autocorrelation below which samples count as independent: what 400 independent ones show by chance (1/√400)."""
WINDOWS_IN_LENGTHS = (1, 2, 4)
"""[1] Windows in correlation lengths: Bartlett's kernel of four keeps seven eighths of the covariance on average."""
LONGEST_PART = 4
"""[1] A window is at most this part of the longest recording, so that there are enough of them."""
FEWEST_RECORDINGS = 6
"""[1] From so many recordings on, the scatter between them counts too: model errors differ from motion to motion, which
no window within one shows. With fewer, that scatter is itself too uncertain."""
BINS = 200
"""[1] Parts of a joint's range: a ripple of several per cent of it shows."""
CRITICAL = (1.9600, 2.9694, 0.4160, -0.5324)
"""[1] Critical value of 95 % by powers of the window's part of all samples."""


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


def long_run(series: Sequence[FloatArray]) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Variance (k,) of the sums of series (samples, k), for intervals of twice the deviation, and the window of each."""
    lengths = correlation_lengths(series)
    most, count = max(1, max(len(s) for s in series) // LONGEST_PART), sum(len(s) for s in series)
    best, used = np.zeros(len(lengths)), np.ones(len(lengths), dtype=np.intp)
    sums = [np.vstack([np.zeros((1, s.shape[1])), np.cumsum(s, axis=0)]) for s in series]
    for factor in WINDOWS_IN_LENGTHS:
        windows = np.where(lengths == 1, 1, np.minimum(factor * lengths, most))
        for k, w in enumerate(windows.tolist()):
            variance = 0.0
            for total in sums:
                ends = np.arange(1, len(total) - 1 + w)
                parts = total[np.minimum(ends, len(total) - 1), k] - total[np.maximum(ends - w, 0), k]
                variance += float(parts @ parts) / w
            variance *= (np.polynomial.polynomial.polyval(w / count, CRITICAL) / CRITICAL[0]) ** 2
            if variance > best[k]:
                best[k], used[k] = variance, w
    return best, used


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
            np.add.at(self.by_position[j], places, part)
        self.by_time.append(total)

    def deviations(self) -> tuple[FloatArray, npt.NDArray[np.intp]]:
        """Standard deviation (k,) of the estimates, and the window [samples] of each in time."""
        variances, windows = long_run(self.by_time)
        variances = np.maximum(variances, sum(long_run([sums])[0] for sums in self.by_position))
        if len(self.by_time) >= FEWEST_RECORDINGS:
            sums = np.array([s.sum(axis=0) for s in self.by_time])
            variances = np.maximum(variances, len(sums) * sums.var(axis=0, ddof=1))
        return np.sqrt(variances), windows
