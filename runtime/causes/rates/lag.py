"""Rates later or earlier than the positions."""

from __future__ import annotations

from collections.abc import Iterator

from diffpbd.runtime.causes.cause import Cause, Finding
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.logs.rates import derive


class Lag(Cause):
    kind, order, timed = "lag", 4, True
    means, mends = "rates later or earlier than the slope of the positions", "`--rates positions`"

    def seen(self, log: Recorded) -> Iterator[Finding]:
        for _, name, rate in log.compared():
            if not rate.wrong and rate.late(log.step) and name not in log.quick:
                what = f"dq comes {1e3 * abs(rate.lag):.3g} ms {'after' if rate.lag > 0.0 else 'before'} the slope of q"
                yield Finding(self, name, what, derive())
