"""A torque's zero that drifts or steps."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.run import SPLITS, Run, Unsteady, normal
from diffpbd.runtime.logs.cutting import cut_of

EXPLAINED = 0.5
"""[1] Part of what is left at a joint, in squares, that a drift or a step must explain."""


class Drift(Unsteady):
    """Beside the fitted columns and an offset, a line over the whole recording, or a step at one of its stretches' ends."""

    kind, order = "drift", 3

    def of(self, run: Run) -> str | None:
        best = (EXPLAINED, 0, 0)  # share, joint, edge (0: a drift)
        for j in run.judged:
            before = run.left(_wider(run, j))[j]
            for k in (0, *range(2, SPLITS - 1)) if before > 0.0 else ():
                share = 1.0 - float(run.left(_wider(run, j, _shape(run, k)))[j]) / float(before)
                if share > best[0]:
                    best = share, j, k
        share, j, k = best
        if share <= EXPLAINED:
            return None
        joint, time = run.robot.joints[j], run.time
        figure = float(normal(run.weight, _wider(run, j, _shape(run, k)))[-1])
        evidence = f"{100.0 * share:.0f} % of what is left there, in squares, go with it"
        if k == 0:
            rate = figure / (time[-1] - time[0])
            return (
                f"joint {joint} reads as if its torque's zero drifted by {rate:.3g} {run.unit(j)}/s in {run.name} ({evidence})"
                f", so no other cause is looked for. {arg.drift} tau_{joint}={rate:.5g} takes it out"
            )
        at, width = time[run.edges[k]], (time[-1] - time[0]) / SPLITS
        ends = (0.0, at + width) if 2.0 * at < time[-1] else (at - width, float(time[-1]) + 1.0)
        return (
            f"joint {joint} reads as if its torque's zero stepped by {figure:.3g} {run.unit(j)} at about {at:.3g} s of "
            f"{run.name} ({evidence}), so no other cause is looked for. Fit the parts apart: {cut_of(run.name, *ends)}"
        )


def _shape(run: Run, edge: int) -> FloatArray:
    """Of a drift over the whole recording, from 0 to 1, or a step at an edge (samples,)."""
    if edge == 0:
        return np.asarray((run.time - run.time[0]) / (run.time[-1] - run.time[0]))
    return np.asarray(np.arange(len(run.time)) >= run.edges[edge], dtype=np.float64)


def _wider(run: Run, j: int, *shapes: FloatArray) -> FloatArray:
    """Squares (n, columns + 1, columns + 1) of the whole, with an offset and shapes before the residual at joint j."""
    whole, own = run.squares.sum(axis=0), run.columns[:, j]
    more, count = np.column_stack([np.ones(len(own)), *shapes]), whole.shape[-1] - 1
    keep, added = np.r_[0:count, count + more.shape[1]], count + np.arange(more.shape[1])
    wide = np.zeros((len(whole), count + more.shape[1] + 1, count + more.shape[1] + 1))
    wide[:, keep[:, None], keep] = whole
    wide[j, keep[:, None], added] = own.T @ more
    wide[j, added[:, None], keep] = more.T @ own
    wide[j, added[:, None], added] = more.T @ more
    return wide
