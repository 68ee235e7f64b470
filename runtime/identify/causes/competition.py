"""Compares possible causes of the fitted model's residual by cross-validation.

Each cause adds a few columns to the fitted ones. All coefficients are fitted by least squares without one fold of the
recordings in turn, and judged by that fold's torque error. Rows are condensed to Gram matrices by fold and joint, so a cause
costs one small solve per fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.missing import Candidate
from diffpbd.runtime.causes.run import Table, normal

__all__ = ["MARGIN", "WORTH", "Grams", "Winner", "condensed", "pieces", "won"]

WORTH = 0.1
"""[1] Least reduction of a joint's cross-validated RMS for a cause to be named."""
MARGIN = 0.1
"""[1] Least relative excess of every rival's RMS over the winner's."""
FOLDS = 6
"""[1] Number of folds: recordings, or parts of a single one."""
FEWEST = 3
"""[1] Least number of recordings for folds of whole recordings."""
SLACK = 0.02
"""[1] Further margin for causes with more columns, relative to the RMS before: they explain that much of anything."""
UNREAD = 1e-150
"""[N·m or N] A joint with less torque has no sensor and no weight; larger squares do not underflow."""


@dataclass(frozen=True)
class Winner:
    """The winning cause, the joints that it improves, its coefficient, and the cross-validated RMS (n,) [N·m or N] without and
    with it; `rival`: the next best one of another kind, with its score."""

    cause: Candidate
    joints: tuple[int, ...]
    figure: float
    before: FloatArray
    after: FloatArray
    rival: Candidate | None
    beside: FloatArray


class Grams:
    """Squares (folds, n, columns + 1, columns + 1) of all columns with the residual as the last, and counts (folds, n)."""

    def __init__(
        self, squares: FloatArray, counts: FloatArray, fitted: npt.NDArray[np.intp], floor: FloatArray
    ) -> None:
        self.squares, self.counts, self.fitted, self.floor = squares, counts, fitted, floor
        self.total = squares.sum(axis=0)
        alone = np.sqrt(self.total[:, -1, -1] / np.maximum(counts.sum(axis=0), 1.0))
        scale = np.maximum(alone, floor)
        self.weight = 1.0 / np.where(scale > UNREAD, scale, np.inf) ** 2

    def left(self, columns: npt.NDArray[np.intp]) -> FloatArray:
        """Mean squares (folds, n) of each fold with coefficients of the others."""
        own = np.append(columns, self.squares.shape[-1] - 1)
        part = self.squares[:, :, own[:, None], own]
        whole = part.sum(axis=0)
        result = np.zeros(self.counts.shape)
        for f, block in enumerate(part):
            c = np.append(normal(self.weight, whole - block), -1.0)
            result[f] = np.maximum(np.einsum("i,jik,k->j", c, block, c), 0.0)
        return result / np.maximum(self.counts, 1.0)

    def coefficients(self, columns: npt.NDArray[np.intp]) -> FloatArray:
        """By all folds."""
        return self.solved(self.total, columns)

    def figure(self, cause: Candidate, fitted: npt.NDArray[np.intp]) -> float:
        """Coefficient of a cause besides fitted columns, by all folds."""
        told = np.union1d(fitted, cause.columns[:1] if cause.cause.first_alone else cause.columns)
        return float(self.coefficients(told)[np.searchsorted(told, cause.columns[0])])

    def solved(self, squares: FloatArray, columns: npt.NDArray[np.intp]) -> FloatArray:
        """Coefficients of columns by some of the squares (n, columns + 1, columns + 1)."""
        own = np.append(columns, squares.shape[-1] - 1)
        return normal(self.weight, squares[:, own[:, None], own])

    def rms(self, left: FloatArray) -> FloatArray:
        """Of all folds (n,), floor included."""
        mean = (left * self.counts).sum(axis=0) / np.maximum(self.counts.sum(axis=0), 1.0)
        return np.asarray(np.hypot(np.sqrt(mean), self.floor), dtype=np.float64)


def pieces(tables: Sequence[Table]) -> list[tuple[int, int, npt.NDArray[np.intp]]]:
    """Fold, index of the table and rows of every part that is left out."""
    found = []
    for k, table in enumerate(tables):
        rows = np.arange(len(table.residual))
        if len(tables) >= FEWEST:
            found.append((k % FOLDS, k, rows))
        else:
            found += [(f, k, part) for f, part in enumerate(np.array_split(rows, FOLDS))]
    return found


def condensed(tables: Sequence[Table], fitted: npt.NDArray[np.intp], floor: FloatArray) -> Grams:
    """Folds are recordings, or stretches of them where these are fewer than three."""
    parts = pieces(tables)
    folds = 1 + max(f for f, _, _ in parts)
    n, count = tables[0].residual.shape[1], tables[0].columns.shape[-1]
    squares, counts = np.zeros((folds, n, count + 1, count + 1)), np.zeros((folds, n))
    for f, at, rows in parts:
        table = tables[at]
        for j in range(n):
            block = np.column_stack([table.columns[rows, j], table.residual[rows, j]])
            weight = table.weights[rows, j]
            squares[f, j] += (block * weight[:, None]).T @ block
            counts[f, j] += weight.sum()
    return Grams(squares, counts, fitted, floor)


def won(
    grams: Grams, causes: Sequence[Candidate], judged: Sequence[int], possible: Callable[[Candidate, float], bool],
    nameable: Callable[[Candidate], bool] = lambda _: True,
) -> Winner | None:  # fmt: skip
    """The best cause, or None if none improves enough or two are similar. One that is not `nameable` can only be a rival."""
    none = grams.left(grams.fitted)
    before = grams.rms(none)
    tried = []
    for cause in causes:
        columns = np.union1d(grams.fitted, cause.columns)
        left = grams.left(columns)
        after = grams.rms(left)
        helped = tuple(j for j in judged if after[j] < (1.0 - WORTH) * before[j] and _steady(none[:, j], left[:, j]))
        tried.append(_Tried(cause, helped, grams.figure(cause, grams.fitted), after))
    tried = [own for own in tried if possible(own.cause, own.figure)]  # impossible ones are no rivals
    for own in sorted(
        (t for t in tried if t.helped and nameable(t.cause)),
        key=lambda t: (t.cause.cause.rank, t.score(before, judged)),
    ):
        score = own.score(before, own.helped)
        rivals = sorted((t for t in tried if not own.cause.same(t.cause)), key=lambda t: t.score(before, own.helped))
        if all(t.score(before, own.helped) >= _least(own.cause, t.cause, score) for t in rivals):
            near = next((t for t in rivals if t.cause.cause.rank <= own.cause.cause.rank), None)
            return Winner(
                own.cause, own.helped, own.figure, before, own.after,
                None if near is None else near.cause, before if near is None else near.after,
            )  # fmt: skip
    return None


@dataclass(frozen=True)
class _Tried:
    cause: Candidate
    helped: tuple[int, ...]
    figure: float
    after: FloatArray

    def score(self, before: FloatArray, joints: Sequence[int]) -> float:
        """Ratio of the RMS at these joints to that before [1]."""
        own = list(joints)
        return float(np.sqrt(((self.after[own] / before[own]) ** 2).mean()))


def _steady(without: FloatArray, left: FloatArray) -> bool:
    """Whether a cause helps in all folds but one in six."""
    return int((left >= without).sum()) <= len(left) // FOLDS


def _least(cause: Candidate, other: Candidate, score: float) -> float:
    """Least score of a rival for a cause with `score` to win, both relative to the RMS before.

    A rival of lower priority has more columns or resembles this cause, so it must explain more.
    """
    if other.cause.rank > cause.cause.rank:
        return (1.0 - MARGIN) * score - SLACK
    return (1.0 + MARGIN) * score
