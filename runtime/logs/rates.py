"""Compares rates of a recording with the slope of its positions."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.logs.cleaning import GAP
from diffpbd.runtime.logs.cutting import cuts_of
from diffpbd.runtime.logs.findings import Finding
from diffpbd.runtime.logs.recording import Recording
from diffpbd.runtime.logs.thresholds import (
    CLOSE,
    FAR_RATIO,
    FROZEN,
    LAG,
    LAG_STEPS,
    MOVING,
    NAMED_RATIOS,
    POSES,
    RATIO,
    RELATED,
    WINDOW,
)

__all__ = ["Rates", "compare_rates", "rates_of", "usual_steps", "width_of"]

FINEST, MOST_WINDOWS = 25, 2000  # shifts to each side (up to a window's length), windows that are looked at
CLEARER, ROUNDING = (
    0.9,
    1e-6,
)  # residual with a lag over that without, below which the lag counts; residual of rounding
MOST_CUTS = 12  # spans named in a message
FEWEST_WINDOWS = 8  # least windows of a recording for the comparison


def _derive() -> str:
    return f"{arg.rates('positions')} takes the rates from the positions"


@dataclass(frozen=True)
class Rates:
    """A joint's rates compared with the slope of its positions: ratio and correlation [1], lag [s]; `speed` is the RMS slope
    [rad/s or m/s]."""

    ratio: float
    related: float
    lag: float
    speed: float


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


def compare_rates(r: Recording, rates: Sequence[Rates | None], wrong: Set[str] = frozenset()) -> list[Finding]:
    """Findings about every joint's rates; for the joints `wrong` the positions are at fault."""
    found: list[Finding] = []
    steps = np.diff(r.time)
    step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    for k, (name, rate) in enumerate(zip(r.joints, rates, strict=True)):
        if rate is None:
            continue
        if rate.ratio == 0.0 or rate.related < RELATED:
            grave = True
            if r.dq is not None and np.ptp(r.dq[:, k]) == 0.0:
                what = (
                    f"dq is {r.dq[0, k] + 0.0:g} in all samples, ratio 0 to the slope of q, which is {rate.speed:.3g}"
                )
                grave = step < POSES
                what += "" if grave else "; poses held one after the other?"
            else:
                what = (
                    f"dq has nothing to do with the slope of q: ratio {rate.ratio:.3g}, correlation {rate.related:.2f}"
                )
            found.append(Finding("rates", name, what, _derive(), grave))
        elif abs(rate.ratio - 1.0) > RATIO:
            unit = next(
                (f", {text}" for ratio, text in NAMED_RATIOS.items() if abs(rate.ratio / ratio - 1.0) < CLOSE), ""
            )
            if not unit and abs(rate.ratio) > FAR_RATIO:
                unit = ", of the motor's side of a gear"
            grave = not 1.0 / FAR_RATIO <= rate.ratio <= FAR_RATIO
            mend = _mend(name, rate.ratio, name in wrong)
            found.append(Finding("rates", name, f"dq is {rate.ratio:.4g} times the slope of q{unit}", mend, grave))
        elif abs(rate.lag) > max(LAG, LAG_STEPS * step):
            way = "after" if rate.lag > 0.0 else "before"
            found.append(Finding("lag", name, f"dq comes {1e3 * abs(rate.lag):.3g} ms {way} the slope of q", _derive()))
        else:
            found += _frozen(r, k)
    return found


def _mend(name: str, ratio: float, wrong: bool) -> str:
    """The correction: of rates, of positions, or both if either may be wrong."""
    exact = next((own for own in NAMED_RATIOS if abs(ratio / own - 1.0) < CLOSE), ratio)
    scale = f"{arg.scale} q_{name}={exact:.6g}"
    if wrong:
        return f"{scale} takes the positions' unit from the rates"
    either = 1.0 / FAR_RATIO <= abs(ratio) <= FAR_RATIO
    return f"{_derive()}; if these are wrong, {scale}" if either else _derive()


def _frozen(r: Recording, k: int) -> list[Finding]:
    """Spans in which a position keeps its value to the last bit while the rates show motion."""
    assert r.dq is not None
    still = np.concatenate([[False], (np.diff(r.q[:, k]) == 0.0) & usual_steps(r), [False]]).astype(np.int8)
    edges = np.flatnonzero(np.diff(still))
    told = np.concatenate([[0.0], np.cumsum(0.5 * (r.dq[1:, k] + r.dq[:-1, k]) * np.diff(r.time))])
    runs = [(a, b) for a, b in edges.reshape(-1, 2).tolist() if np.ptp(told[a : b + 1]) > FROZEN]
    if not runs:
        return []
    a, b = runs[0]
    when = f"first at {r.time[a]:.6g} s for {r.time[b] - r.time[a]:.3g} s"
    what = f"q stands still {len(runs)} times while dq tells of a way of {np.ptp(told[a : b + 1]):.3g}, {when}"
    return [Finding("frozen", r.joints[k], what, cuts_of(r, runs[:MOST_CUTS]))]
