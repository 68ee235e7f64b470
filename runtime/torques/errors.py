"""Errors of estimated torques, and the lag of recorded rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.torques.estimation import Estimate

__all__ = ["TorqueErrors", "rate_lag"]

SLOW = 1e-3
"""[rad/s or m/s] RMS rate below which a joint is not used for the lag: a few encoder steps per second."""


@dataclass(frozen=True)
class TorqueErrors:
    """Estimate minus recording (n each) [N·m or N]: root mean square with both filtered like the log, with only the
    recording filtered, and the mean."""

    filtered: FloatArray
    raw: FloatArray
    bias: FloatArray

    @classmethod
    def of(cls, parts: Sequence[Samples], found: Sequence[Estimate]) -> TorqueErrors:
        """Errors over all parts, whose recorded torques are filtered already."""
        raw = [e.reading - e.measured(s.tau) for s, e in zip(parts, found, strict=True)]
        filtered = [s.smooth(e.reading) - e.measured(s.tau) for s, e in zip(parts, found, strict=True)]
        return cls(_rms(filtered), _rms(raw), np.concatenate(filtered).mean(axis=0))


def _rms(errors: Sequence[FloatArray]) -> FloatArray:
    return np.asarray(np.sqrt(np.mean(np.concatenate(errors) ** 2, axis=0)), dtype=np.float64)


def rate_lag(samples: Samples) -> float:
    """Delay of the rates after the derivative of the positions [s]: least squares over all joints that move."""
    step = 1.0 / samples.rate
    rate = np.gradient(samples.q, step, axis=0)
    change = np.gradient(rate, step, axis=0)
    size = (rate**2).sum(axis=0)
    moving = np.sqrt(size / len(rate)) > SLOW
    late = ((rate - samples.dq) * change).sum(axis=0)[moving] / size[moving]
    against = (change**2).sum(axis=0)[moving] / size[moving]
    return float(late.sum() / against.sum()) if against.sum() > 0.0 else 0.0
