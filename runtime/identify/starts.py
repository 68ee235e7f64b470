"""The same fit from several starts: whether they end at the same optimum, and which is the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.errors import SolverError
from diffpbd.runtime.identify.fitting import fit_rounds
from diffpbd.runtime.identify.lever_springs import Lever
from diffpbd.runtime.identify.selection import Selection
from diffpbd.runtime.identify.workers import Map
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.robot import Robot

__all__ = ["End", "compare", "ends"]

SAME = 0.1
"""[1] Standard deviations by which parameters of two ends may differ for the ends to count as the same."""
SAME_WITHOUT = 1e-4
"""[unit of the parameter] The same where the recordings have no noise to speak of."""
EQUAL = 1e-9
"""[1] Difference of the measure below which the earlier start is preferred: rounding."""


@dataclass(frozen=True)
class End:
    """Where the start `seed` led: fitted `values` by name in their units, `measure` to be small, or why it failed."""

    seed: int
    values: dict[str, float]
    measure: float
    failure: str = ""


@dataclass(frozen=True)
class _Task:
    robot: Robot
    train: tuple[Samples, ...]
    selection: Selection
    base: FloatArray
    prior: float
    huber: bool
    seed: int
    levers: tuple[Lever, ...]


def ends(
    robot: Robot,
    train: Sequence[Samples],
    selection: Selection,
    base: FloatArray,
    *,
    prior: float,
    huber: bool,
    starts: int,
    spread: Map,
    levers: Sequence[Lever] = (),
) -> list[End]:
    """All ends, the best first; SolverError if every start fails."""
    tasks = [_Task(robot, tuple(train), selection, base, prior, huber, seed, tuple(levers)) for seed in range(starts)]
    found: list[End] = spread(_run, tasks)
    if all(end.failure for end in found):
        raise SolverError(f"None of {starts} starts was solved; the first: {found[0].failure}")
    best = min(end.measure for end in found)
    return sorted(
        found, key=lambda end: (end.measure > best + EQUAL, end.measure if end.measure > best + EQUAL else 0.0)
    )


def _run(task: _Task) -> End:
    t = task
    try:
        fitted = fit_rounds(
            t.robot, t.train, t.selection, t.base,
            prior=t.prior, huber=t.huber, say=lambda _: None, seed=t.seed, levers=t.levers,
        )  # fmt: skip
    except SolverError as error:
        return End(t.seed, {}, np.inf, str(error))
    u = fitted.unknowns
    values = u.alpha_at(fitted.x)[list(u.positions)]
    rms = np.maximum(fitted.problem.rms(fitted.x), fitted.floor)
    return End(t.seed, dict(zip(u.names, values.tolist(), strict=True)), float(np.log(rms).sum()))


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
