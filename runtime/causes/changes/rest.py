"""Ends of a recording at which no joint moves, where friction may take any value."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.run import Run, Unsteady
from diffpbd.runtime.logs.still_ends import still_ends

RESTING = 0.1
"""[1] Part of a recording at whose ends no joint moves, from which it is looked at."""
MOVING = 0.25
"""[1] Mean square that the fit leaves without these ends, as part of what it leaves with them, from which it is said."""


class Rest(Unsteady):
    kind, order = "rest", 2

    def of(self, run: Run) -> str | None:
        s = run.table.samples
        ends = None if s.processing.still or not run.judged else still_ends(s.q, s.dq, s.rate)
        if ends is None or sum(ends) < RESTING * len(s.time):
            return None
        within = np.zeros(len(s.time))
        within[ends[0] : len(s.time) - ends[1]] = 1.0
        moving = s.trimmed(within) > 0.0
        if moving.all() or not moving.any():
            return None
        part = run.columns[moving]
        before = run.left(run.squares.sum(axis=0)) / len(moving)
        after = run.left(np.einsum("sjk,sjl->jkl", part, part)) / int(moving.sum())
        j = next((j for j in run.judged if after[j] < MOVING * before[j]), None)
        if j is None:
            return None
        return (
            f"{s.recording} is at rest for {ends[0] / s.rate:.3g} s at its start and {ends[1] / s.rate:.3g} s at its end, "
            f"where friction may take any value: without that the fit leaves {np.sqrt(after[j]):.2g} {run.unit(j)} RMS at "
            f"joint {run.robot.joints[j]} in place of {np.sqrt(before[j]):.2g}, so no other cause is looked for. {arg.trim} "
            "still cuts these ends"
        )
