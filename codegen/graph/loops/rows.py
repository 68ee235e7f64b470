"""Which rows of closed loops are kept: rank over closed poses, found by numbers when a robot is generated.

A planar hinge has five rows and two of them matter; Bennett's loop has five, of which two suffice where it is closed and
none is idle where it is not. So rows are not judged by their form but at closed poses: these are found from seeded starts, the
rank of all rows must be the same along a motion (`branches`), and as many rows are kept as it says, those that stay
independent all along it (`motion`); where none do, one or two more, chosen among at every pose. The others then hold by
themselves, as long as no parameter opens them: entries of alpha that would are not made symbolic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from diffpbd.codegen.description.report import Finding, quoted
from diffpbd.codegen.description.robot.robot import Loop, LoopType, Robot
from diffpbd.codegen.graph.loops import findings
from diffpbd.codegen.graph.loops.branches import RANK, Branches, branches, rank_at
from diffpbd.codegen.graph.loops.motion import SHARE, along, completed, exchanged, lowest, regular
from diffpbd.codegen.graph.loops.poses import CUT_OFF, FEWEST, Probe, closed_poses
from diffpbd.codegen.graph.loops.rounding import BEYOND, ROUNDED, closed_by, rank_of, rounded
from diffpbd.codegen.graph.model.model import Chosen
from diffpbd.codegen.laws.cuts import ROWS

DOUBTFUL: Final = 1e-9
"""[1] the part from which a row that counts as dependent is named as nearly so."""
LEAST_REGULARITY: Final = 1e-4
"""[1] Least singular value of the kept rows, as part of the largest, from which the first choice is taken."""
TINY: Final = 1e-300
"""[1] Singular value of rows that are zero."""
OPENS: Final = 1e-9
"""[m, 1 per unit] Change of dropped rows by a parameter from which it is not made symbolic."""

OFF: Final = 0.05
"""[m, 1] What is left at the nearest pose up to which a loop is taken for a mechanism that was written down wrongly."""

Array = Any


def choose(probe: Probe, every: bool = False, advise: bool = True, able: bool = True) -> Chosen:
    """Selects rows at closed poses. With `every` all are kept; where no selection is regular all along the motion and the
    step is `able` to choose among rows at every pose, more than the rank says are kept."""
    robot, n = probe.robot, len(probe.robot.independent)
    gap = float(np.abs(probe.rows(np.zeros(n))[0]).max())
    poses, nearest = closed_poses(probe)
    order, ways, fault = _exact(probe, poses, nearest)
    near, moving, opens = None, probe, OPENS
    if (fault is not None and fault.code != "loop-idle") or _nearly(probe, ways.poses, len(order)):
        near = rounded(probe, _first)
    if near is not None:
        order, poses, moving, opens = near.order, near.poses, near.probe, ROUNDED
    elif fault is not None:
        advice = remedies(probe) if advise and nearest[1] < OFF else ()
        return Chosen(rank=len(order), gap=gap, faults=(findings.advised(fault, advice),))
    else:
        poses = ways.poses
    rank = len(order)
    way = along(moving, poses, rank, probe)
    order, share, weak = regular(way, order)
    if near is not None and set(order) != set(near.order):
        near = closed_by(probe, order, near.poses) or near
        order, poses, moving = near.order, near.poses, near.probe
    own, kept = _by_loop(robot, order), list(order)
    if every:
        kept = list(range(way.count))
    elif share < SHARE and able and near is None:
        kept = completed(way, order)
    least, where = _least(moving, poses, rank)
    opening = tuple(name for name, by in zip(probe.entries, _openings(probe, poses, opens), strict=True) if by > opens)
    doubts = [*findings.doubts(robot, n - rank, opening, least, where), *findings.ways(robot, ways)]
    if share < SHARE and len(kept) == rank:
        doubts.append(findings.weak(robot, share, weak))
    if near is not None:
        doubts.insert(0, findings.rounded(robot, near.gaps))
    slack = () if near is None else tuple((BEYOND * near.gaps).tolist())
    return Chosen(_by_loop(robot, kept), rank, n - rank, gap, least, opening, (), tuple(doubts), own, slack)


def _exact(
    probe: Probe, poses: Sequence[Array], nearest: tuple[Array, float]
) -> tuple[list[int], Branches, Finding | None]:
    """The rows that a loop of exact numbers keeps, as many as its rank, and the poses of its motion; or what is wrong."""
    robot = probe.robot
    if len(poses) < FEWEST:
        return [], Branches(list(poses), 0), findings.open_loop(probe, nearest, len(poses))
    ranks = [rank_at(probe, p) for p in poses]
    ways = branches(probe, poses, ranks)
    rank = ways.rank
    if rank == 0:
        return [], ways, findings.idle(robot)
    if ways.other:
        return [0] * rank, ways, findings.uneven(robot, ways)
    stacked = [probe.gradient(p) for p in ways.poses]
    spectra = [np.linalg.svd(A, compute_uv=False) for A in stacked]
    doubtful = max((float(s[rank] / s[0]) for s in spectra if len(s) > rank), default=0.0)
    if doubtful > DOUBTFUL:
        return [0] * rank, ways, findings.dependent(robot, doubtful)
    order = _first(stacked, rank)
    share = _regularity(stacked, order)
    return order, ways, findings.dependent(robot, share) if share < RANK else None


def _nearly(probe: Probe, poses: Sequence[Array], rank: int) -> bool:
    """Whether the rank is owed to singular values that are small at every pose."""
    return max((rank_of(probe.spectrum(p), ROUNDED) for p in poses), default=rank) < rank


def remedies(probe: Probe) -> tuple[str, ...]:
    """Changes of type, and loops to leave out, that were tried on this description and make it one that is taken."""
    robot, found = probe.robot, list[str]()
    for k, loop in enumerate(robot.loops):
        changes: list[tuple[str, Loop | None]] = (
            [(f"leave loop {quoted(loop.name)} out", None)] if len(robot.loops) > 1 else []
        )
        if loop.type is LoopType.HINGE:
            changes.insert(0, (f"use type ball for loop {quoted(loop.name)}", replace(loop, type=LoopType.BALL)))
        for what, other in changes:
            tried = choose(_changed(probe, k, other), advise=False)
            if not tried.faults and tried.mobility > 0:
                found.append(what)
    return tuple(found)


def _changed(probe: Probe, place: int, other: Loop | None) -> Probe:
    """A probe with another loop, of which the rows begin like those of the one that was there, or without it."""
    loops, own, first = list(probe.robot.loops), list[int](), 0
    for k, loop in enumerate(probe.robot.loops):
        count = len(ROWS[loop.type.value])
        taken = count if k != place else len(ROWS[other.type.value]) if other else 0
        own += range(first, first + taken)
        first += count
    loops[place : place + 1] = [other] if other else []
    return replace(probe.only(own), order=None, robot=replace(probe.robot, loops=tuple(loops)))


def _by_loop(robot: Robot, order: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    kept, first = [], 0
    for loop in robot.loops:
        count = len(ROWS[loop.type.value])
        kept.append(tuple(sorted(k - first for k in order if first <= k < first + count)))
        first += count
    return tuple(kept)


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


def _regularity(stacked: Sequence[Array], rows: Sequence[int]) -> float:
    """The least singular value of rows as part of the largest, over all poses."""
    s = np.linalg.svd(np.array(stacked)[:, list(rows)], compute_uv=False)
    return float((s[:, -1] / np.maximum(s[:, 0], TINY)).min())


def _first(stacked: Sequence[Array], rank: int) -> list[int]:
    """The rows that pivoting takes, exchanged for better ones where these are nearly dependent at some pose."""
    order = _pivoted(np.hstack(stacked), rank)
    return exchanged(order, len(stacked[0]), lambda rows: _regularity(stacked, rows), LEAST_REGULARITY)


def _openings(probe: Probe, poses: Sequence[Array], part: float) -> Array:
    """How far entries of alpha open rows in a way that no motion can take back, by singular values above a part."""
    worst = np.zeros(len(probe.entries))
    for p in poses:
        A, by = probe.rows(p)[1], probe.by_alpha(p)
        left = by - A @ (np.linalg.pinv(A, rcond=max(CUT_OFF, part)) @ by)
        worst = np.maximum(worst, np.abs(left).max(axis=0))
    return worst


def _least(probe: Probe, poses: Sequence[Array], rank: int) -> tuple[float, Array]:
    """The least singular value of rank of all rows over the mechanism's motions inside the limits; and its pose."""
    largest = max(probe.spectrum(p)[0] for p in poses)
    return lowest(probe, poses[:12], rank, lambda p: float(probe.spectrum(p)[rank - 1] / largest))
