"""Checks whether the sampling rate suffices for a motion: accelerations are differences of rates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.logs.findings import Finding
from diffpbd.runtime.logs.recording import Recording
from diffpbd.runtime.logs.thresholds import MOVING

__all__ = ["COARSE", "compare_sampling", "highest", "kept"]

COARSE = 0.2
"""[1] Ratio of the motion's frequency to the sampling rate above which it is undersampled: a central difference is then 0.76 of
the slope. Baxter's and Panda's recordings stay below 0.05."""
MOST = 0.95
"""[1] Part of the motion's power that lies below its highest frequency."""
CLEAR = 4.0
"""[1] Power of a spectral line over the median above which it is not noise."""
FEWEST = 32
"""[1] Least samples for a spectrum."""


def highest(dq: FloatArray, rate: float) -> FloatArray:
    """Frequency [Hz] below which MOST of the power of rates (samples, n) lies that stands out of noise, or 0 (n,)."""
    result = np.zeros(dq.shape[1])
    if len(dq) < FEWEST:
        return result
    window = np.hanning(len(dq))[:, None]
    power = np.abs(np.fft.rfft((dq - dq.mean(axis=0)) * window, axis=0)) ** 2
    clear = np.maximum(power - CLEAR * np.median(power, axis=0), 0.0)
    moves = (np.sqrt(np.mean(dq**2, axis=0)) > MOVING) & (clear.sum(axis=0) > 0.5 * power.sum(axis=0))
    below = np.cumsum(clear, axis=0)
    at = (below < MOST * below[-1]).sum(axis=0)
    return np.asarray(np.where(moves, at * rate / len(dq), 0.0), dtype=np.float64)


def kept(frequency: float, rate: float) -> float:
    """Ratio of a central difference to the slope at a frequency [Hz]."""
    return float(np.sinc(2.0 * frequency / rate))


def compare_sampling(r: Recording) -> list[Finding]:
    """A finding for every joint that moves too quickly for the samples."""
    steps = np.diff(r.time)
    if not (steps > 0.0).any():
        return []
    rate = 1.0 / float(np.median(steps[steps > 0.0]))
    edges = sorted({0, *r.breaks, len(r)})
    span = slice(*max(zip(edges, edges[1:], strict=False), key=lambda ends: ends[1] - ends[0]))
    dq = r.dq[span] if r.dq is not None else _slopes(r.q[span], rate)
    return [
        Finding(
            "sampling", name,
            f"it moves at up to {f:.2g} Hz and is sampled at {rate:.3g} Hz: accelerations, differences of its rates, come out "
            f"at {kept(f, rate):.2g} of theirs there",
            f"record at a sampling rate of {10.0 * f:.2g} Hz or more, or move more slowly",
        )
        for name, f in zip(r.joints, highest(dq, rate), strict=True) if f > COARSE * rate
    ]  # fmt: skip


def _slopes(q: npt.NDArray[np.float64], rate: float) -> FloatArray:
    return np.asarray(np.gradient(q, axis=0) * rate if len(q) > 1 else np.zeros_like(q), dtype=np.float64)
