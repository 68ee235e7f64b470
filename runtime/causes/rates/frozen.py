"""A position that stands still while its rate does not."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.logs.cutting import MOST_CUTS, cuts_of, runs_of
from diffpbd.runtime.logs.rates import usual_steps

FROZEN = 0.05
"""[rad or m] Displacement by the rates while a position does not change a bit: a stuck sensor. Largest on
Baxter and on Panda: 0.006."""


class Frozen(Cause):
    kind, order, timed = "frozen", 4, True
    means, mends = "a position keeps its value to the last bit while its rate tells of motion", "`--cut FILE=FROM:TO`"

    def seen(self, log: Recorded) -> Findings:
        r = log.recording
        for k, name, rate in log.compared():
            if r.dq is None or rate.wrong or rate.late(log.step) or name in log.quick:
                continue
            told = np.concatenate([[0.0], np.cumsum(0.5 * (r.dq[1:, k] + r.dq[:-1, k]) * np.diff(r.time))])
            still = runs_of((np.diff(r.q[:, k]) == 0.0) & usual_steps(r))
            runs = [(a, b) for a, b in still.tolist() if np.ptp(told[a : b + 1]) > FROZEN]
            if runs:
                a, b = runs[0]
                when = f"first at {r.time[a]:.6g} s for {r.time[b] - r.time[a]:.3g} s"
                way = np.ptp(told[a : b + 1])
                what = f"q stands still {len(runs)} times while dq tells of a way of {way:.3g}, {when}"
                yield Finding(self, name, what, cuts_of(r, runs[:MOST_CUTS]))
