"""A torque's zero that is another one in each recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.causes.run import Run, Unsteady

SHARE = 0.3
"""[1] Least part of a residual's variance from the means of the recordings."""
CERTAIN = 6.0
"""[1] And least largest difference of two means over its deviation."""
STRETCHES = 12
"""[1] Parts of a recording whose means give the deviation of its mean."""


class OtherZero(Unsteady):
    kind, order = "other-zero", 1

    def told(self, runs: Sequence[Run]) -> Iterator[tuple[str, list[Run]]]:
        if len(runs) < 2:
            return
        residuals = [run.table.residual for run in runs]
        whole, means = np.concatenate(residuals), np.array([own.mean(axis=0) for own in residuals])
        parts = [[part.mean(axis=0) for part in np.array_split(own, STRETCHES)] for own in residuals]
        errors = np.std(parts, axis=1) / np.sqrt(STRETCHES)
        between = np.average((means - whole.mean(axis=0)) ** 2, axis=0, weights=[len(own) for own in residuals])
        for j, joint in enumerate(runs[0].robot.joints):
            low, high = int(np.argmin(means[:, j])), int(np.argmax(means[:, j]))
            apart, error = means[high, j] - means[low, j], float(np.hypot(errors[low, j], errors[high, j]))
            if between[j] > SHARE * whole[:, j].var() and apart > CERTAIN * error:
                named = zip(means[:, j], runs, strict=True)
                each = listing([f"{m:.3g} {run.unit(j)} in {run.table.samples.name}" for m, run in named])
                said = (
                    f"joint {joint} reads as if its torque's zero were another one in each recording: what is left is {each} "
                    f"in the mean (each ± {errors[:, j].max():.2g}), so no other cause is looked for. Fit the recordings "
                    f"apart, or take the means out of them: {arg.shift} tau_{joint}=…"
                )
                yield said, list(runs)
