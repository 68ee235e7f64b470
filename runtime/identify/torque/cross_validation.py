"""Leave-one-out cross-validation: prediction of each recording with parameters fitted to all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.identify.result.result import Errors
from diffpbd.runtime.identify.settings.workers import Map
from diffpbd.runtime.identify.torque.fitting import fit_rounds
from diffpbd.runtime.identify.torque.solving import Question
from diffpbd.runtime.logs.processing import Samples

__all__ = ["held_out", "leave_one_out"]


@dataclass(frozen=True)
class _Task:
    question: Question
    train: tuple[Samples, ...]
    held: Samples


def leave_one_out(
    question: Question, train: Sequence[Samples], spread: Map, say: Callable[[str], None]
) -> dict[str, float]:
    """RMSE [N·m or N] by joint on each recording with the parameters of all others, mean over the recordings.

    Where a log was split at gaps, each part counts as a recording. SolverError if one of the fits fails.
    """
    if len(train) < 2:
        raise InputError(f"{arg.cross_validate}: expected at least two recordings, found {len(train)}.")
    say(f"Solving {len(train)} times without one of the recordings")
    errors = held_out(question, train, spread)
    return {joint: float(np.mean([found.rmse[joint] for found in errors])) for joint in question.robot.joints}


def held_out(question: Question, train: Sequence[Samples], spread: Map) -> list[Errors]:
    """Errors on each recording with the parameters of all others."""
    tasks = [_Task(question, (*train[:k], *train[k + 1 :]), held) for k, held in enumerate(train)]
    return list(spread(_run, tasks))


def _run(task: _Task) -> Errors:
    fitted = fit_rounds(task.question, task.train)
    phi = fitted.unknowns.phi_at(fitted.x)
    return Errors.of(task.question.robot.joints, [design.trace(phi) for design in fitted.held([task.held])])
