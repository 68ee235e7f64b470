"""Describes residuals that no known cause explains: which joints, correlations, and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.causes.run import Table
from diffpbd.runtime.model.robot import Robot

__all__ = ["pattern"]

UNEXPLAINED: Final = 0.3
"""[1] Residual over the torque's standard deviation above which it is reported; R² is then below 0.91."""
GOES_WITH: Final = 0.3
"""[1] Least reported correlation: 9 % of the residual's variance."""
STRETCHES: Final = 20
"""[1] Number of parts of a recording that are compared."""
LARGER: Final = 2.0
"""[1] Ratio of a part's RMS to the total from which it is reported."""


def pattern(robot: Robot, tables: Sequence[Table]) -> str | None:
    """A sentence on the joints whose torque is badly explained, or None."""
    residual = np.concatenate([t.residual for t in tables])
    read = np.concatenate([t.predicted + t.residual for t in tables])
    left = np.sqrt((residual**2).mean(axis=0))
    share = left / np.maximum(read.std(axis=0), np.finfo(float).tiny)
    free = robot.manifest.robot.base_freedoms
    poor = [j for j in np.argsort(-share) if share[j] > UNEXPLAINED and robot.joints[j] not in free]
    if not poor:
        return None
    units = [joint.effort_unit for joint in robot.manifest.robot.joints]
    figures = listing(
        [f"{left[j]:.3g} {units[j]} RMS at {robot.joints[j]} ({100 * share[j]:.0f} % of its torque)" for j in poor]
    )
    worst = poor[0]
    return f"no known cause explains what is left: {figures}.{_with(robot, tables, worst)}{_when(tables, worst)}"


def _with(robot: Robot, tables: Sequence[Table], j: int) -> str:
    residual = np.concatenate([t.residual[:, j] for t in tables])
    best, most = "", GOES_WITH
    for name, values in _signals(robot, tables):
        if (spread := values.std()) > 0.0 and residual.std() > 0.0:
            found = float(np.mean((values - values.mean()) * (residual - residual.mean())) / spread / residual.std())
            if abs(found) > abs(most):
                best, most = name, found
    if not best:
        return f" At {robot.joints[j]} it goes with no position, rate, acceleration or torque."
    return f" At {robot.joints[j]} it goes with {best} (correlation {most:.2f})."


def _signals(robot: Robot, tables: Sequence[Table]) -> Iterator[tuple[str, FloatArray]]:
    def together(name: str) -> FloatArray:
        return np.concatenate([t.samples.trimmed(getattr(t.samples, name)) for t in tables])

    q, dq, ddq, tau = (together(name) for name in ("q", "dq", "ddq", "tau"))
    for k, joint in enumerate(robot.joints):
        rate = np.abs(dq[:, k]).max()
        yield f"the position of {joint}", q[:, -robot.n :][:, k]
        yield f"the rate of {joint}", dq[:, k]
        yield f"the direction in which {joint} moves", np.sign(np.where(np.abs(dq[:, k]) > 0.02 * rate, dq[:, k], 0.0))
        yield f"the acceleration of {joint}", ddq[:, k]
        yield f"the torque of {joint}", tau[:, k]
    yield "time", np.concatenate([t.samples.trimmed(t.samples.time) - t.samples.time[0] for t in tables])


def _when(tables: Sequence[Table], j: int) -> str:
    every = np.sqrt(np.mean(np.concatenate([t.residual[:, j] for t in tables]) ** 2))
    worst, said = LARGER * every, ""
    for table in tables:
        time = table.samples.trimmed(table.samples.time)
        for part in np.array_split(np.arange(len(time)), STRETCHES):
            if len(part) and (size := float(np.sqrt(np.mean(table.residual[part, j] ** 2)))) > worst:
                worst = size
                said = f" It is largest at {time[part[0]]:.4g} to {time[part[-1]]:.4g} s of {table.samples.name}."
    return said
