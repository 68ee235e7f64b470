"""A fitted recording, and whether what the fit leaves of it is the same from its begin to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.cause import Cause
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.sensors import sensed

if TYPE_CHECKING:
    from diffpbd.runtime.logs.processing import Samples  # scipy

__all__ = ["SPLITS", "Run", "Table", "Unsteady", "normal"]

SPLITS = 40
"""[1] Stretches of a recording at whose ends something may change."""
WORTH = 0.02
"""[1] Least residual, as part of the torque's deviation, that is looked into."""
FEWEST = 30
"""[1] Samples for each column, from which a recording is fitted by itself."""
RIDGE = 1e-9
"""[1] Ridge relative to the squares of columns, for directions that the recordings do not determine."""


@dataclass(frozen=True)
class Table:
    """One recording: filtered `columns` (samples, n, columns), the residual (samples, n) [N·m or N] of what was fitted,
    `predicted` (samples, n), weights (samples, n), and time (samples,) [s]."""

    columns: FloatArray
    residual: FloatArray
    predicted: FloatArray
    weights: FloatArray
    samples: Samples


def normal(weight: FloatArray, squares: FloatArray) -> FloatArray:
    """Coefficients (k,) of least squares, from the squares (n, k + 1, k + 1) of columns with the residual as the last."""
    together = np.tensordot(weight, squares, axes=1)
    H, h = together[:-1, :-1], together[:-1, -1]
    scale = np.sqrt(np.diag(H))
    scale = np.where(scale > 0.0, scale, 1.0)
    square = H / np.outer(scale, scale) + RIDGE * np.eye(len(H))
    return np.asarray(np.linalg.solve(square, h / scale) / scale, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Run:
    """A recording from its begin to its end: a table of the columns that were fitted, columns (samples, n, k) of a load that
    may be missing, and the `begin` [s] of the whole of which it is a part."""

    robot: Robot
    table: Table
    load: FloatArray | None
    begin: float

    @property
    def name(self) -> str:
        """The recording's."""
        return self.table.samples.recording

    @cached_property
    def time(self) -> FloatArray:
        """Time (samples,) [s] since its begin."""
        return self.table.samples.trimmed(self.table.samples.time) - self.begin

    @cached_property
    def columns(self) -> FloatArray:
        """Fitted columns (samples, n, k + 1) with the residual as the last."""
        return np.concatenate([self.table.columns, self.table.residual[..., None]], axis=-1)

    @cached_property
    def edges(self) -> npt.NDArray[np.intp]:
        """Rows at which stretches begin, and the end."""
        return np.linspace(0, len(self.time), SPLITS + 1).astype(np.intp)

    @cached_property
    def squares(self) -> FloatArray:
        """Squares (stretches, n, k + 1, k + 1) of these columns."""
        parts = [self.columns[a:b] for a, b in zip(self.edges, self.edges[1:], strict=False)]
        return np.array([np.einsum("sjk,sjl->jkl", part, part) for part in parts])

    @cached_property
    def weight(self) -> FloatArray:
        """Of joints (n,): one over the mean square of what is left."""
        size = (self.table.residual**2).mean(axis=0)
        return np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)

    def left(self, squares: FloatArray) -> FloatArray:
        """Squares (n,) that the columns leave of such sums (n, columns + 1, columns + 1)."""
        x = np.append(normal(self.weight, squares), -1.0)
        return np.asarray(np.maximum(np.einsum("k,jkl,l->j", x, squares, x), 0.0), dtype=np.float64)

    @cached_property
    def judged(self) -> list[int]:
        """Joints with a sensor at which more than a little is left; none of a recording too short to be fitted by itself."""
        if len(self.time) < max(FEWEST * self.table.columns.shape[-1], SPLITS):
            return []
        read, left = self.table.predicted + self.table.residual, np.sqrt((self.table.residual**2).mean(axis=0))
        joints = self.robot.joints
        return [j for j in range(len(joints)) if joints[j] in sensed(self.robot) and left[j] > WORTH * read[:, j].std()]

    def unit(self, j: int) -> str:
        """Unit of a joint's torque."""
        return self.robot.manifest.robot.joints[j].effort_unit


class Unsteady(Cause):
    """A cause that acts in a part of a recording, or in one recording and not in another; told before those that act always."""

    def of(self, run: Run) -> str | None:
        """A sentence on a recording that it acts in."""
        raise NotImplementedError

    def told(self, runs: Sequence[Run]) -> Iterator[tuple[str, list[Run]]]:
        """Sentences, and the recordings that they tell of."""
        for run in runs:
            if (sentence := self.of(run)) is not None:
                yield sentence, [run]
