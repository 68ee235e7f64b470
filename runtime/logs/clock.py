"""Compares a recording's clock with its rates: unit, and speed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.logs.findings import Finding
from diffpbd.runtime.logs.rates import Rates
from diffpbd.runtime.logs.recording import Recording
from diffpbd.runtime.logs.thresholds import ALIKE, CLOCK, CLOSE, MOVING, NAMED_RATIOS, RATIO, RELATED, SLOWEST

__all__ = ["clock_of"]

UNITS = ((1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
FARTHEST = 8.0  # [1] largest factor of a clock's speed; beyond, the rates have another unit
BELIEVED = (20.0, 5000.0)  # Hz, sampling rates by which a clock's unit is guessed


def clock_of(r: Recording, rates: Sequence[Rates | None]) -> list[Finding]:
    """Findings about the clock; if there are any, nothing that depends on it is checked."""
    steps = np.diff(r.time)
    step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    return _unit(r, rates, step) or _speed(rates, step)


def _unit(r: Recording, rates: Sequence[Rates | None], step: float) -> list[Finding]:
    """A clock not in seconds: no recording is that slow, unless its rates confirm it."""
    ratios = [rate.ratio for rate in rates if rate is not None]
    consistent = bool(ratios) and abs(float(np.median(ratios)) - 1.0) < RATIO
    still = r.dq is not None and bool(np.abs(r.dq).max() < MOVING)  # a sequence of held poses
    if step < SLOWEST or consistent or still:
        return []
    fit = [name for factor, name in UNITS if BELIEVED[0] <= 1.0 / (step * factor) <= BELIEVED[1]]
    if ratios:  # rates are per second
        fit = [name for factor, name in UNITS if abs(float(np.median(ratios)) * factor - 1.0) < 2.0 * RATIO] or fit
    guess = f"{arg.time_unit} {fit[0]}" if fit else f"{arg.time_unit} ms, us or ns"
    figure = f", and rates are {float(np.median(ratios)):.4g} times too large for it" if ratios else ""
    return [
        Finding("time", "", f"the median step of time is {step:g} s{figure}; not in seconds?", guess, r.dq is not None)
    ]


def _speed(rates: Sequence[Rates | None], step: float) -> list[Finding]:
    """A clock that runs too fast or too slow: all joints' rates are the same multiple of the slopes, which is no unit's."""
    told = [rate for rate in rates if rate is not None]
    if len(told) < 2 or step <= 0.0 or any(rate.related < RELATED for rate in told):
        return []
    ratios = np.array([rate.ratio for rate in told])
    middle = float(np.median(ratios))
    named = any(abs(middle / ratio - 1.0) < CLOSE for ratio in NAMED_RATIOS)
    if (
        not 1.0 / FARTHEST < middle < FARTHEST
        or named
        or abs(middle - 1.0) < CLOCK
        or bool((np.abs(ratios / middle - 1.0) > ALIKE).any())
    ):
        return []
    what = (
        f"dq is {middle:.4g} times the slope of q at each of {len(told)} joints: the clock counts {middle:.4g} s for each "
        f"second of the rates, with samples at {1.0 / step:.4g} Hz"
    )
    mend = f"{arg.rate} {middle / step:.4g} if {arg.rate} made the time, else {arg.scale} time={1.0 / middle:.6g}"
    return [Finding("time", "", what, mend, grave=abs(middle - 1.0) > RATIO)]
