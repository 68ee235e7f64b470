"""How a way is gone along over time: with bounded acceleration and jerk, or in the shortest time that these allow (ruckig)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError

__all__ = ["ACCELERATION", "JERK", "PROFILES", "Along", "along"]

PROFILES: Final = ("ramp", "smooth", "ruckig")
ACCELERATION: Final = 10.0
"""[1/s] Default acceleration over speed: full speed after 0.17 s."""
JERK: Final = 200.0
"""[1/s²] Default jerk over speed."""
STEEPEST: Final = 1.5
"""[1] Largest slope of 3 u² − 2 u³ on [0, 1], by which the speed rises and falls."""
BENT: Final = 6.0
"""[1] Its largest second derivative."""


@dataclass(frozen=True)
class Along:
    """A way as a share of it: `takes` [s], `at` of times (k,) [s] the share gone and its rate [1/s], (k,) each."""

    takes: float
    at: Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def along(profile: str, speed: float, acceleration: float, jerk: float) -> Along:
    """From 0 to 1 at most so fast [1/s], [1/s²], [1/s³]; no way (infinite speed) takes no time."""
    if not np.isfinite(speed):
        return Along(0.0, lambda time: (np.ones_like(time), np.zeros_like(time)))
    if profile == "ruckig":
        return _ruckig(speed, acceleration, jerk)
    if profile == "smooth":
        return _smooth(speed, acceleration, jerk)
    raise InputError(f"goal profile: expected one of {', '.join(PROFILES)}, found {profile!r}.")


def _smooth(speed: float, acceleration: float, jerk: float) -> Along:
    """The speed rises by a cubic without slope at either end, stays, and falls the same way: acceleration and jerk are bounded,
    and no faster than asked. A short way has a lower speed."""
    speed = min(speed, np.sqrt(acceleration / STEEPEST), float(np.cbrt(jerk / BENT)))
    rise = max(STEEPEST * speed / acceleration, float(np.sqrt(BENT * speed / jerk)))
    takes = 1.0 / speed + rise

    def rising(time: FloatArray) -> tuple[FloatArray, FloatArray]:
        u = np.clip(time / rise, 0.0, 1.0)
        return speed * rise * u**3 * (1.0 - 0.5 * u), speed * u * u * (3.0 - 2.0 * u)

    def at(time: FloatArray) -> tuple[FloatArray, FloatArray]:
        first, rate = rising(time)
        last, slow = rising(takes - time)
        cruise = np.clip(time - rise, 0.0, max(0.0, takes - 2.0 * rise))
        late = time > takes - rise
        gone = np.where(late, 1.0 - last, first + speed * cruise)
        return np.where(time >= takes, 1.0, gone), np.where(time >= takes, 0.0, np.minimum(rate, slow))

    return Along(takes, at)


def _ruckig(speed: float, acceleration: float, jerk: float) -> Along:
    """Time-optimal under the three limits (Berscheid, Kröger 2021)."""
    from ruckig import InputParameter, Result, Ruckig, Trajectory

    wanted: Any = InputParameter(1)
    wanted.current_position, wanted.target_position = [0.0], [1.0]
    wanted.max_velocity, wanted.max_acceleration, wanted.max_jerk = [speed], [acceleration], [jerk]
    found: Any = Trajectory(1)
    if Ruckig(1).calculate(wanted, found) != Result.Working:
        raise InputError(f"ruckig found no profile at {speed:g} 1/s, {acceleration:g} 1/s², {jerk:g} 1/s³ of the way.")

    def at(time: FloatArray) -> tuple[FloatArray, FloatArray]:
        rows = [found.at_time(float(t))[:2] for t in np.clip(time, 0.0, found.duration)]
        place, rate = (np.array([row[k][0] for row in rows]) for k in (0, 1))
        there = time >= found.duration
        return np.where(there, 1.0, place), np.where(there, 0.0, rate)

    return Along(float(found.duration), at)
