"""Which rows of closed loops are kept: rank over closed poses, found by numbers when a robot is generated.

A planar hinge has five rows and two of them matter; Bennett's loop has five, of which two suffice where it is closed and
none is idle where it is not. So rows are not judged by their form but at closed poses: these are found from seeded starts, the
rank of all rows must be the same at each, and as many rows are kept as it says, those that stay best conditioned. The others
then hold by themselves, as long as no parameter opens them: entries of alpha that would are not made symbolic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from diffpbd.codegen.description.report import Finding
from diffpbd.codegen.description.rigid import norm
from diffpbd.codegen.description.robot import Robot
from diffpbd.codegen.graph import loop_findings as findings
from diffpbd.codegen.graph.loop_poses import CLOSED, CUT_OFF, FEWEST, SEED, Probe, close, closed_poses, inside_limits
from diffpbd.codegen.laws.cuts import ROWS

RANK: Final = 1e-6
"""[1] The same when the rank is counted, and"""
IDLE: Final = 1e-9
"""[1] Singular value of rows that no motion changes."""
DOUBTFUL: Final = 1e-9
"""[1] the part from which a row that counts as dependent is named as nearly so."""
WORST_CONDITION: Final = 1e4
"""[1] Condition of the kept rows over all closed poses up to which the first choice is taken."""
BESIDE: Final = 0.1
"""[rad or m] How far from closed poses rows may be found to depend on each other by dimensions alone."""
OPENS: Final = 1e-9
"""[m, 1 per unit] Change of dropped rows by a parameter from which it is not made symbolic."""

Array = Any


@dataclass(frozen=True)
class Chosen:
    """`kept` rows of every loop, how many are independent, and the `mobility` that is left; alpha entries that would open
    dropped rows; faults and doubts. `gap` is the largest residual at the zero pose, `least` the smallest singular value of the
    rows inside the limits that a search found, as part of the largest."""

    kept: tuple[tuple[int, ...], ...] = ()
    rank: int = 0
    mobility: int = 0
    gap: float = 0.0
    least: float = 1.0
    opening: tuple[str, ...] = ()
    faults: tuple[Finding, ...] = ()
    doubts: tuple[Finding, ...] = ()
    independent: tuple[tuple[int, ...], ...] = ()
    """As many rows of every loop as are independent: the `kept` ones, but where all are."""


def choose(probe: Probe, every: bool = False) -> Chosen:
    """Selects rows at closed poses; `every` one of them is kept where they depend on each other by their form alone."""
    robot, n = probe.robot, len(probe.robot.independent)
    gap = float(np.abs(probe.rows(np.zeros(n))[0]).max())
    poses, nearest = closed_poses(probe)
    if len(poses) < FEWEST:
        return Chosen(gap=gap, faults=(findings.open_loop(probe, nearest, len(poses)),))
    scale = _scales(robot)
    spectra = [np.linalg.svd(scale[:, None] * probe.rows(p)[1], compute_uv=False) for p in poses]
    ranks = [int((s > max(RANK * s[0], IDLE)).sum()) for s in spectra]
    rank = max(ranks)
    if rank == 0:
        return Chosen(gap=gap, faults=(findings.idle(robot),))
    if min(ranks) < rank:
        return Chosen(rank=rank, gap=gap, faults=(findings.uneven(robot, poses, ranks),))
    doubtful = max((float(s[rank] / s[0]) for s in spectra if len(s) > rank), default=0.0)
    if doubtful > DOUBTFUL:
        return Chosen(rank=rank, gap=gap, faults=(findings.dependent(robot, doubtful),))
    stacked = [scale[:, None] * probe.rows(p)[1] for p in poses]
    order = _exchanged(stacked, _pivoted(np.hstack(stacked), rank))
    if _condition(stacked, order) > 1.0 / RANK:
        return Chosen(rank=rank, gap=gap, faults=(findings.dependent(robot, 1.0 / _condition(stacked, order)),))
    if every and (other := _rank_beside(probe, poses, scale)) > rank:
        return Chosen(rank=rank, gap=gap, faults=(findings.by_dimensions(robot, rank, other),))
    least, where = _least(probe, poses, scale, rank)
    opening = tuple(name for name, opens in zip(probe.entries, _openings(probe, poses), strict=True) if opens)
    doubts = tuple(findings.doubts(robot, n - rank, opening, least, where))
    own = _by_loop(robot, order)
    kept = _by_loop(robot, range(len(scale))) if every else own
    return Chosen(kept, rank, n - rank, gap, least, opening, (), doubts, own)


def _rank_beside(probe: Probe, poses: Sequence[Array], scale: Array) -> int:
    """The largest rank of the rows at poses beside closed ones."""
    rng, most = np.random.default_rng(SEED), 0
    for p in poses:
        s = np.linalg.svd(scale[:, None] * probe.rows(p + BESIDE * rng.standard_normal(len(p)))[1], compute_uv=False)
        most = max(most, int((s > RANK * s[0]).sum()))
    return most


def _by_loop(robot: Robot, order: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    kept, first = [], 0
    for loop in robot.loops:
        count = len(ROWS[loop.type.value])
        kept.append(tuple(sorted(k - first for k in order if first <= k < first + count)))
        first += count
    return tuple(kept)


def _scales(robot: Robot) -> Array:
    """One over the loop's size [1/m] for rows that are lengths, 1 for the others."""
    scales: list[float] = []
    for loop in robot.loops:
        lengths = [norm(loop.parent_translation), norm(loop.child_translation)]
        for link in (loop.parent, loop.child):
            while link >= 0:
                lengths.append(norm(robot.joints[link].translation))
                link = robot.joints[link].parent
        size = max(max(lengths), 1e-3)
        scales += [1.0 / size if row.startswith(("gap", "distance")) else 1.0 for row in ROWS[loop.type.value]]
    return np.array(scales)


def _pivoted(A: Array, rank: int) -> list[int]:
    """The first rows that elimination with pivoting takes (Gram-Schmidt, twice)."""
    left, order = A.astype(float).copy(), []
    for _ in range(rank):
        k = int(np.argmax(np.linalg.norm(left, axis=1)))
        order.append(k)
        unit = left[k] / np.linalg.norm(left[k])
        for _ in range(2):
            left = left - np.outer(left @ unit, unit)
        left[order] = 0.0
    return order


def _condition(stacked: Sequence[Array], rows: Sequence[int]) -> float:
    worst = 1.0
    for A in stacked:
        s = np.linalg.svd(A[list(rows)], compute_uv=False)
        worst = max(worst, float(s[0] / s[-1]) if s[-1] > 0.0 else np.inf)
    return worst


def _exchanged(stacked: Sequence[Array], order: list[int]) -> list[int]:
    """The rows, exchanged one by one for better ones while the worst condition is beyond what is taken."""
    best = _condition(stacked, order)
    while best > WORST_CONDITION:
        others = [k for k in range(len(stacked[0])) if k not in order]
        tried = [
            (_condition(stacked, swapped), swapped)
            for place in range(len(order))
            for k in others
            for swapped in [[*order[:place], k, *order[place + 1 :]]]
        ]
        found = min(tried, default=(np.inf, order), key=lambda pair: pair[0])
        if found[0] >= best:
            break
        best, order = found
    return order


def _openings(probe: Probe, poses: Sequence[Array]) -> Array:
    """Which entries of alpha change rows in a way that no motion can take back."""
    worst = np.zeros(len(probe.entries))
    for p in poses:
        A, by = probe.rows(p)[1], probe.by_alpha(p)
        left = by - A @ (np.linalg.pinv(A, rcond=CUT_OFF) @ by)
        worst = np.maximum(worst, np.abs(left).max(axis=0))
    return worst > OPENS


def _least(probe: Probe, poses: Sequence[Array], scale: Array, rank: int) -> tuple[float, Array]:
    """The least singular value of rank over the mechanism's motions inside the limits, searched from every closed pose by
    descent along what the rows leave free; and its pose."""

    def spectrum(p: Array) -> Array:
        return np.linalg.svd(scale[:, None] * probe.rows(p)[1], compute_uv=False)

    largest = max(spectrum(p)[0] for p in poses)

    def value(p: Array) -> float:
        return float(spectrum(p)[rank - 1] / largest)

    least, where = np.inf, poses[0]
    for p in poses[:12]:
        here, step = value(p), 0.3
        for _ in range(25):
            free = np.linalg.svd(probe.rows(p)[1])[2][rank:]
            slope = [(value(p + 1e-5 * d) - value(p - 1e-5 * d)) / 2e-5 for d in free]
            direction = -np.array(slope) @ free
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
