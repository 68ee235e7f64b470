"""Samples near standstill: whether the recordings are better explained without them, told by recordings that are left out.

A joint that hardly moves is held by any friction up to the Coulomb torque, which no law of the rate gives. Below some
transition velocities its torque may therefore be left out of the fit. How many is not given but chosen: by the error on the
moving samples of recordings left out in turn, which every candidate has to explain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.identify.result.result import Trace
from diffpbd.runtime.identify.settings.workers import Map
from diffpbd.runtime.identify.torque.cross_validation import held_out
from diffpbd.runtime.identify.torque.solving import Question
from diffpbd.runtime.logs.processing import Samples

__all__ = ["choose"]

CANDIDATES = (1.0, 3.0, 10.0)
"""[1] Transition velocities: the law of Coulomb friction, a hyperbolic tangent, is at 76, 99.5 and 100 % there."""
FEWEST = 3
"""[1] Recordings without which a mean over those left out has no error of its own."""


def choose(
    question: Question, train: Sequence[Samples], spread: Map, say: Callable[[str], None]
) -> tuple[Question, str]:
    """The question with the samples left out that the recordings ask for, and a sentence on why.

    Where a log was split at gaps, each part counts as a recording. Samples are kept unless the mean change of the logarithm of
    the RMSE, over joints and recordings, is below zero by more than its standard error.
    """
    if len(train) < FEWEST:
        raise InputError(f"{arg.standstill('auto')}: expected at least {FEWEST} recordings, found {len(train)}.")
    say("Choosing what is left out near standstill")
    slowest = CANDIDATES[-1] * question.transitions
    kept = _scores(question, train, spread, slowest)
    found = []
    for candidate in CANDIDATES:
        other = replace(question, standstill=candidate)
        changes = np.nanmean(_scores(other, train, spread, slowest) - kept, axis=1)
        changes = changes[np.isfinite(changes)]
        if len(changes) < FEWEST:
            return question, "Near standstill all samples are kept: too few recordings have joints that move"
        mean, error = float(changes.mean()), float(changes.std(ddof=1) / np.sqrt(len(changes)))
        found.append((mean, error, other))
    mean, error, best = min(found, key=lambda item: item[0])
    change = f"{100.0 * np.expm1(mean):+.2g} ± {100.0 * error:.2g} %"
    if mean >= -error:
        return (
            question,
            f"Near standstill all samples are kept: without slow ones errors on recordings left out change by {change}",
        )
    speeds = best.standstill * best.transitions
    return best, (
        f"Near standstill samples are left out: of a joint below {best.standstill:g} transition velocities "
        f"({_range(speeds)}), where errors on recordings left out change by {change}"
    )


def _scores(question: Question, train: Sequence[Samples], spread: Map, slowest: FloatArray) -> FloatArray:
    """Logarithms (recordings, n) of the RMSE on the moving samples of each recording left out; NaN where a joint has none."""
    return np.array([_score(errors.traces[0], slowest) for errors in held_out(question, train, spread)])


def _score(trace: Trace, slowest: FloatArray) -> FloatArray:
    moving = np.abs(trace.dq) >= slowest
    squares = np.where(moving, (trace.measured - trace.predicted) ** 2, 0.0).sum(axis=0)
    count = moving.sum(axis=0)
    mean = squares / np.maximum(count, 1)
    return np.where(count > 0, 0.5 * np.log(np.maximum(mean, np.finfo(float).tiny)), np.nan)


def _range(speeds: FloatArray) -> str:
    low, high = float(speeds.min()), float(speeds.max())
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
