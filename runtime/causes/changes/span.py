"""A span of time in which something else acted: a contact, a brake, a sensor."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.run import SPLITS, Run, Unsteady
from diffpbd.runtime.logs.cutting import cut_of

LONGEST = 12
"""[1] Stretches of the longest span."""
GATHERED = 0.6
"""[1] Part of a residual's squares in so many neighbouring stretches, from which spans are looked for."""
LEFT = 0.12
"""[1] Mean square that the fit leaves outside of a span, as part of what it leaves with it, from which the span is named."""
SHORTER = 0.03
"""[1] By how much more a span may leave for each stretch that it is shorter."""


class Span(Unsteady):
    """The rest is fitted once more without it."""

    kind, order = "span", 4

    def of(self, run: Run) -> str | None:
        whole, counts = run.squares.sum(axis=0), np.diff(run.edges)
        before, each = run.left(whole) / counts.sum(), run.squares[:, :, -1, -1]
        gathered = np.array([each[k : k + LONGEST].sum(axis=0) for k in range(SPLITS - LONGEST + 1)]).max(axis=0)
        judged = [j for j in run.judged if gathered[j] > GATHERED * each[:, j].sum() and before[j] > 0.0]

        def without(first: int, last: int) -> FloatArray:
            kept = counts.sum() - counts[first:last].sum()
            return np.asarray(run.left(whole - run.squares[first:last].sum(axis=0)) / kept)

        spans = [(k, k + length) for length in range(1, LONGEST + 1) for k in range(SPLITS - length + 1)]
        found = [
            (share * (1.0 + SHORTER * (last - first)), j, first, last)
            for first, last in (spans if judged else ())
            for j, share in [
                (j, float(own)) for j, own in zip(judged, (without(first, last) / before)[judged], strict=True)
            ]
            if share < LEFT
        ]
        if not found:
            return None
        _, j, first, last = min(found, key=lambda own: own[0])
        ends = float(run.time[run.edges[first]]), float(run.time[min(run.edges[last], len(run.time) - 1)])
        return (
            f"joint {run.robot.joints[j]} reads as if something else acted on it from {ends[0]:.3g} to {ends[1]:.3g} s of "
            f"{run.name}: a contact, a brake, a sensor (without it the fit leaves {np.sqrt(without(first, last)[j]):.2g} "
            f"{run.unit(j)} RMS in place of {np.sqrt(before[j]):.2g}), so no other cause is looked for. Cut it out: "
            f"{cut_of(run.name, *ends)}"
        )
