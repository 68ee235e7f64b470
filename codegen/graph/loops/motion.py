"""Closed poses along the motion of a robot's loops, and rows that stay independent all the way.

Closed poses from seeded starts are a sample. A mechanism goes on between them, and there rows may depend on each other while
all rows together are regular: that is a fault of the choice, no singular pose. So the choice is judged by the share

    σ(rows chosen) / σ(all rows)    of the singular values of number rank, rows scaled

at poses along the motion, with its minimum searched by descent. Poses where the mechanism itself is nearly singular say
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from diffpbd.codegen.graph.loops.poses import CLOSED, SEED, Probe, close, inside_limits

STRIDE: Final = 0.2
"""[rad or m] Length of a stride along the motion,"""
STRIDES: Final = 15
"""how many to either side,"""
WALKS: Final = 12
"""and from how many closed poses."""
SHARE: Final = 0.05
"""[1] Share of the rows chosen below which others are tried."""
SINGULAR: Final = 1e-4
"""[1] Singular value of number rank as part of the largest below which a pose is not asked."""
DESCENTS: Final = 25

Array = Any


@dataclass(frozen=True)
class Along:
    """Poses along the motion of loops with `rank` independent rows, of which the gradients are `stacked` (poses × rows × n) in
    scaled rows, and of those the singular value of number rank, `wanted` (poses)."""

    moving: Probe
    probe: Probe
    rank: int
    poses: list[Array]
    stacked: Array
    wanted: Array

    def shares(self, rows: Sequence[int]) -> Array:
        """Those of a choice at every pose."""
        return np.linalg.svd(self.stacked[:, list(rows)], compute_uv=False)[:, self.rank - 1] / self.wanted

    def least(self, rows: Sequence[int]) -> float:
        """The least of them."""
        return float(self.shares(rows).min())

    @property
    def count(self) -> int:
        """Number of all rows."""
        return len(self.probe.scale)

    def share(self, rows: Sequence[int], p: Array) -> float:
        """The share at any pose."""
        A = self.probe.gradient(p)
        s = np.linalg.svd(A, compute_uv=False)
        if s[self.rank - 1] < SINGULAR * s[0]:
            return 1.0
        return float(np.linalg.svd(A[list(rows)], compute_uv=False)[self.rank - 1] / s[self.rank - 1])


def free(probe: Probe, p: Array, rank: int) -> Array:
    """Directions (mobility × n) in which a closed pose moves."""
    return np.linalg.svd(probe.rows(p)[1])[2][rank:]


def walk(probe: Probe, p: Array, direction: Array, stride: float = STRIDE) -> Iterator[Array]:
    """Closed poses from p on, inside the limits, until the next one is not where it was looked for."""
    for _ in range(STRIDES):
        q, left = close(probe, p + stride * direction)
        way = q - p
        length = float(np.linalg.norm(way))
        if left >= CLOSED or not inside_limits(probe.robot, q) or not 0.1 * stride < length < 3.0 * stride:
            return
        p, direction = q, way / length
        yield q


def along(moving: Probe, poses: Sequence[Array], rank: int, probe: Probe) -> Along:
    """From every closed pose to both sides, in a seeded direction of those that are free; `moving` has the rows that are closed
    on the way, `probe` all of them."""
    rng, found = np.random.default_rng(SEED), list(poses)
    for p in poses[:WALKS]:
        ways = free(moving, p, rank)
        if len(ways):
            way = rng.standard_normal(len(ways)) @ ways
            for sign in (1.0, -1.0):
                found += walk(moving, p, sign * way / np.linalg.norm(way))
    return _stacked(moving, probe, rank, found)


def _stacked(moving: Probe, probe: Probe, rank: int, poses: Sequence[Array]) -> Along:
    stacked = np.array([probe.gradient(p) for p in poses])
    s = np.linalg.svd(stacked, compute_uv=False)
    asked = s[:, rank - 1] >= SINGULAR * s[:, 0]
    asked |= ~asked.any()
    own = [p for p, kept in zip(poses, asked, strict=True) if kept]
    return Along(moving, probe, rank, own, stacked[asked], s[asked, rank - 1])


def exchanged(order: list[int], count: int, value: Callable[[list[int]], float], wanted: float) -> list[int]:
    """The rows, exchanged one by one for better ones of `count` while their value is below what is wanted."""
    best = value(order)
    while best < wanted:
        others = [k for k in range(count) if k not in order]
        swaps = [[*order[:k], other, *order[k + 1 :]] for k in range(len(order)) for other in others]
        found = max(((value(rows), rows) for rows in swaps), default=(0.0, order), key=lambda pair: pair[0])
        if found[0] <= best:
            break
        best, order = found
    return order


def regular(way: Along, order: list[int]) -> tuple[list[int], float, Array]:
    """Rows that stay independent, their least share, and where; `order` where it does."""
    for _ in range(4):
        order = exchanged(order, way.count, way.least, SHARE)
        shares = way.shares(order)
        least, where = float(shares.min()), way.poses[int(shares.argmin())]
        if least > 0.999:
            break
        starts = [way.poses[k] for k in np.argsort(shares)[:4]]
        found = lowest(way.moving, starts, way.rank, partial(way.share, tuple(order)))
        if found[0] > 0.5 * least or found[0] > SHARE:
            return order, min(least, found[0]), found[1]
        way = _stacked(way.moving, way.probe, way.rank, [*way.poses, found[1]])
        least, where = found
    return order, least, where


def completed(way: Along, order: Sequence[int]) -> list[int]:
    """The rows and as few others as are regular together, to be chosen among at every pose."""
    rows = list(order)
    while way.least(rows) < SHARE and len(rows) < way.count:
        others = [k for k in range(way.count) if k not in rows]
        rows.append(max(others, key=lambda k: way.least([*rows, k])))
    return rows


def lowest(probe: Probe, poses: Sequence[Array], rank: int, value: Callable[[Array], float]) -> tuple[float, Array]:
    """The least value over the mechanism's motions inside the limits, searched from closed poses by descent along what the
    rows leave free; and its pose."""
    least, where = np.inf, poses[0]
    for p in poses:
        here, step = value(p), 0.3
        for _ in range(DESCENTS):
            ways = free(probe, p, rank)
            slope = [(value(p + 1e-5 * d) - value(p - 1e-5 * d)) / 2e-5 for d in ways]
            direction = -np.array(slope) @ ways
            size = float(np.linalg.norm(direction))
            if size == 0.0 or step < 1e-4:
                break
            q, left = close(probe, p + step * direction / size)
            if left < CLOSED and inside_limits(probe.robot, q) and value(q) < here:
                p, here = q, value(q)
            else:
                step *= 0.5
        if here < least:
            least, where = here, p
    return least, where
