"""Rates that are not those of the positions."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.logs.rates import CLOSE, FAR_RATIO, NAMED_RATIOS, Rates, derive

POSES = 0.05
"""[s] Time step above which zero rates may be those of a sequence of held poses, one sample each; motions are recorded at 20 Hz
and more."""


class OtherRates(Cause):
    """Of a joint that moves too quickly for the samples only what is grave."""

    kind, order, timed = "rates", 4, True
    means = (
        "dq over the slope of q is not 1: zero, reversed, degrees, rpm, the motor's side; or the positions are in another unit "
        "or of the wrong sign"
    )
    mends = "`--rates positions`, `--scale q_J=…`"

    def seen(self, log: Recorded) -> Findings:
        for k, name, rate in log.compared():
            found = self._unrelated(log, k, name, rate) if rate.unrelated else self._other(log, name, rate)
            if rate.wrong and (found.grave or name not in log.quick):
                yield found

    def _unrelated(self, log: Recorded, k: int, name: str, rate: Rates) -> Finding:
        dq = log.recording.dq
        if dq is None or np.ptp(dq[:, k]) > 0.0:
            what = f"dq has nothing to do with the slope of q: ratio {rate.ratio:.3g}, correlation {rate.related:.2f}"
            return Finding(self, name, what, derive(), grave=True)
        grave = log.step < POSES
        what = f"dq is {dq[0, k] + 0.0:g} in all samples, ratio 0 to the slope of q, which is {rate.speed:.3g}"
        return Finding(self, name, what + ("" if grave else "; poses held one after the other?"), derive(), grave)

    def _other(self, log: Recorded, name: str, rate: Rates) -> Finding:
        exact = next((own for own in NAMED_RATIOS if abs(rate.ratio / own - 1.0) < CLOSE), None)
        near = 1.0 / FAR_RATIO <= abs(rate.ratio) <= FAR_RATIO
        far = abs(rate.ratio) > FAR_RATIO
        unit = f", {NAMED_RATIOS[exact]}" if exact else ", of the motor's side of a gear" if far else ""
        mend, scale = derive(), f"{arg.scale} q_{name}={exact or rate.ratio:.6g}"
        if name in log.wrong:
            mend = f"{scale} takes the positions' unit from the rates"
        elif near:
            mend = f"{mend}; if these are wrong, {scale}"
        what = f"dq is {rate.ratio:.4g} times the slope of q{unit}"
        return Finding(self, name, what, mend, grave=not near or rate.ratio < 0.0)
