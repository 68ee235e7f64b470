"""Huber's loss by iteratively reweighted least squares: residuals beyond a few deviations count linearly, not squared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.columns.design import Design

__all__ = ["KNEE", "beyond", "inliers", "reweighted", "robust_scale"]

KNEE = 1.345
"""[1] Deviations from which a residual counts linearly: 95 % of the efficiency of least squares on normal residuals."""
MAD = 1.4826
"""[1] Standard deviation of a normal distribution in units of its median absolute deviation."""


def robust_scale(designs: Sequence[Design], phi: FloatArray, floor: FloatArray) -> FloatArray:
    """Deviation (n,) of the residuals of each joint by their median, at least `floor` [N·m or N]."""
    residual = np.abs(np.vstack([d.residual(phi) for d in designs]))
    return np.maximum(MAD * np.median(residual, axis=0), floor)


def reweighted(designs: Sequence[Design], phi: FloatArray, scale: FloatArray) -> list[Design]:
    """The designs with Huber's weights at these coefficients, times weights of zero that they had."""
    found = []
    for d in designs:
        size = np.abs(d.residual(phi)) / (KNEE * scale)
        found.append(replace(d, weights=_there(d) / np.maximum(size, 1.0)))
    return found


def inliers(designs: Sequence[Design], phi: FloatArray, scale: FloatArray) -> list[Design]:
    """The designs with Huber's second derivative as weights: one within the knee, zero beyond."""
    return [replace(d, weights=_there(d) * (np.abs(d.residual(phi)) <= KNEE * scale)) for d in designs]


def beyond(designs: Sequence[Design]) -> FloatArray:
    """Share (n,) of samples beyond the knee."""
    weights = np.vstack([np.ones_like(d.targets) if d.weights is None else d.weights for d in designs])
    return np.asarray(((weights > 0.0) & (weights < 1.0)).mean(axis=0), dtype=np.float64)


def _there(design: Design) -> FloatArray:
    return np.ones_like(design.targets) if design.weights is None else (design.weights > 0.0).astype(np.float64)
