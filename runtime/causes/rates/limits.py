"""Positions outside of the joint's limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.folder.manifest import Joint

LIMIT = 0.05
"""[rad or m] Tolerance beyond a limit of the description: another calibration of zero, a soft stop. Baxter and Panda
stay within."""
LIMIT_SHARE = 0.02
"""[1] LIMIT relative to the joint's range."""
MOST_TURNS_OUT = 1.0
"""[1] Excess of positions over the range, relative to the range, above which the recording is refused."""
FAR = 3.0
"""[1] Multiple of a joint's range from which positions are in another unit, where that brings them into it."""


@dataclass(frozen=True)
class Beyond:
    """Positions q (samples,) of a joint outside of its limits `low` and `high`."""

    joint: Joint
    q: FloatArray
    low: float
    high: float

    @property
    def what(self) -> str:
        """A sentence with the figures."""
        low, high, q = self.low, self.high, self.q
        over = max(low - float(q.min()), float(q.max()) - high)
        return f"q is {over:.3g} {self.joint.unit} outside of {low:.4g} to {high:.4g} (from {q.min():.4g} to {q.max():.4g})"

    @property
    def grave(self) -> bool:
        """Whether that is no other zero."""
        span, over = self.high - self.low, max(self.low - float(self.q.min()), float(self.q.max()) - self.high)
        return over > MOST_TURNS_OUT * span or float(np.ptp(self.q)) > 2.0 * span

    def within(self, factor: float, shift: float = 0.0) -> bool:
        """Whether positions are within the limits when they are multiplied and shifted."""
        q = self.q * factor + shift
        return bool(q.min() >= self.low - LIMIT and q.max() <= self.high + LIMIT)

    def unit(self) -> str:
        """The unit that positions are in, or nothing."""
        if not float(np.ptp(self.q)) > FAR * (self.high - self.low):
            return ""
        if self.joint.turns and self.within(math.radians(1.0)):
            return "degrees"
        return "thousandths" if self.within(1e-3) else ""


def beyond(log: Recorded) -> Iterator[Beyond]:
    """Joints whose positions are."""
    for k, joint in log.known():
        q = log.recording.q[:, k]
        low = -math.inf if joint.lower is None else joint.lower
        high = math.inf if joint.upper is None else joint.upper
        span, over = high - low, max(low - float(q.min()), float(q.max()) - high)
        if span > 0.0 and over > max(LIMIT, LIMIT_SHARE * span if math.isfinite(span) else 0.0):
            yield Beyond(joint, q, low, high)


class Limits(Cause):
    kind, order, timed = "limits", 5, True
    means, mends = "positions outside of the joint's limits", "`--shift q_J=…`, `--unwrap`, `--degrees`"

    def seen(self, log: Recorded) -> Findings:
        for own in beyond(log):
            if own.unit():
                continue
            turns = math.tau * round((float(own.q.min() + own.q.max()) - own.low - own.high) / 2.0 / math.tau)
            if turns and own.within(1.0, -turns):
                mend = f"{arg.shift} q_{own.joint.name}={-turns:.9g}"
                yield Finding(self, own.joint.name, f"{own.what}; off by whole turns?", mend, own.grave)
            else:
                mend = f"{arg.degrees}, {arg.unwrap} or other limits"
                yield Finding(self, own.joint.name, own.what, mend, own.grave)
