"""Finds inhomogeneous recordings: a torque offset that drifts or steps, or a span in which something else acted.

A recording is fitted once more by itself, with the columns of what was fitted, and with a drift, with a step at each of some
places, or without each of some spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.identify.causes.competition import normal
from diffpbd.runtime.identify.causes.tables import Table
from diffpbd.runtime.logs.cutting import cut_of
from diffpbd.runtime.logs.still_ends import still_ends
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.sensors import sensed

__all__ = ["unlike"]

SPLITS: Final = 40
"""[1] Stretches of a recording at whose ends something may change."""
EXPLAINED: Final = 0.5
"""[1] Part of what is left at a joint, in squares, that a drift or a step must explain."""
LONGEST: Final = 12
"""[1] Stretches of the longest span that something else acted in."""
GATHERED: Final = 0.6
"""[1] Part of a residual's squares in so many neighbouring stretches, from which spans are looked for."""
LEFT: Final = 0.12
"""[1] Mean square that the fit leaves outside of a span, as part of what it leaves with it, from which the span is named."""
SHORTER: Final = 0.03
"""[1] By how much more a span may leave for each stretch that it is shorter."""
WORTH: Final = 0.02
"""[1] Least residual, as part of the torque's deviation, that is looked into."""
RESTING: Final = 0.1
"""[1] Part of a recording at whose ends no joint moves, from which it is looked at."""
MOVING: Final = 0.25
"""[1] Mean square that the fit leaves without these ends, as part of what it leaves with them, from which it is said."""
FEWEST: Final = 30
"""[1] Samples for each column, from which a recording is fitted by itself."""


def unlike(robot: Robot, tables: Sequence[Table], fitted: npt.NDArray[np.intp]) -> list[str]:
    """Sentences on every recording, at most one each."""
    found = []
    for table in tables:
        if len(table.residual) < max(FEWEST * len(fitted), SPLITS):
            continue
        begin = min(float(t.samples.time[0]) for t in tables if t.samples.recording == table.samples.recording)
        own = _Parts.of(table, fitted)
        said = (
            next(_rest(robot, table, own), None)
            or next(_zeros(robot, table, own, begin), None)
            or next(_spans(robot, table, own, begin), None)
        )
        if said is not None:
            found.append(said)
    return found


def _rest(robot: Robot, table: Table, own: _Parts) -> Iterator[str]:
    """Ends at which no joint moves, without which far less is left."""
    s = table.samples
    ends = None if s.processing.still else still_ends(s.q, s.dq, s.rate)
    if ends is None or sum(ends) < RESTING * len(s.time):
        return
    within = np.zeros(len(s.time))
    within[ends[0] : len(s.time) - ends[1]] = 1.0
    moving = s.trimmed(within) > 0.0
    if moving.all() or not moving.any():
        return
    part = own.columns[moving]
    before = own.left(own.squares.sum(axis=0)) / len(moving)
    after = own.left(np.einsum("sjk,sjl->jkl", part, part)) / int(moving.sum())
    for j, joint in enumerate(robot.joints):
        if joint in sensed(robot) and _worth(table, j) and after[j] < MOVING * before[j]:
            unit = robot.manifest.robot.joints[j].effort_unit
            yield (
                f"{s.recording} is at rest for {ends[0] / s.rate:.3g} s at its start and {ends[1] / s.rate:.3g} s at its end, "
                f"where friction may take any value: without that the fit leaves {np.sqrt(after[j]):.2g} {unit} RMS at joint "
                f"{joint} in place of {np.sqrt(before[j]):.2g}, so no other cause is looked for. {arg.trim} still cuts these "
                "ends"
            )


@dataclass(frozen=True)
class _Parts:
    """Of the stretches of a recording: squares (stretches, n, columns + 1, columns + 1) of the fitted columns with the residual
    as the last; `edges` of rows; `weight` (n,)."""

    squares: FloatArray
    edges: npt.NDArray[np.intp]
    weight: FloatArray
    columns: FloatArray

    @staticmethod
    def of(table: Table, fitted: npt.NDArray[np.intp]) -> _Parts:
        y = table.residual
        columns = np.concatenate([table.columns[..., fitted], y[..., None]], axis=-1)
        edges = np.linspace(0, len(y), SPLITS + 1).astype(np.intp)
        squares = np.array(
            [np.einsum("sjk,sjl->jkl", columns[a:b], columns[a:b]) for a, b in zip(edges, edges[1:], strict=False)]
        )
        size = (y**2).mean(axis=0)
        return _Parts(squares, edges, np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0), columns)

    def left(self, squares: FloatArray) -> FloatArray:
        """Squares (n,) that the columns leave of such sums (n, columns + 1, columns + 1)."""
        x = np.append(normal(self.weight, squares), -1.0)
        return np.asarray(np.maximum(np.einsum("k,jkl,l->j", x, squares, x), 0.0), dtype=np.float64)


def _worth(table: Table, j: int) -> bool:
    read = table.predicted[:, j] + table.residual[:, j]
    return bool(np.sqrt((table.residual[:, j] ** 2).mean()) > WORTH * read.std())


def _zeros(robot: Robot, table: Table, own: _Parts, begin: float) -> Iterator[str]:
    """A drift or a step of a joint's zero."""
    time = table.samples.trimmed(table.samples.time)
    whole = own.squares.sum(axis=0)
    best: tuple[float, int, int] | None = None  # share, joint, edge (0: a drift)
    for j, joint in enumerate(robot.joints):
        if joint not in sensed(robot) or not _worth(table, j):
            continue
        before = _with(own, whole, j)[0]
        if before[j] <= 0.0:
            continue
        for k in range(SPLITS):
            if k in (1, SPLITS - 1):
                continue
            after, _ = _with(own, whole, j, _shape(own, time, k))
            share = 1.0 - float(after[j]) / float(before[j])
            if share > EXPLAINED and (best is None or share > best[0]):
                best = share, j, k
    if best is None:
        return
    share, j, k = best
    joint, unit = robot.joints[j], robot.manifest.robot.joints[j].effort_unit
    figure = _with(own, whole, j, _shape(own, time, k))[1]
    name, evidence = table.samples.recording, f"{100.0 * share:.0f} % of what is left there, in squares, go with it"
    if k == 0:
        rate = figure / (time[-1] - time[0])
        yield (
            f"joint {joint} reads as if its torque's zero drifted by {rate:.3g} {unit}/s in {name} ({evidence}), so no other "
            f"cause is looked for. {arg.drift} tau_{joint}={rate:.5g} takes it out"
        )
        return
    at, width = time[own.edges[k]] - begin, (time[-1] - time[0]) / SPLITS
    ends = (0.0, at + width) if 2.0 * at < time[-1] - begin else (at - width, float(time[-1]) - begin + 1.0)
    yield (
        f"joint {joint} reads as if its torque's zero stepped by {figure:.3g} {unit} at about {at:.3g} s of {name} "
        f"({evidence}), so no other cause is looked for. Fit the parts apart: {cut_of(name, *ends)}"
    )


def _shape(own: _Parts, time: FloatArray, edge: int) -> FloatArray:
    """Of a drift over the whole recording, from 0 to 1, or a step at an edge (samples,)."""
    if edge == 0:
        return np.asarray((time - time[0]) / (time[-1] - time[0]))
    return np.asarray(np.arange(len(time)) >= own.edges[edge], dtype=np.float64)


def _with(own: _Parts, whole: FloatArray, j: int, *shapes: FloatArray) -> tuple[FloatArray, float]:
    """What is left (n,) with an offset and shapes beside the fitted columns at a joint, and the last one's size [N·m or N]."""
    own_columns, count = own.columns[:, j], whole.shape[-1]
    more = np.column_stack([np.ones(len(own_columns)), *shapes])
    total = count + more.shape[1]
    wide = np.zeros((len(whole), total, total))
    keep, added = np.r_[0 : count - 1, total - 1], np.arange(count - 1, total - 1)
    wide[:, keep[:, None], keep] = whole
    across = own_columns.T @ more
    wide[j, keep[:, None], added] = across
    wide[j, added[:, None], keep] = across.T
    wide[j, added[:, None], added] = more.T @ more
    together = np.tensordot(own.weight, wide, axes=1)
    scale = np.sqrt(np.maximum(np.diag(together[:-1, :-1]), np.finfo(float).tiny))
    normal = together[:-1, :-1] / np.outer(scale, scale) + 1e-9 * np.eye(total - 1)
    return own.left(wide), float(np.linalg.solve(normal, together[:-1, -1] / scale)[-1] / scale[-1])


def _spans(robot: Robot, table: Table, own: _Parts, begin: float) -> Iterator[str]:
    """A span without which the fit explains the rest far better."""
    whole, counts = own.squares.sum(axis=0), np.diff(own.edges)
    before = own.left(whole) / counts.sum()
    each = own.squares[:, :, -1, -1]
    run = np.array([each[k : k + LONGEST].sum(axis=0) for k in range(SPLITS - LONGEST + 1)])
    judged = [
        j for j, joint in enumerate(robot.joints)
        if joint in sensed(robot) and _worth(table, j) and run[:, j].max() > GATHERED * each[:, j].sum()
    ]  # fmt: skip
    best: tuple[float, int, int, int] | None = None
    for length in range(1, LONGEST + 1) if judged else ():
        for k in range(SPLITS - length + 1):
            inside = slice(k, k + length)
            after = own.left(whole - own.squares[inside].sum(axis=0)) / (counts.sum() - counts[inside].sum())
            for j in judged:
                share = float(after[j] / before[j]) if before[j] > 0.0 else 1.0
                score = share * (1.0 + SHORTER * length)
                if share < LEFT and (best is None or score < best[0]):
                    best = score, j, k, k + length
    if best is None:
        return
    _, j, first, last = best
    after = own.left(whole - own.squares[first:last].sum(axis=0)) / (counts.sum() - counts[first:last].sum())
    time = table.samples.trimmed(table.samples.time) - begin
    ends = float(time[own.edges[first]]), float(time[min(own.edges[last], len(time) - 1)])
    unit, name = robot.manifest.robot.joints[j].effort_unit, table.samples.recording
    yield (
        f"joint {robot.joints[j]} reads as if something else acted on it from {ends[0]:.3g} to {ends[1]:.3g} s of {name}: a "
        f"contact, a brake, a sensor (without it the fit leaves {np.sqrt(after[j]):.2g} {unit} RMS in place of "
        f"{np.sqrt(before[j]):.2g}), so no other cause is looked for. Cut it out: {cut_of(name, *ends)}"
    )
