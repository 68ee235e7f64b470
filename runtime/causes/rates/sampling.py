"""A motion that is too quick for the samples."""

from __future__ import annotations

from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.logs.sampling import kept


class Sampling(Cause):
    """Accelerations are differences of rates."""

    kind, order, timed = "sampling", 3, True
    means = "a motion too quick for the samples: accelerations come out too small"
    mends = "record at a higher rate, or move more slowly"

    def seen(self, log: Recorded) -> Findings:
        for name, f in log.quick.items():
            rate = 1.0 / log.step
            what = (
                f"it moves at up to {f:.2g} Hz and is sampled at {rate:.3g} Hz: accelerations, differences of its rates, come "
                f"out at {kept(f, rate):.2g} of theirs there"
            )
            yield Finding(
                self, name, what, f"record at a sampling rate of {10.0 * f:.2g} Hz or more, or move more slowly"
            )
