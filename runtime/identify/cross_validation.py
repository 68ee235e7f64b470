"""Leave one out: how well parameters fitted to all other recordings predict the one that was not fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.identify.fitting import fit_rounds
from diffpbd.runtime.identify.lever_springs import Lever
from diffpbd.runtime.identify.result import Errors
from diffpbd.runtime.identify.selection import Selection
from diffpbd.runtime.identify.workers import Map
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.robot import Robot

__all__ = ["leave_one_out"]


@dataclass(frozen=True)
class _Task:
    robot: Robot
    train: tuple[Samples, ...]
    held: Samples
    selection: Selection
    base: FloatArray
    prior: float
    huber: bool
    levers: tuple[Lever, ...]


def leave_one_out(
    robot: Robot,
    train: Sequence[Samples],
    selection: Selection,
    base: FloatArray,
    *,
    prior: float,
    huber: bool,
    spread: Map,
    levers: Sequence[Lever] = (),
    say: Callable[[str], None] = lambda _line: None,
) -> dict[str, float]:
    """RMSE [N·m or N] by joint on each recording with the parameters of all others, mean over the recordings.

    Where a log was split at gaps, each part counts as a recording. SolverError if one of the fits fails.
    """
    if len(train) < 2:
        raise InputError(f"--leave-one-out: expected at least two recordings, found {len(train)}.")
    say(f"Solving {len(train)} times without one of the recordings")
    tasks = [
        _Task(robot, (*train[:k], *train[k + 1 :]), held, selection, base, prior, huber, tuple(levers))
        for k, held in enumerate(train)
    ]
    errors: list[Errors] = spread(_run, tasks)
    return {joint: float(np.mean([found.rmse[joint] for found in errors])) for joint in robot.joints}


def _run(task: _Task) -> Errors:
    t = task
    fitted = fit_rounds(
        t.robot, t.train, t.selection, t.base, prior=t.prior, huber=t.huber, say=lambda _: None, levers=t.levers
    )
    return Errors.of(t.robot.joints, fitted.held(t.robot, [t.held], t.base), fitted.unknowns.phi_at(fitted.x))
