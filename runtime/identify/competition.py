"""Causes that compete on recordings left out: which of them explains in N·m what the model that was fitted leaves.

Each cause is a few columns beside the fitted ones. Without one fold of the recordings in turn all coefficients are found by
least squares, and judged by the torque of that fold in the units that were recorded. Rows are condensed to their Gram matrices
by fold and joint, so a cause costs one small solve a fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.causes import LOAD, MASSES, TILT, Cause, Table

__all__ = ["MARGIN", "WORTH", "Grams", "Winner", "condensed", "normal", "pieces", "same", "won"]

WORTH = 0.1
"""[1] Part of a joint's RMS on recordings left out that a cause must take away to be named."""
MARGIN = 0.1
"""[1] By how much more every rival must leave there, as part of what the winner leaves."""
FOLDS = 6
"""[1] Parts that are left out in turn: recordings, or stretches of a single one."""
FEWEST = 3
"""[1] Recordings from which each is left out whole."""
RIDGE = 1e-9
"""[1] Beside the normalised squares of columns: keeps directions that the recordings do not determine where they are."""
SLACK = 0.02
"""[1] The same for causes of more columns, beside that margin: so much of what was left before they explain of anything."""
UNREAD = 1e-150
"""[N·m or N] A joint whose torque is below it has no sensor and no weight; the square of more is no underflow."""
ORDER = ("scale", TILT, LOAD, MASSES, "gain")
"""Kinds that yield to all others, and each to those before it."""


@dataclass(frozen=True)
class Winner:
    """The cause that won, the joints that it helps, its figure, and the RMS (n,) [N·m or N] on what was left out without it
    and with it; `rival` is the next best one of another kind, and what it leaves."""

    cause: Cause
    joints: tuple[int, ...]
    figure: float
    before: FloatArray
    after: FloatArray
    rival: Cause | None
    beside: FloatArray


def normal(weight: FloatArray, squares: FloatArray) -> FloatArray:
    """Coefficients (k,) of least squares, from the squares (n, k + 1, k + 1) of columns with the residual as the last."""
    together = np.tensordot(weight, squares, axes=1)
    H, h = together[:-1, :-1], together[:-1, -1]
    scale = np.sqrt(np.diag(H))
    scale = np.where(scale > 0.0, scale, 1.0)
    square = H / np.outer(scale, scale) + RIDGE * np.eye(len(H))
    return np.asarray(np.linalg.solve(square, h / scale) / scale, dtype=np.float64)


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

    def figure(self, cause: Cause, fitted: npt.NDArray[np.intp]) -> float:
        """What all folds say of a cause beside fitted columns."""
        told = np.union1d(fitted, cause.columns[:1] if cause.kind == LOAD else cause.columns)
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
    """Fold, number of the table and its rows of every part that is left out in turn."""
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
    grams: Grams, causes: Sequence[Cause], judged: Sequence[int], possible: Callable[[Cause, float], bool],
    nameable: Callable[[Cause], bool] = lambda _: True,
) -> Winner | None:  # fmt: skip
    """The cause that leaves least, where it wins; None where none is worth it or two are alike. One that is not `nameable` may
    be a rival only."""
    none = grams.left(grams.fitted)
    before = grams.rms(none)
    tried = []
    for cause in causes:
        columns = np.union1d(grams.fitted, cause.columns)
        left = grams.left(columns)
        after = grams.rms(left)
        helped = tuple(j for j in judged if after[j] < (1.0 - WORTH) * before[j] and _steady(none[:, j], left[:, j]))
        tried.append(_Tried(cause, helped, grams.figure(cause, grams.fitted), after))
    tried = [own for own in tried if possible(own.cause, own.figure)]  # what is impossible is no rival either
    for own in sorted(
        (t for t in tried if t.helped and nameable(t.cause)), key=lambda t: (_order(t.cause), t.rank(before, judged))
    ):
        score = own.score(before, own.helped)
        rivals = sorted((t for t in tried if not same(own.cause, t.cause)), key=lambda t: t.score(before, own.helped))
        if all(t.score(before, own.helped) >= _least(own.cause, t.cause, score) for t in rivals):
            near = next((t for t in rivals if _order(t.cause) <= _order(own.cause)), None)
            return Winner(
                own.cause, own.helped, own.figure, before, own.after,
                None if near is None else near.cause, before if near is None else near.after,
            )  # fmt: skip
    return None


@dataclass(frozen=True)
class _Tried:
    cause: Cause
    helped: tuple[int, ...]
    figure: float
    after: FloatArray

    def score(self, before: FloatArray, joints: Sequence[int]) -> float:
        """What is left at these joints, as part of what was [1]."""
        own = list(joints)
        return float(np.sqrt(((self.after[own] / before[own]) ** 2).mean()))

    def rank(self, before: FloatArray, judged: Sequence[int]) -> float:
        """The same at all that are judged."""
        return self.score(before, judged)


def _steady(without: FloatArray, left: FloatArray) -> bool:
    """Whether a cause helps in all folds but one in six."""
    return int((left >= without).sum()) <= len(left) // FOLDS


def same(cause: Cause, other: Cause) -> bool:
    """Whether two are one cause, in several sizes."""
    return cause.kind.split()[0] == other.kind.split()[0] and cause.joint == other.joint


def _order(cause: Cause) -> int:
    """Single columns first, then what has many, a gain last: it is what a load, or masses that are off, look like."""
    return ORDER.index(cause.kind) if cause.kind in ORDER else -1


def _least(cause: Cause, other: Cause, score: float) -> float:
    """What a rival must leave at least where the cause leaves `score`, both as parts of what was left before.

    A rival that comes later explains what this one does because it has more columns, or looks like it: it must explain more.
    """
    if _order(other) > _order(cause):
        return (1.0 - MARGIN) * score - SLACK
    return (1.0 + MARGIN) * score
