"""A torque that stays at one value while the joint moves."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.causes.sensors.saturated import QUANTISED, saturations
from diffpbd.runtime.logs.cutting import cuts_of, runs_of
from diffpbd.runtime.logs.rates import usual_steps

STUCK = 0.5
"""[s] Duration for which a stuck torque keeps its value to the last bit. Baxter 0.08, Panda 0.02."""
STUCK_WAY = 0.05
"""[rad or m] Displacement of the joint meanwhile: at rest the torque may be constant."""
OFTENER = 3.0
"""[1] Ratio of a stay to the next longest above which quantisation does not explain it."""


class Stuck(Cause):
    kind, order, of_torque = "stuck", 6, True
    means, mends = "a torque keeps any value for half a second while the joint moves", "`--cut FILE=FROM:TO`"

    def seen(self, log: Recorded) -> Findings:
        r = log.recording
        for k, name in enumerate(r.joints if r.tau is not None else ()):
            q, tau = r.q[:, k], r.tau[:, k]  # type: ignore[index]
            if np.ptp(tau) == 0.0 or saturations(r, k):
                continue
            edges = runs_of(np.concatenate([(np.diff(tau) == 0.0) & usual_steps(r), [False]])).tolist()
            long = [(a, b) for a, b in edges if r.time[b] - r.time[a] > STUCK and np.ptp(q[a : b + 1]) > STUCK_WAY]
            if long and len(np.unique(tau)) < QUANTISED * len(tau):  # such runs are usual
                spans = sorted(r.time[b] - r.time[a] for a, b in edges)
                long = [run for run in long if len(spans) < 2 or r.time[run[1]] - r.time[run[0]] > OFTENER * spans[-2]]
            if long:
                a, b = max(long, key=lambda run: r.time[run[1]] - r.time[run[0]])
                what = (
                    f"its torque stays at {tau[a]:g} for {r.time[b] - r.time[a]:.3g} s from {r.time[a]:.6g} s on, while the "
                    f"joint moves by {np.ptp(q[a : b + 1]):.3g}: stuck?"
                )
                yield Finding(self, name, what, cuts_of(r, long), grave=True)
