"""Medians on one core. Every measurement is taken right after the same one of the baseline: A B A B."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.row import KEYS, Row, Timer
from benchmarks.states import H

SLICE_US = 2000.0
"""Length of one uninterrupted measurement: short beside a scheduler's second, long beside the clock's resolution."""
ROUNDS = 31


@dataclass(frozen=True)
class Timing:
    """Median and least time [us]; medians over the rounds of the ratios to the baseline's and to the row's own step."""

    median: float
    least: float
    ratio: float
    to_step: float


def pin_to_one_core() -> int | None:
    """Keep this process on one core; its number, or None where the system has no such call."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def calls_in_a_slice(timer: Timer, h: float) -> int:
    timer(h, 3)  # the first calls find cold caches
    return max(1, int(SLICE_US / max(timer(h, 3), 1e-3)))


def measure(rows: list[Row], baseline: Row, say: Callable[[str], None], rounds: int) -> dict[str, dict[str, Timing]]:
    """Timings by row and key."""
    calls = {(r.name, k): calls_in_a_slice(t, H) for r in rows for k, t in r.timed.items()}
    taken: dict[tuple[str, str], list[tuple[float, float, float]]] = {key: [] for key in calls}
    for turn in range(rounds):
        say(f"timing, round {turn + 1} of {rounds}")
        for row in rows:
            own = 0.0
            for key, timer in row.timed.items():
                same = "gradient" if key == "pullback" else key
                other = baseline.timed[same](H, calls[baseline.name, same])
                mine = timer(H, calls[row.name, key])
                own = mine if key == "step" else own
                taken[row.name, key].append((mine, other, own))
    result: dict[str, dict[str, Timing]] = {row.name: {} for row in rows}
    for (name, key), values in taken.items():
        mine, other, own = np.array(values).T
        middle = (float(np.median(x)) for x in (mine, mine / other, mine / own))
        result[name][key] = Timing(next(middle), float(mine.min()), *middle)
    return {name: {k: timings[k] for k in KEYS if k in timings} for name, timings in result.items()}


def step_time(timer: Timer, h: float, rounds: int = 7) -> float:
    """Median time [us] of a step of `h` (an iterative step costs less when it is short)."""
    calls = calls_in_a_slice(timer, h)
    return float(np.median([timer(h, calls) for _ in range(rounds)]))
