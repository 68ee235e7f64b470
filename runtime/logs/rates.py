"""Compares rates of a recording with the slope of its positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.logs.cleaning import GAP
from diffpbd.runtime.logs.recording import Recording

__all__ = [
    "CLOSE", "FAR_RATIO", "MOVING", "NAMED_RATIOS", "RATIO", "RELATED", "Rates", "derive", "rates_of", "usual_steps",
    "width_of",
]  # fmt: skip

WINDOW = 0.25
"""[s] Window for comparing differences of positions with integrated rates: long enough that quantisation (Baxter: 4e-4 rad)
is a hundredth of a slow joint's displacement, short compared with a swing."""
MOVING = 0.02
"""[rad/s or m/s] RMS speed below which a joint's rates are not checked. Baxter's slowest joint has 0.044."""
RATIO = 0.15
"""[1] Deviation from 1 of the rates' ratio to the slope of the positions. Baxter 0.991 to 1.010, Panda 0.999 to 1.000: what
noise and a driver's own filter make of it. The smallest mistake worth the name is a wrong gear."""
FAR_RATIO = 2.0
"""[1] Ratio (or its inverse) from which rates are refused: no filter does that; units, signs and gears do."""
RELATED = 0.7
"""[1] Correlation of rates and slope below which the two are unrelated. Baxter 0.997, Panda 0.9999."""
LAG = 0.025
"""[s] Rates later or earlier than the slope of the positions. Baxter 13 to 14 ms, Panda 5 ms."""
LAG_STEPS = 2.0
"""[1] LAG in time steps: of two drivers' buffers."""
CLOSE = 0.1
"""[1] Relative distance to a named ratio for its name to be reported."""
NAMED_RATIOS = {
    -1.0: "reversed in sign",
    math.degrees(1.0): "in degrees a second",
    math.radians(1.0): "in rad/s beside positions in degrees",
    30.0 / math.pi: "in revolutions a minute",
    0.5 / math.pi: "in revolutions a second",
    1e3: "in thousandths (mm/s), or the time is in ms",
    1e-3: "in m/s beside positions in mm, or the time in ks",
}
"""Ratios of rates to the slope of positions that a unit makes."""
FINEST, MOST_WINDOWS, FEWEST_WINDOWS = 25, 2000, 8
"""[1] Shifts to each side (up to a window's length); windows that are looked at, and least of a recording."""
CLEARER, ROUNDING = 0.9, 1e-6
"""[1] Residual with a lag over that without, below which the lag counts; residual of rounding."""


def derive() -> str:
    """The option that takes rates from positions."""
    return f"{arg.rates('positions')} takes the rates from the positions"


@dataclass(frozen=True)
class Rates:
    """A joint's rates compared with the slope of its positions: ratio and correlation [1], lag [s]; `speed` is the RMS slope
    [rad/s or m/s]."""

    ratio: float
    related: float
    lag: float
    speed: float

    @property
    def unrelated(self) -> bool:
        """Whether rates have nothing to do with the slope."""
        return self.ratio == 0.0 or self.related < RELATED

    @property
    def wrong(self) -> bool:
        """Whether they are not those of the positions."""
        return self.unrelated or abs(self.ratio - 1.0) > RATIO

    def late(self, step: float) -> bool:
        """Whether they come later or earlier, of a recording with time steps of so many seconds."""
        return abs(self.lag) > max(LAG, LAG_STEPS * step)


def usual_steps(r: Recording) -> npt.NDArray[np.bool_]:
    """Mask of time steps of the usual length, within a part."""
    steps = np.diff(r.time)
    usual = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    inner: npt.NDArray[np.bool_] = (steps > 0.0) & (steps <= GAP * usual)
    inner[[b - 1 for b in r.breaks]] = False
    return inner


def width_of(r: Recording) -> int:
    """Samples of a window."""
    steps = np.diff(r.time)
    step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 1.0
    return int(np.clip(round(WINDOW / step), 4, 250))


def rates_of(r: Recording) -> list[Rates | None]:
    """Comparison for every joint; None without rates or enough motion."""
    width = width_of(r)
    if r.dq is None or len(r) < FEWEST_WINDOWS * width:
        return [None] * len(r.joints)
    steps = np.diff(r.time)
    whole = np.concatenate([[0], np.cumsum(~usual_steps(r) & (steps > 3.0 * GAP * np.median(steps)) | (steps <= 0.0))])
    for b in r.breaks:
        whole[b:] += 1
    same = whole[width:] == whole[:-width]  # windows without a gap
    told = np.concatenate(
        [np.zeros((1, len(r.joints))), np.cumsum(0.5 * (r.dq[1:] + r.dq[:-1]) * steps[:, None], axis=0)]
    )
    duration = (r.time[width:] - r.time[:-width])[same]
    found: list[Rates | None] = []
    for k in range(len(r.joints)):
        way, integral = (v[width:, k] - v[:-width, k] for v in (r.q, told))
        found.append(_compared(way, integral, same, float(np.median(duration)) if len(duration) else 0.0, width))
    return found


def _compared(
    way: FloatArray, integral: FloatArray, same: npt.NDArray[np.bool_], duration: float, width: int
) -> Rates | None:
    if same.sum() < width or duration <= 0.0:
        return None
    speed = float(np.sqrt(np.mean(way[same] ** 2)) / duration)
    told = float(np.sqrt(np.mean(integral[same] ** 2)) / duration)
    if speed < MOVING:
        return None
    if told == 0.0:
        return Rates(0.0, 0.0, 0.0, speed)
    stride, thin = max(1, width // FINEST), max(1, len(way) // MOST_WINDOWS)
    middle = np.arange(width, len(way) - width, thin)
    b = way[middle]
    scores, ratios = [], []
    for shift in range(-(width // stride) * stride, width + 1, stride):
        use = same[middle] & same[middle + shift]
        a, c = integral[middle + shift][use], b[use]
        size = math.sqrt(float(a @ a) * float(c @ c))
        scores.append(float(a @ c) / size if size > 0.0 else 0.0)
        ratios.append(float(a @ c) / float(c @ c) if size > 0.0 else 0.0)
    best, plain = int(np.argmax(np.abs(scores))), len(scores) // 2
    unlike, unlike_plain = 1.0 - abs(scores[best]), 1.0 - abs(scores[plain])
    if unlike_plain < ROUNDING or unlike > CLEARER * unlike_plain:  # such as a steady turn, which shows no lag
        best = plain
    return Rates(ratios[best], abs(scores[best]), _finer(scores, best) * stride * duration / width, speed)


def _finer(scores: Sequence[float], best: int) -> float:
    """The shift of the largest score, refined by a parabola."""
    width = (len(scores) - 1) // 2
    if not 0 < best < len(scores) - 1:
        return float(best - width)
    low, top, high = (abs(scores[best + d]) for d in (-1, 0, 1))
    bend = low - 2.0 * top + high
    return best - width + (float(np.clip(0.5 * (low - high) / bend, -1.0, 1.0)) if bend < 0.0 else 0.0)
