"""A clock of the recording that is not in seconds, or runs faster or slower than the motion."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Finding, Findings
from diffpbd.runtime.causes.missing import Missing
from diffpbd.runtime.causes.motion import Motion, Torques
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.logs.rates import CLOSE, MOVING, NAMED_RATIOS, RATIO, RELATED

SLOWEST = 0.5
"""[s] Time step above which a clock in ms, µs or ns is suspected: arms are not recorded at 2 Hz."""
UNITS = ((1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
BELIEVED = (20.0, 5000.0)
"""[Hz] Sampling rates by which a clock's unit is guessed."""
OFF = 0.05
"""[1] Deviation from 1 of the rates' ratio to the slope of the positions, if it is common to all joints."""
ALIKE = 0.02
"""[1] Relative distance of the joints' ratios from their median within which they are alike. Baxter and Panda: 0.01."""
FARTHEST = 8.0
"""[1] Largest factor of a clock's speed; beyond, the rates have another unit."""


class Time(Missing):
    """In a fit by accelerations that are a multiple of the recorded ones."""

    kind, word, lacking, of_joint = "time", "the clock", "another clock", False
    says = "its accelerations were {ratio:.3g} times the recorded ones"
    cure = "Look at the clock and the rate of the log ({arg.rate})"
    order, of_clock = 2, True
    means = (
        "steps of seconds: the clock counts in ms, µs or ns; or dq is the same multiple of the slope of q at every joint: it "
        "runs too fast or too slow"
    )
    mends = "`--time-unit ms`, `us`, `ns`; `--rate`, `--scale time=0.5`"

    def columns(self, m: Motion, joint: str, size: float) -> Torques:
        if not m.open_tree:
            return m.nothing(1)
        return m.smooth(m.plain - m.torque(ddq=np.zeros_like(m.samples.ddq)))[..., None]

    def seen(self, log: Recorded) -> Findings:
        ratios = np.array([rate.ratio for _, _, rate in log.compared()])
        middle = float(np.median(ratios)) if len(ratios) else 0.0
        found = self._unit(log, middle) or self._speed(log, ratios, middle)
        if found is not None and (found.grave or not log.quick):
            yield found

    def _unit(self, log: Recorded, ratio: float) -> Finding | None:
        """A clock not in seconds: no recording is that slow, unless its rates confirm it."""
        dq, step = log.recording.dq, log.step
        still = dq is not None and bool(np.abs(dq).max() < MOVING)  # a sequence of held poses
        if step < SLOWEST or abs(ratio - 1.0) < RATIO or still:
            return None
        fit = [name for factor, name in UNITS if BELIEVED[0] <= 1.0 / (step * factor) <= BELIEVED[1]]
        if ratio:  # rates are per second
            fit = [name for factor, name in UNITS if abs(ratio * factor - 1.0) < 2.0 * RATIO] or fit
        figure = f", and rates are {ratio:.4g} times too large for it" if ratio else ""
        what = f"the median step of time is {step:g} s{figure}; not in seconds?"
        return Finding(self, "", what, f"{arg.time_unit} {fit[0] if fit else 'ms, us or ns'}", dq is not None)

    def _speed(self, log: Recorded, ratios: FloatArray, middle: float) -> Finding | None:
        """A clock that runs too fast or too slow: all joints' rates are the same multiple of the slopes, which is no unit's."""
        if len(ratios) < 2 or log.step <= 0.0 or any(rate.related < RELATED for _, _, rate in log.compared()):
            return None
        named = any(abs(middle / ratio - 1.0) < CLOSE for ratio in NAMED_RATIOS)
        if named or not 1.0 / FARTHEST < middle < FARTHEST or abs(middle - 1.0) < OFF:
            return None
        if (np.abs(ratios / middle - 1.0) > ALIKE).any():
            return None
        what = (
            f"dq is {middle:.4g} times the slope of q at each of {len(ratios)} joints: the clock counts {middle:.4g} s for "
            f"each second of the rates, with samples at {1.0 / log.step:.4g} Hz"
        )
        mend = (
            f"{arg.rate} {middle / log.step:.4g} if {arg.rate} made the time, else {arg.scale} time={1.0 / middle:.6g}"
        )
        return Finding(self, "", what, mend, grave=abs(middle - 1.0) > RATIO)
