"""A fit from several starts: whether they reach the same optimum, and the best one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.identify.settings.workers import Map
from diffpbd.runtime.identify.torque.fitting import fit_rounds
from diffpbd.runtime.identify.torque.solving import Question
from diffpbd.runtime.logs.processing import Samples

__all__ = ["End", "compare", "ends"]

SAME = 0.1
"""[1] Standard deviations by which parameters of two ends may differ for the ends to count as the same."""
SAME_WITHOUT = 1e-4
"""[unit of the parameter] The same where the recordings have no noise to speak of."""
EQUAL = 1e-9
"""[1] Difference of the measure below which the earlier start is preferred: rounding."""


@dataclass(frozen=True)
class End:
    """Result of the start `seed`: fitted `values` by name in their units, the objective `measure`, or why it failed."""

    seed: int
    values: dict[str, float]
    measure: float
    failure: str = ""


@dataclass(frozen=True)
class _Task:
    question: Question
    train: tuple[Samples, ...]
    seed: int


def ends(question: Question, train: Sequence[Samples], starts: int, spread: Map) -> list[End]:
    """All ends, the best first; SolverError if every start fails."""
    tasks = [_Task(question, tuple(train), seed) for seed in range(starts)]
    found: list[End] = spread(_run, tasks)
    if all(end.failure for end in found):
        raise SolverError(f"None of {starts} starts was solved; the first: {found[0].failure}")
    best = min(end.measure for end in found)
    return sorted(
        found, key=lambda end: (end.measure > best + EQUAL, end.measure if end.measure > best + EQUAL else 0.0)
    )


def _run(task: _Task) -> End:
    try:
        fitted = fit_rounds(task.question, task.train, seed=task.seed)
    except SolverError as error:
        return End(task.seed, {}, np.inf, str(error))
    rms = np.maximum(fitted.problem.rms(fitted.x), fitted.floor)
    return End(task.seed, fitted.unknowns.values_at(fitted.x), float(np.log(rms).sum()))


def compare(found: Sequence[End], deviations: dict[str, float]) -> list[str]:
    """Sentences on where starts ended; `deviations` of the determined parameters."""
    best = found[0]
    same, sentences = 0, []
    for end in found[1:]:
        if end.failure:
            sentences.append(f"start {end.seed + 1} failed: {end.failure}")
            continue
        apart = {
            name: abs(end.values[name] - best.values[name])
            / max(SAME * std, SAME_WITHOUT * max(1.0, abs(best.values[name])))
            for name, std in deviations.items()
        }
        worst = max(apart, key=lambda name: apart[name]) if apart else ""
        if not apart or apart[worst] <= 1.0:
            same += 1
            continue
        more = 100.0 * np.expm1(end.measure - best.measure)
        sentences.append(
            f"start {end.seed + 1} ended elsewhere, with a residual {more:.2g} % larger "
            f"(all joints multiplied): {worst} is {end.values[worst]:.6g} there and {best.values[worst]:.6g} in the best"
        )
    return [
        f"{same + 1} of {len(found)} starts ended at the same optimum, the best is start {best.seed + 1}",
        *sentences,
    ]
