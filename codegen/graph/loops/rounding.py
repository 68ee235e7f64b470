"""Loops whose numbers are rounded: rows that only the last printed digits make independent, or keep from closing.

Where a planar loop stands skew in space, numbers of d digits are a mechanism that is off an exact one by 10⁻ᵈ: what held by
itself is open by as much, or closes at single poses, in which nothing could move. Such rows show singular values far below
all others, and stay open by little wherever the others are closed. They are dropped, and their gap is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from diffpbd.codegen.graph.loops.poses import CLOSED, FEWEST, STARTS, Probe, close, starts

ROUNDED: Final = 1e-3
"""[1] Singular value as part of the largest, and gap as part of a loop's size, up to which rounding may be their reason: ten
times what four printed digits leave."""
EXACT: Final = 1e-11
"""[1] Gap as part of a loop's size that computing leaves."""
BEYOND: Final = 10.0
"""[1] A dropped row may be open by so many times the largest gap that was found: the search sees a sample of the motion."""

Array = Any


@dataclass(frozen=True)
class Rounded:
    """Poses that close the rows of `probe`, which are those kept by `order`; the largest `gaps` of every row there."""

    probe: Probe
    poses: list[Array]
    order: list[int]
    gaps: Array


def rank_of(s: Array, part: float) -> int:
    """How many singular values are above a part of the largest."""
    return int((s > part * s[0]).sum()) if len(s) and s[0] > 0.0 else 0


def rounded(probe: Probe, select: Any) -> Rounded | None:
    """The mechanism that a loop with rounded numbers is near, or None; `select` orders stacked rows for a rank."""
    near: list[Array] = []
    for k, start in enumerate(starts(probe)):
        if k >= STARTS // 2 and len(near) >= FEWEST:
            break
        p, _ = close(probe, start, ROUNDED, ROUNDED**2)
        if float(np.abs(probe.scale * probe.rows(p)[0]).max()) < ROUNDED:
            near.append(p)
    if len(near) < FEWEST:
        return None
    stacked = [probe.gradient(p) for p in near]
    ranks = [rank_of(np.linalg.svd(A, compute_uv=False), ROUNDED) for A in stacked]
    rank = max(ranks)
    if rank in (0, len(probe.scale)):
        return None
    regular = [A for A, own in zip(stacked, ranks, strict=True) if own == rank]
    return closed_by(probe, select(regular, rank), near)


def closed_by(probe: Probe, order: list[int], near: Sequence[Array]) -> Rounded | None:
    """The poses that close the rows of `order`, and how far the others stay open there; None where they do not."""
    kept = probe.only(order)
    closed = [p for p, left in (close(kept, p) for p in near) if left < CLOSED]
    if len(closed) < FEWEST:
        return None
    gaps = np.max([np.abs(probe.rows(p)[0]) for p in closed], axis=0)
    if not EXACT < float((probe.scale * gaps).max()) < ROUNDED:
        return None
    return Rounded(kept, closed, order, np.where(np.isin(np.arange(len(gaps)), order), 0.0, gaps))
