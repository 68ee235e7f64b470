"""The optimum of the paper's loss on each published step: what its descent would find if it did not stop.

States are carried on as published; the start of a search changes nothing then, so one result stands in three cells. Windows of
one step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.torques.estimation import Estimate, estimate
from diffpbd.runtime.torques.settings import LOSSES, STARTS, Settings
from experiments.columns import Column
from experiments.one_step import JOINT, function_of, least, maximal_ends, omega_of
from experiments.torques.torque_table import GRAVITY, Cell, Say, short_errors

__all__ = ["optima"]

STILL, FLAT = 1e-6, 1e-8
"""[1] Relative correction at which a torque has converged, relative decrease of a loss at which it has: friction that sticks
lets an optimum be flat."""


def optima(
    columns: Sequence[Column], samples: Samples, model: str, alpha: FloatArray, seconds: float, say: Say
) -> list[Cell]:
    """Cells of every step, loss and start over the first seconds of the recording, friction as in the step; g = 9.8 m/s²."""
    count = min(len(samples) - 1, max(1, round(seconds * samples.rate)))
    values = alpha.copy()
    cells = []
    for column in columns:
        robot, step, label = column.robot, column.step, f"optimum, {column.label}"
        values[robot.alpha.index("gravity.z")] = -GRAVITY
        say(f"{model}, {label}, {count} steps")
        try:
            found = (
                _ours(robot, samples, count, values) if step == JOINT else _carried(robot, step, samples, count, values)
            )
        except SolverError as error:
            found, reason = [None] * len(LOSSES), str(error)
        for loss, one in zip(LOSSES, found, strict=True):
            for start in STARTS:
                settings = Settings(loss, start, carry=True, friction="step")
                errors = None if one is None else short_errors(one, samples.tau[: count + 1])
                cells.append(Cell(model, label, settings, count, errors, one, "" if one is not None else reason))
    return cells


def _ours(robot: Robot, samples: Samples, count: int, alpha: FloatArray) -> list[Estimate | None]:
    q, dq, time = (x[: count + 1] for x in (samples.q, samples.dq, samples.time))
    every = [Settings(loss, "gravity", carry=True, friction="step") for loss in LOSSES]
    return [estimate(robot, q, dq, 1.0 / samples.rate, settings, alpha=alpha, time=time) for settings in every]


def _carried(robot: Robot, step: str, samples: Samples, count: int, alpha: FloatArray) -> list[Estimate | None]:
    """One estimate a loss, side by side."""
    rows, n, h = len(LOSSES), robot.n, 1.0 / samples.rate
    recorded = np.asarray(robot.fk(samples.q[: count + 1], samples.dq[: count + 1], alpha))
    spins = omega_of(recorded)
    weights = np.array([[*[first] * n, *[second] * spins.shape[1]] for first, second, _ in LOSSES.values()])
    xi = np.repeat(recorded[:1], rows, axis=0)
    u = np.repeat(holding_torque(robot, samples.q[:1], alpha), rows, axis=0)
    q, dq, torques, losses = (np.empty((rows, count, *shape)) for shape in ((n,), (n,), (n,), ()))
    unsettled = 0
    advance = robot.functions[function_of(robot, step)]
    for k in range(count):
        near = np.repeat(samples.q[k : k + 1], rows, axis=0)
        q[:, k], dq[:, k] = robot.joint_state(xi, alpha, near)
        wanted = np.repeat(np.concatenate([samples.q[k + 1], spins[k + 1]])[None], rows, axis=0)
        try:
            found = least(maximal_ends(robot, step, xi, near, h, alpha), wanted, weights, u, still=STILL, flat=FLAT)
            u, losses[:, k] = found.u, found.loss / n
            xi = advance(xi, u, h, alpha)
        except SolverError as error:
            raise SolverError(f"Step {k + 1} of {count}: {error}") from None
        unsettled += found.unsettled
        torques[:, k] = u
    offset = alpha[list(robot.alpha.indices("torque_offset"))]
    time = samples.time[:count]
    return [Estimate(time, q[r], dq[r], torques[r], offset, h, True, losses[r], unsettled) for r in range(rows)]
