"""Time profiles along a straight path: with bounded acceleration and jerk, or time-optimal within these bounds (ruckig)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import expect, option

__all__ = ["ACCELERATION", "FASTEST", "JERK", "PROFILE", "PROFILES", "Along", "Approach", "along"]

PROFILES: Final = ("ramp", "smooth", "ruckig")
PROFILE: Final = "smooth"
"""Default profile towards a goal."""
ACCELERATION: Final = 10.0
"""[1/s] Default acceleration over speed: full speed after 0.17 s."""
JERK: Final = 200.0
"""[1/s²] Default jerk over speed."""
STEEPEST: Final = 1.5
"""[1] Largest slope of 3 u² − 2 u³ on [0, 1], by which the speed rises and falls."""
BENT: Final = 6.0
"""[1] Its largest second derivative."""

FASTEST: Final = 100.0
"""[rad/s or m/s] Largest accepted speed, above that of any arm."""
SHARPEST: Final = 1e5
"""[rad/s², rad/s³] Largest accepted acceleration and jerk."""


@dataclass(frozen=True)
class Approach:
    """How a goal is approached: `speed` [rad/s], `profile`, and of all but "ramp" the bounds `acceleration` [rad/s²] and
    `jerk` [rad/s³], by default `ACCELERATION` and `JERK` times the speed."""

    speed: float = option(
        "Speed towards the goal or the log's first sample [rad/s].", 0.5, flag="--goal-speed", span=(0.0, FASTEST), open=True,
        unit="rad/s",
    )  # fmt: skip
    profile: str = option(
        "Motion to the goal: with bounded acceleration and jerk (smooth), in the shortest time within these bounds (ruckig, an "
        "extra), or at constant speed (ramp).", PROFILE, flag="--goal-profile", choices=PROFILES,
    )  # fmt: skip
    acceleration: float | None = option(
        "Largest acceleration towards it [rad/s²]; default: 10 times --goal-speed.", None, flag="--goal-acceleration",
        span=(0.0, SHARPEST), open=True, unit="rad/s²",
    )  # fmt: skip
    jerk: float | None = option(
        "Largest jerk towards it [rad/s³]; default: 200 times --goal-speed.", None, flag="--goal-jerk", span=(0.0, SHARPEST),
        open=True, unit="rad/s³",
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Refuses invalid speeds and bounds."""
        expect(self)
        if self.profile == "ramp" and not (self.acceleration is None and self.jerk is None):
            raise InputError(
                "The goal profile ramp bounds neither acceleration nor jerk; expected smooth or ruckig with them."
            )


@dataclass(frozen=True)
class Along:
    """A profile of the path parameter from 0 to 1: duration `takes` [s], parameter and its rate [1/s] at a time [s]."""

    takes: float
    one: Callable[[float], tuple[float, float]]

    def at(self, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Path parameters and rates (k,) at times (k,); a loop, which for the few of a tick is quicker than arrays."""
        share, rate = np.array([self.one(t) for t in time.tolist()]).reshape(-1, 2).T
        return share, rate


def along(profile: str, speed: float, acceleration: float, jerk: float) -> Along:
    """From 0 to 1 within these bounds [1/s], [1/s²], [1/s³]; infinite speed (no path) takes no time."""
    if not np.isfinite(speed):
        return Along(0.0, lambda time: (1.0, 0.0))
    if profile == "ruckig":
        return _ruckig(speed, acceleration, jerk)
    return _smooth(speed, acceleration, jerk)


def _smooth(speed: float, acceleration: float, jerk: float) -> Along:
    """The speed rises by a cubic without slope at either end, stays, and falls the same way: acceleration and jerk are bounded,
    and the speed is at most `speed`. A short path has a lower speed."""
    speed = min(speed, float(np.sqrt(acceleration / STEEPEST)), float(np.cbrt(jerk / BENT)))
    rise = max(STEEPEST * speed / acceleration, float(np.sqrt(BENT * speed / jerk)))
    takes = 1.0 / speed + rise

    def at(time: float) -> tuple[float, float]:
        left = takes - time
        since = max(min(time, left), 0.0)  # the second half mirrors the first
        u = min(since / rise, 1.0)
        gone = speed * (rise * u * u * u * (1.0 - 0.5 * u) + max(since - rise, 0.0))
        return gone if time < left else 1.0 - gone, speed * u * u * (3.0 - 2.0 * u)

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

    def at(time: float) -> tuple[float, float]:
        if time >= found.duration:
            return 1.0, 0.0
        place, rate = found.at_time(max(time, 0.0))[:2]
        return place[0], rate[0]

    return Along(float(found.duration), at)
