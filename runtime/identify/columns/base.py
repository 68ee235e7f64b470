"""Base parameters: the combinations of inertial parameters that the recordings determine (Gautier and Khalil 1990).

From base to tip, a column that depends on previous ones is expressed by them and its parameter is lumped into theirs. The
number of remaining combinations is the rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray

__all__ = ["COLUMN_NAMES", "COLUMN_UNITS", "Combination", "combinations"]

COLUMN_NAMES = ("m", "m·c.x", "m·c.y", "m·c.z", "I.xx", "I.xy", "I.xz", "I.yy", "I.yz", "I.zz")
"""A body's ten coefficients: mass, first moments, inertia about the link origin."""
COLUMN_UNITS = ("kg", *("kg·m",) * 3, *("kg·m²",) * 6)
DEPENDENT = 1e-7
"""[1] Relative residual of a column below which it depends on the others: above the rounding of condensation."""
NEGLIGIBLE = 1e-6
"""[1] Coefficient of a normalised column below which it is left out of a combination: rounding."""


@dataclass(frozen=True)
class Combination:
    """`name` as a sum, `unit`, and `row` (columns,): the combination of the coefficients."""

    name: str
    unit: str
    row: FloatArray


def combinations(J: FloatArray, scale: FloatArray, labels: Sequence[str], units: Sequence[str]) -> list[Combination]:
    """Of the columns `J` (rows, columns), normalised by `scale`; columns of zeros belong to none.

    Listed are those that begin with one of the first columns, which have `units`.
    """
    own: list[int] = []
    basis = np.zeros((J.shape[0], 0))
    coordinates: list[FloatArray] = []  # of the own columns in the basis
    lumped: list[tuple[int, FloatArray]] = []
    for k in range(J.shape[1]):
        if not J[:, k].any():
            continue
        inside = basis.T @ J[:, k]
        left = J[:, k] - basis @ inside
        again = basis.T @ left  # twice is enough
        left, inside = left - basis @ again, inside + again
        size = float(np.linalg.norm(left))
        if size > DEPENDENT:
            own.append(k)
            basis = np.column_stack([basis, left / size])
            coordinates.append(np.append(inside, size))
        else:
            lumped.append((k, inside))
    triangle = np.zeros((len(own), len(own)))
    for j, column in enumerate(coordinates):
        triangle[: len(column), j] = column
    rows = np.zeros((len(own), J.shape[1]))
    rows[np.arange(len(own)), own] = 1.0
    for k, inside in lumped:
        padded = np.append(inside, np.zeros(len(own) - len(inside)))
        shares = np.linalg.solve(triangle, padded)
        shares[np.abs(shares) < NEGLIGIBLE] = 0.0
        rows[:, k] = shares * scale[own] / scale[k]
    listed = [(row, k) for row, k in zip(rows, own, strict=True) if k < len(units)]
    return [Combination(_sum(row, k, labels), units[k], row) for row, k in listed]


def _sum(row: FloatArray, first: int, labels: Sequence[str]) -> str:
    text = labels[first]
    for k in np.flatnonzero(row).tolist():
        if k != first:
            size = abs(float(row[k]))
            factor = "" if abs(size - 1.0) < NEGLIGIBLE else f"{size:.4g} "
            text += f" {'+' if row[k] > 0.0 else '-'} {factor}{labels[k]}"
    return text
