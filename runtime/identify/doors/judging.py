"""What a fit of torques is worth: deviations, what only the prior decides, and what the model seems to lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.identify.causes import hints, specification
from diffpbd.runtime.identify.causes.evidence import gathered, noisier
from diffpbd.runtime.identify.columns.bodies import DECIDED, MOVES, WEAKER, decided_by_prior
from diffpbd.runtime.identify.columns.design import Design
from diffpbd.runtime.identify.result.covariance import IN_TIME
from diffpbd.runtime.identify.result.result import Lost, Solved
from diffpbd.runtime.identify.torque.fitting import Fitted
from diffpbd.runtime.identify.torque.problem import Problem
from diffpbd.runtime.identify.torque.solving import COARSELY, Question
from diffpbd.runtime.identify.torque.starts import End, compare
from diffpbd.runtime.identify.torque.torque_statistics import Statistics, evaluate
from diffpbd.runtime.logs.processing import Samples

__all__ = ["judged"]

FEW = 0.15
"""[1] Window of the long-run variance over the recorded time above which deviations are reported as uncertain."""
REPEATS, ENOUGH = (2, 8), 20000
"""[1] How often noise is added to the motions to see what it moves, at least and at most; samples in all that are enough."""


def judged(
    fitted: Fitted, tried: Sequence[End], samples: Sequence[Samples], coarser: Sequence[Samples]
) -> tuple[Solved, FloatArray]:
    """What was found, and the unknowns, those at a bound moved onto it; what `coarser` motions change is in deviations."""
    problem, unknowns, x, question = fitted.problem, fitted.unknowns, fitted.x.copy(), fitted.question
    bounds = problem.bounds(x)
    for k, side in bounds.items():
        x[k] = unknowns.lower[k] if side == "lower" else unknowns.upper[k]
    limited = [body for body in unknowns.bodies if body.limited(x)]
    again = iter([fitted.held(coarser)] * 2) if coarser else _disturbed(fitted)
    found = evaluate(problem, x, bounds, fitted.designs, again, limited)
    moving = _moving(problem, x, found, WEAKER) if unknowns.bodies and fitted.noisy else []
    notes = [*question.selection.notes, *fitted.notes, *(f"{s.name}: {note}" for s in samples for note in s.notes)]
    notes += [body.limit(x) for body in limited]
    if tried:
        notes += compare(tried, found.deviations)
    notes += _one_long_error(found, fitted.designs)
    deviations = {name: s for name, s in found.deviations.items() if name not in {item.name for item in moving}}
    more, verdict = _examined(fitted, x, found)
    withheld = {**verdict.withheld, **_of_memory(question)}
    notes += more
    by_label = {unknowns.labels[k]: side for k, side in bounds.items()}
    solved = Solved(
        values=unknowns.values_at(x),
        deviations=deviations,
        withheld={name: why for name, why in withheld.items() if name in deviations},
        bounds=by_label,
        lost=(*found.lost, *moving),
        correlations=found.correlations,
        rank=found.rank,
        unknowns=found.unknowns,
        condition=found.condition,
        window=found.window / fitted.designs[0].samples.rate,
        status=fitted.status,
        iterations=fitted.iterations,
        notes=tuple(notes),
        base=tuple(replace(e, std=None) if e.name in verdict.withheld else e for e in found.base),
    )
    return solved, x


def _of_memory(question: Question) -> dict[str, str]:
    """Friction whose deviation does not hold that of the way over which it turns."""
    why = "its standard deviation depends on the way over which this friction turns, which has none"
    return {f"friction.{kind}.{joint}": why for joint in question.ways for kind in ("coulomb", "viscous")}


def _examined(fitted: Fitted, x: FloatArray, found: Statistics) -> tuple[list[str], specification.Verdict]:
    """What the model seems to lack, in sentences, and what that does to deviations."""
    samples, point, robot = [d.samples for d in fitted.designs], fitted.point(x), fitted.question.robot
    if slow := hints.too_slow(samples):
        return [slow], specification.Verdict({}, ())
    evidence = gathered(robot, samples, point, fitted.unknowns.names)
    known = found.deviations | {e.name: e.std or 0.0 for e in found.base}
    again = noisier(robot, samples, point, fitted.unknowns.names, evidence)
    verdict = specification.judged(evidence, again, fitted.problem.weight, found.moves, known)
    noisy = hints.too_noisy(samples)
    said = hints.missing(robot, evidence, point, samples) if noisy is None else [noisy]
    return [*said, *verdict.notes], verdict


def _one_long_error(found: Statistics, designs: Sequence[Design]) -> list[str]:
    """A sentence where residuals are correlated for so long that few independent samples are left."""
    total, rate = sum(len(d.targets) for d in designs), designs[0].samples.rate
    if found.window <= FEW * total:
        return []
    return [
        f"residuals are correlated over up to {found.window / IN_TIME / rate:.2g} s, so a {total / rate:.3g} s log holds few "
        "independent samples: the ± values are rough, and errors that repeat with every motion are not in them. Record longer, "
        "and other motions"
    ]


def _disturbed(fitted: Fitted) -> Iterator[Iterator[Design]]:
    """The recordings with as much noise again in what they say of the motion, several times; each made when it is asked for."""
    count = int(np.clip(ENOUGH // sum(len(d.samples) for d in fitted.designs), *REPEATS))
    return (_again(fitted, np.random.default_rng(seed)) for seed in range(count))


def _again(fitted: Fitted, rng: np.random.Generator) -> Iterator[Design]:
    for own in fitted.designs:
        yield replace(fitted.held([own.samples.disturbed(rng)])[0], weights=own.weights)


def _moving(problem: Problem, x: FloatArray, found: Statistics, factor: float) -> list[Lost]:
    """Parameters that only the prior decides: they move by more than `MOVES` deviations when it is weakened, or the recordings
    alone would leave them far wider (where the description happens to be what the prior would move them to)."""
    weak = replace(problem, held=problem.pinned, prior=problem.prior / factor)
    before = problem.unknowns.values_at(x)
    try:
        after = problem.unknowns.values_at(weak.solve(x, COARSELY).x)
    except SolverError:  # no optimum without the prior: what decides then shows by the deviations
        after = before
    lost = []
    for name in problem.unknowns.names:
        std, alone = found.deviations.get(name, np.inf), found.alone.get(name, 0.0)
        moved = abs(after[name] - before[name])
        if np.isfinite(moved) and moved > MOVES * std:
            text = (
                f"it follows the prior: moves by {moved:.2g} ({moved / std:.1f} standard deviations) when that is {factor:g} "
                f"times weaker; by the recordings alone its standard deviation is {alone:.2g}"
            )
            lost.append(Lost(name, text))
        elif alone > DECIDED * std:
            lost.append(Lost(name, decided_by_prior(alone)))
    return lost
