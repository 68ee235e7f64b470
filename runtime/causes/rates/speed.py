"""Rates above the joint's limit."""

from __future__ import annotations

import math

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.logs.rates import RATIO, usual_steps, width_of

FASTER = 2.0
"""[1] Multiple of the description's speed limit above which the speed (99th percentile) is reported. Baxter reaches 1.29
of it, Panda 0.83."""
TOO_FAST = 5.0
"""[1] Multiple above which the recording is refused: degrees are 57 times, motor sides 50 times and more."""


class Speed(Cause):
    kind, order, timed = "speed", 5, True
    means, mends = "rates (or slopes of positions) above the joint's limit", "`--degrees`, `--scale`"

    def seen(self, log: Recorded) -> Findings:
        for k, joint in log.known():
            share = _fastest(log, k) / joint.velocity if joint.velocity is not None and joint.velocity > 0.0 else 0.0
            if share > FASTER:
                grave, fastest = share > TOO_FAST, share * (joint.velocity or 0.0)
                degrees = joint.turns and grave and math.radians(share) <= FASTER
                what = f"its speed of {fastest:.4g} {joint.unit}/s is {share:.3g} times its limit of {joint.velocity:g}"
                mend = f"{arg.degrees if degrees else arg.scale}"
                yield Finding(self, joint.name, what + ("; in degrees?" if degrees else ""), mend, grave)


def _fastest(log: Recorded, k: int) -> float:
    """Speed by the rates, where they are those of the positions, or by slopes."""
    r, rate = log.recording, log.rates[k]
    if r.dq is not None and (rate is None or abs(rate.ratio - 1.0) <= RATIO):
        return float(np.quantile(np.abs(r.dq[:, k]), 0.99))
    width, inner = width_of(r), usual_steps(r)
    if len(r) <= 2 * width or not inner.any():
        return 0.0
    way = np.abs(r.q[width:, k] - r.q[:-width, k]) / np.maximum(r.time[width:] - r.time[:-width], 1e-12)
    way = way[np.convolve(inner, np.ones(width), "valid") == width] if len(inner) >= width else way
    return float(np.quantile(way, 0.99)) if len(way) else 0.0
