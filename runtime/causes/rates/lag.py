"""Rates later or earlier than the positions."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.logs.rates import derive


class Lag(Cause):
    kind, order, timed = "lag", 4, True
    means, mends = "rates later or earlier than the slope of the positions", "`--rates positions`"

    def seen(self, log: Recorded) -> Findings:
        told = {name: rate for _, name, rate in log.compared()}
        lags = {n: 1e3 * r.lag for n, r in told.items() if not r.wrong and r.late(log.step) and n not in log.quick}
        low, high = min(map(abs, lags.values()), default=0.0), max(map(abs, lags.values()), default=0.0)
        if len(lags) == len(told) > 1 and abs(sum(np.sign(list(lags.values())))) == len(lags):
            way, span = (
                _way(next(iter(lags.values()))),
                f"{low:.3g}" if high - low < 1.0 else f"{low:.3g} to {high:.3g}",
            )
            yield Finding(self, "", f"dq comes {span} ms {way} the slope of q at each of {len(lags)} joints", derive())
            return
        for name, lag in lags.items():
            yield Finding(self, name, f"dq comes {abs(lag):.3g} ms {_way(lag)} the slope of q", derive())


def _way(lag: float) -> str:
    return "after" if lag > 0.0 else "before"
