"""Closed poses of unequal rank, told apart: a singular pose of a motion, a pose in which nothing moves, a motion of its own.

A loop may close in several ways. Where rows have a lower rank at a pose than at others, the poses beside it that are closed too
decide: if they have more, or there are none, it is a singular pose; if they have the same, it is a motion, and the higher rank
belongs to another one or to poses in which nothing moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from diffpbd.codegen.graph.loops.motion import free, walk
from diffpbd.codegen.graph.loops.poses import SEED, Probe

RANK: Final = 1e-6
"""[1] Singular value, as part of the largest, from which a row counts."""
IDLE: Final = 1e-9
"""[1] Singular value of rows that no motion changes."""
BESIDE: Final = 0.1
"""[rad or m] Length of a stride to poses beside one."""
LOOKS: Final = 6
"""Directions in which poses beside one are looked for."""

Array = Any


@dataclass(frozen=True)
class Branches:
    """`poses` of a motion with `rank` independent rows everywhere; others that are `singular` or `rigid`; poses of another
    motion of another rank, by rank (`other`)."""

    poses: list[Array]
    rank: int
    singular: tuple[Array, ...] = ()
    rigid: tuple[Array, ...] = ()
    other: tuple[tuple[int, Array], ...] = ()


def rank_at(probe: Probe, p: Array) -> int:
    """How many rows are independent at a pose."""
    s = probe.spectrum(p)
    return int((s > max(RANK * s[0], IDLE)).sum())


def branches(probe: Probe, poses: Sequence[Array], ranks: Sequence[int]) -> Branches:
    """The motion that closed poses with these ranks belong to: of several the one with more poses, the others named."""
    n, most = len(poses[0]), max(ranks)
    if min(ranks) == most:
        return Branches(list(poses), most)
    by_rank: dict[int, list[Array]] = {}
    singular, rigid = list[Array](), list[Array]()
    for p, rank in zip(poses, ranks, strict=True):
        if rank == n:
            rigid.append(p)
            continue
        beside = _beside(probe, p, rank) if rank < most else [rank]
        if not beside or max(beside) > rank:
            singular.append(p)
        else:
            by_rank.setdefault(rank, []).append(p)
    if not by_rank:
        return Branches(rigid or list(poses), most, tuple(singular))
    rank = max(by_rank, key=lambda k: len(by_rank[k]))
    other = tuple((k, found[0]) for k, found in by_rank.items() if k != rank)
    return Branches(by_rank[rank], rank, tuple(singular), tuple(rigid), other)


def _beside(probe: Probe, p: Array, rank: int) -> list[int]:
    """Ranks at closed poses a stride from p, where there are some."""
    rng, found = np.random.default_rng(SEED), list[int]()
    ways = free(probe, p, rank)
    for _ in range(LOOKS):
        way = rng.standard_normal(len(ways)) @ ways
        beside = next(walk(probe, p, way / np.linalg.norm(way), BESIDE), None)
        if beside is not None:
            found.append(rank_at(probe, beside))
    return found
