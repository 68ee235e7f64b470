"""Sparsity of a problem with parameters common to all windows, whose initial states are coupled only if windows are tied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
import numpy.typing as npt

__all__ = ["Pattern", "curvature", "equations"]


@dataclass(frozen=True)
class Pattern:
    """A sparsity pattern, and where in the given nonzeros each of its nonzeros is."""

    sparsity: Any
    order: npt.NDArray[np.intp]


def curvature(m: int, size: int, count: int) -> tuple[Pattern, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Upper triangle of an arrow: m parameters that meet every block of `size`; and the rows and columns of a block's part."""
    r, c = np.triu_indices(m + size)
    own = c >= m
    r, c = r[own], c[own]
    top = np.triu_indices(m)
    shift = np.arange(count)[:, None] * size
    rows = np.concatenate([top[0], (r + np.where(r >= m, shift, 0)).ravel()])
    columns = np.concatenate([top[1], (c + shift).ravel()])
    order = np.lexsort((rows, columns))
    n = m + size * count
    sparsity = casadi.Sparsity.triplet(n, n, rows[order].tolist(), columns[order].tolist())
    return Pattern(sparsity, order), r, c


def equations(m: int, size: int, count: int, ties: npt.NDArray[np.intp], given: int) -> Pattern:
    """Jacobian of the gaps of tied windows, then of `given` equations in the m parameters alone.

    Nonzeros are given gap by gap by parameters and the state before (rows first), then by the states after, then the others'.
    """
    gaps = np.arange(len(ties) * size).reshape(-1, size)
    before, after = (m + ties[:, k, None] * size + np.arange(size) for k in (0, 1))
    by_start = np.hstack([np.tile(np.arange(m), (len(ties), 1)), before])
    rows = [np.repeat(gaps.ravel(), m + size), gaps.ravel(), np.repeat(gaps.size + np.arange(given), m)]
    columns = [np.repeat(by_start, size, axis=0).ravel(), after.ravel(), np.tile(np.arange(m), given)]
    r, c = np.concatenate(rows), np.concatenate(columns)
    order = np.lexsort((r, c))
    sparsity = casadi.Sparsity.triplet(gaps.size + given, m + size * count, r[order].tolist(), c[order].tolist())
    return Pattern(sparsity, order)
