"""Statistics of an identification of any form: determined directions, bounds, correlations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.result.result import Correlation

__all__ = ["CORRELATED", "RANK", "Determined", "by_information", "by_rows", "correlations", "on_bounds"]

RANK = 1e-8
"""[1] Singular value, in units of the largest of the normalised columns, below which a direction is not determined: the
square root of double precision, far below any real recording's noise."""
UNSEEN = 1e-6
"""[1] The same where only the squares of singular values are known, which have half the digits."""
CORRELATED = 0.95
"""[1] Correlation from which a pair of parameters is named: either alone is then three times worse than both together."""
MOST_CORRELATIONS = 10
"""[1] Pairs that are named at most, the strongest first."""


class Determined:
    """Of least squares with singular values `singular` and directions `right` (rows): `rank`; `condition` in the determined
    directions; an orthonormal basis `undetermined` (unknowns, k) of the others; `inverse`, the pseudoinverse of JᵀJ."""

    def __init__(self, singular: FloatArray, right: FloatArray, least: float) -> None:
        largest = max(float(singular.max(initial=0.0)), float(np.finfo(float).tiny))
        self.rank = int((singular > least * largest).sum())
        self.condition = float(singular[0] / singular[self.rank - 1]) if self.rank else 1.0
        self.undetermined = np.asarray(right[self.rank :].T, dtype=np.float64)
        half = right[: self.rank].T / singular[: self.rank]
        self.inverse = np.asarray(half @ half.T, dtype=np.float64)


def by_rows(J: FloatArray) -> Determined:
    """Of residual rows (rows, unknowns) with columns of like length."""
    _, singular, right = np.linalg.svd(J, full_matrices=True)
    return Determined(singular, right, RANK)


def by_information(H: FloatArray, unfelt: float = 0.0, least: float = UNSEEN) -> tuple[FloatArray, Determined]:
    """Of an information matrix JᵀJ: the scale (unknowns,) that makes its diagonal one, and the scaled unknowns' directions.

    Unknowns whose root diagonal is at most `unfelt` have no effect.
    """
    diagonal = np.sqrt(np.maximum(np.diag(H), 0.0))
    felt = diagonal > unfelt
    scale = 1.0 / np.where(felt, diagonal, 1.0)
    values, vectors = np.linalg.eigh(np.where(np.outer(felt, felt), H, 0.0) * np.outer(scale, scale))
    return scale, Determined(np.sqrt(np.maximum(values[::-1], 0.0)), vectors[:, ::-1].T, least)


def on_bounds(x: FloatArray, lower: FloatArray, upper: FloatArray, near: FloatArray) -> dict[int, str]:
    """Unknowns that are no further than `near` from a bound: which one."""
    found = {}
    for k in range(len(x)):
        if x[k] - lower[k] <= near[k]:
            found[k] = "lower"
        elif upper[k] - x[k] <= near[k]:
            found[k] = "upper"
    return found


def correlations(names: Sequence[str], covariance: FloatArray) -> tuple[Correlation, ...]:
    """Pairs of parameters that the recordings hardly tell apart, the closest first; names without a variance have none."""
    size = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    usable = np.flatnonzero(size > 0.0)
    pairs = []
    for i in usable.tolist():
        for j in usable[usable < i].tolist():
            value = float(np.clip(covariance[i, j] / (size[i] * size[j]), -1.0, 1.0))
            if abs(value) > CORRELATED:
                pairs.append(Correlation(names[i], names[j], value))
    return tuple(sorted(pairs, key=lambda pair: -abs(pair.value))[:MOST_CORRELATIONS])
