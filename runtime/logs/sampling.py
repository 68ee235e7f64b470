"""Checks whether the sampling rate suffices for a motion: accelerations are differences of rates."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.logs.rates import MOVING

__all__ = ["COARSE", "highest", "kept"]

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
