"""Cells of the batch benchmark: batches of one arm, and a row measured from the smallest batch on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.standalone import Budget, Measured, Skipped, repeated

ROLLOUT = 10
"""Steps of the rollouts that are differentiated."""
LONG = "gradient of 100"
DAMPING = np.array([1.0, 1.0, 0.5, 0.3, 0.05, 0.05, 0.02])
"""[N·m·s/rad] In gradients of 100 steps, without which a falling arm's light wrist leaves every range."""
STEPS = {"step": 1, "gradient": ROLLOUT, LONG: 100}
"""Of a call, by kind."""
SECONDS = 0.25
"""[s] spent on one cell."""
LONGEST = 6.0
"""[s] A call that would take longer, by the growth from one size to the next, ends its row."""
KINDS = ("step", "gradient")
POSE = np.array([0.2, -0.5, -0.3, 1.2, 0.2, 0.8, 0.1])
"""[rad] Around which the batches lie, ±0.3 rad at ±0.3 rad/s."""
TORQUE = np.array([1.0, 1.0, 0.5, 0.3, 0.1, 0.1, 0.002])
"""[N·m] bounds of the random torques: about 1 rad/s² each."""


@dataclass
class Row:
    """Steps a second by kind and size of the batch; seconds of compilation by the same; why a cell is missing."""

    name: str
    precision: str
    rates: dict[str, dict[int, float]] = field(default_factory=dict)
    compile_s: dict[str, dict[int, float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Batch:
    """States p, pd (rows, 7) and torques of a rollout U (rows, steps, 7)."""

    p: np.ndarray
    pd: np.ndarray
    U: np.ndarray

    @staticmethod
    def of(rows: int, steps: int = ROLLOUT) -> Batch:
        random = np.random.default_rng(rows)
        p, pd = POSE + random.uniform(-0.3, 0.3, (rows, 7)), random.uniform(-0.3, 0.3, (rows, 7))
        return Batch(p, pd, TORQUE * random.uniform(-1.0, 1.0, (rows, steps, 7)))


Prepared = tuple[Callable[[], Any], float]
"""A call that is finished when it returns, and the seconds it took to compile."""
Make = Callable[[str, Batch], Prepared]


def fill(row: Row, make: Make, sizes: tuple[int, ...], budget: Budget, kinds: tuple[str, ...] = KINDS) -> Row:
    """Measure a row from the smallest batch on, until a call gets too long, memory ends or the budget does."""
    for kind in kinds:
        rates, compiled = row.rates.setdefault(kind, {}), row.compile_s.setdefault(kind, {})
        last, growth = 0.0, 1.0
        for size in sizes:
            try:
                if last * growth > LONGEST:
                    raise Skipped(f"left out: a call would take about {last * growth:.0f} s")
                budget.require(max(SECONDS, 4.0 * last) + max(compiled.values(), default=0.0), f"{kind} of {size}")
                call, compiled[size] = make(kind, Batch.of(size, STEPS[kind]))
                taken: Measured = repeated(call, SECONDS)
            except Skipped as reason:
                row.notes.append(f"{kind}, {size}: {reason}")
                break
            except (
                RuntimeError,
                MemoryError,
                NotImplementedError,
                ValueError,
            ) as error:  # memory, or no such derivative
                lines = str(error).strip().splitlines() or [""]
                row.notes.append(f"{kind}, {size}: {type(error).__name__}: {lines[0][:120]}")
                break
            rates[size] = size * STEPS[kind] / taken.median
            last, growth = taken.median, taken.median / last if last else 1.0
            print(f"  {row.name}, {row.precision}, {kind}, {size}: {rates[size]:.3g}/s", flush=True)
    return row
