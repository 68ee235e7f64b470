"""Which rows of closed loops are kept: rank over closed poses, found by numbers when a robot is generated.

A planar hinge has five rows and two of them matter; Bennett's loop has five, of which two suffice where it is closed and
none is idle where it is not. So rows are not judged by their form but at closed poses: these are found from seeded starts, the
rank of all rows must be the same at each, and as many rows are kept as it says, those that stay best conditioned. The others
then hold by themselves, as long as no parameter opens them: entries of alpha that would are not made symbolic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from diffpbd.codegen.description.report import Finding, listed, quoted
from diffpbd.codegen.description.rigid import norm, triad_of
from diffpbd.codegen.description.robot import Loop, Robot
from diffpbd.codegen.joint_space.closures import ROWS

STARTS: Final = 40
"""Seeded starts of the search for closed poses."""
FEWEST: Final = 8
"""Closed poses without which nothing is said of the rank."""
CLOSED: Final = 1e-12
"""[m, 1] Residual of a closed pose."""
NEARLY_CLOSED: Final = 1e-5
"""[m, 1] Residual up to which anchors are taken for wrong in their last printed digits."""
FAR: Final = 0.3
"""[rad or m] Longest change of a coordinate in one iteration."""
ITERATIONS: Final = 200
CUT_OFF: Final = 1e-7
"""[1] Singular values below this part of the largest are taken for zero while a loop is being closed."""
RANK: Final = 1e-6
"""[1] The same when the rank is counted, and"""
DOUBTFUL: Final = 1e-9
"""[1] the part from which a row that counts as dependent is named as nearly so."""
WORST_CONDITION: Final = 1e4
"""[1] Condition of the kept rows over all closed poses up to which the first choice is taken."""
OPENS: Final = 1e-9
"""[m, 1 per unit] Change of dropped rows by a parameter from which it is not made symbolic."""
NEAR_SINGULAR: Final = 1e-3
"""[1] Least singular value, as part of the largest, below which a pose inside the limits is named."""
SEED: Final = 20261128

Array = Any


@dataclass(frozen=True)
class Probe:
    """All rows of a robot's loops as functions of the coordinates (n), at the defaults of alpha: `rows` gives g (m) and A
    (m × n), `by_alpha` ∂g/∂alpha (m × entries)."""

    robot: Robot
    rows: Callable[[Array], tuple[Array, Array]]
    by_alpha: Callable[[Array], Array]
    entries: tuple[str, ...]


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


def row_names(loop: Loop) -> tuple[str, ...]:
    """Names of all rows: axes of the cut frame by their letter where they lie along one."""
    axes = frame_of(loop)
    letters = {}
    for part, axis in zip(("1", "2", "axis"), axes, strict=True):
        along = [letter for letter, x in zip("xyz", axis, strict=True) if abs(x) == 1.0]
        letters[part] = along[0] if along else part
    names = []
    for row in ROWS[loop.type.value]:
        what, _, part = row.rpartition("_")
        names.append(f"{loop.name}.{what}_{letters[part]}" if what else f"{loop.name}.{row}")
    return tuple(names)


def frame_of(loop: Loop) -> tuple[tuple[float, ...], ...]:
    """The axes that the rows are written in, three vectors in the cut frame; the third is the axis of a hinge or a slide."""
    if loop.type.value not in ("hinge", "slide"):
        return ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    triad = triad_of(loop.axis)
    return triad[0:3], triad[3:6], triad[6:9]


def choose(probe: Probe) -> Chosen:
    """Selects rows at closed poses."""
    robot, n = probe.robot, len(probe.robot.independent)
    gap = float(np.abs(probe.rows(np.zeros(n))[0]).max())
    poses, nearest = _closed_poses(probe)
    if len(poses) < FEWEST:
        return Chosen(gap=gap, faults=(_open(probe, nearest, len(poses)),))
    scale = _scales(robot)
    spectra = [np.linalg.svd(scale[:, None] * probe.rows(p)[1], compute_uv=False) for p in poses]
    ranks = [int((s > RANK * s[0]).sum()) for s in spectra]
    rank = max(ranks)
    if min(ranks) < rank:
        return Chosen(rank=rank, gap=gap, faults=(_uneven(robot, poses, ranks),))
    doubtful = max((float(s[rank] / s[0]) for s in spectra if len(s) > rank), default=0.0)
    if doubtful > DOUBTFUL:
        return Chosen(rank=rank, gap=gap, faults=(_dependent(robot, doubtful),))
    stacked = [scale[:, None] * probe.rows(p)[1] for p in poses]
    order = _exchanged(stacked, _pivoted(np.hstack(stacked), rank))
    if _condition(stacked, order) > 1.0 / RANK:
        return Chosen(rank=rank, gap=gap, faults=(_dependent(robot, 1.0 / _condition(stacked, order)),))
    least, where = _least(probe, poses, scale, rank)
    opening = tuple(name for name, opens in zip(probe.entries, _openings(probe, poses), strict=True) if opens)
    doubts = tuple(_doubts(robot, n - rank, opening, least, where))
    return Chosen(_by_loop(robot, order), rank, n - rank, gap, least, opening, (), doubts)


def _by_loop(robot: Robot, order: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    kept, first = [], 0
    for loop in robot.loops:
        count = len(ROWS[loop.type.value])
        kept.append(tuple(sorted(k - first for k in order if first <= k < first + count)))
        first += count
    return tuple(kept)


def _bounds(robot: Robot) -> tuple[Array, Array]:
    """Where starts are drawn from: the limits, or a turn and a metre to either side."""
    joints = [robot.joints[i] for i in robot.independent]
    wide = [1.0 if j.type.unit == "m" else np.pi for j in joints]
    low = np.array([-w if j.lower is None else j.lower for j, w in zip(joints, wide, strict=True)])
    high = np.array([w if j.upper is None else j.upper for j, w in zip(joints, wide, strict=True)])
    return np.minimum(low, high), np.maximum(low, high)


def _inside(robot: Robot, p: Array) -> bool:
    joints = [robot.joints[i] for i in robot.independent]
    return all(
        (j.lower is None or x >= min(j.lower, j.upper if j.upper is not None else j.lower) - 1e-9)
        and (j.upper is None or x <= max(j.upper, j.lower if j.lower is not None else j.upper) + 1e-9)
        for j, x in zip(joints, p, strict=True)
    )


def close(probe: Probe, p: Array) -> tuple[Array, float]:
    """The closed pose nearest to p by Gauss-Newton with least change on all rows, and what is left."""
    best, left, step, change = p, np.inf, 1.0, np.zeros(len(p))
    for _ in range(ITERATIONS):
        g, A = probe.rows(p)
        size = float(np.linalg.norm(g))
        if size < left:
            best, left, step = p, size, min(1.0, 2.0 * step)
            change = -np.linalg.lstsq(A, g, rcond=CUT_OFF)[0]
        else:
            step *= 0.5
        longest = step * float(np.abs(change).max())
        if longest < 1e-15:
            break
        p = best + step * change * min(1.0, FAR / longest)
    return best, left


def _closed_poses(probe: Probe) -> tuple[list[Array], tuple[Array, float]]:
    rng, (low, high) = np.random.default_rng(SEED), _bounds(probe.robot)
    inside: list[Array] = []
    outside: list[Array] = []
    nearest = (np.zeros(len(low)), np.inf)
    for _ in range(STARTS):
        p, left = close(probe, rng.uniform(low, high))
        if left < nearest[1]:
            nearest = (p, left)
        if left < CLOSED:
            (inside if _inside(probe.robot, p) else outside).append(p)
    return (inside if len(inside) >= FEWEST else [*inside, *outside]), nearest


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
            if left < CLOSED and _inside(probe.robot, q) and value(q) < here:
                p, here = q, value(q)
            else:
                step *= 0.5
        if here < least:
            least, where = here, p
    return least, where


def _pose_text(robot: Robot, p: Array) -> str:
    return ", ".join(f"{robot.joints[i].name} = {x:.4g}" for i, x in zip(robot.independent, p, strict=True))


def _names(robot: Robot) -> tuple[str, str]:
    """A subject for a message, and its verb."""
    loops = [loop.name for loop in robot.loops]
    return (f"loop {quoted(loops[0])}", "does") if len(loops) == 1 else (f"loops {listed(loops)}", "do")


def _open(probe: Probe, nearest: tuple[Array, float], closed: int) -> Finding:
    robot, (p, left) = probe.robot, nearest
    residual, first = np.abs(probe.rows(p)[0]), 0
    worst = (robot.loops[0], 0.0, "")
    for loop in robot.loops:
        names = row_names(loop)
        own = residual[first : first + len(names)]
        first += len(names)
        if own.max() >= worst[1]:
            worst = (loop, float(own.max()), names[int(own.argmax())])
    loop, gap, row = worst
    unit = "m" if row.split(".")[-1].startswith(("gap", "distance")) else "rad"
    if unit == "m":  # the length of the gap, not its largest component
        gap = float(np.linalg.norm(_gaps(robot, probe.rows(p)[0])[robot.loops.index(loop)]))
    names = (loop.name, *(robot.joints[i].name for i in robot.independent))
    if CLOSED <= left < NEARLY_CLOSED:
        message = (
            f"loop {quoted(loop.name)}: its rows are nearly dependent: anchors look off by about {gap:.2g} {unit} "
        )
        message += f"({row}) from an exact mechanism; correct them, or use type ball"
        return Finding("loop-rows", message, (), names, (("gap", gap),))
    message = f"loop {quoted(loop.name)} does not close: nearest pose has a gap of {gap:.3g} {unit} ({row}; "
    message += f"{_pose_text(robot, p)}); check its anchors; {closed} of {STARTS} starts closed, {FEWEST} are needed"
    return Finding("loop-open", message, (), names, (("gap", gap), ("closed", float(closed))))


def _gaps(robot: Robot, g: Array) -> list[Array]:
    """The rows of every loop that are lengths."""
    found, first = [], 0
    for loop in robot.loops:
        own = [first + k for k, row in enumerate(ROWS[loop.type.value]) if row.startswith(("gap", "distance"))]
        first += len(ROWS[loop.type.value])
        found.append(g[own])
    return found


def _uneven(robot: Robot, poses: Sequence[Array], ranks: Sequence[int]) -> Finding:
    subject, _ = _names(robot)
    rank, least = max(ranks), min(ranks)
    at = _pose_text(robot, poses[ranks.index(least)])
    message = (
        f"{subject}: rows have rank {rank} at most poses and {least} near {at} (a singular pose inside the limits): "
    )
    message += "narrow the limits"
    names = tuple(loop.name for loop in robot.loops)
    return Finding("loop-rank", message, (), names, (("rank", float(rank)), ("least_rank", float(least))))


def _dependent(robot: Robot, value: float) -> Finding:
    subject, _ = _names(robot)
    message = (
        f"{subject}: rows are nearly dependent (singular value {value:.2g} of the largest): anchors look off by about "
    )
    message += f"{value:.1g} m from an exact mechanism; correct them, or use type ball"
    names = tuple(loop.name for loop in robot.loops)
    return Finding("loop-rows", message, (), names, (("singular_value", value),))


def _doubts(robot: Robot, mobility: int, opening: tuple[str, ...], least: float, where: Array) -> Iterator[Finding]:
    names = tuple(loop.name for loop in robot.loops)
    subject, _ = _names(robot)
    if mobility == 0:
        yield Finding("immobile-loop", f"{subject} and its joints: nothing can move, mobility is 0", (), names)
    if mobility and least < NEAR_SINGULAR:
        message = f"{subject}: inside the limits lies a nearly singular pose, {_pose_text(robot, where)}: least singular value "
        message += f"{least:.2g} of the largest; a step through it ends in a status"
        yield Finding("loop-singular", message, (), names, (("singular_value", least),))
    if opening:
        message = f"{subject}: not made symbolic, because they would open the rows that hold by themselves: "
        message += listed(opening, 8)
        yield Finding("loop-opening", message, (), names)
