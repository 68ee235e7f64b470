"""Corrects recordings on request: units, signs, the clock, turns of continuous joints, motor currents."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.base.options import expect, option
from diffpbd.runtime.folder.manifest import Joint
from diffpbd.runtime.logs.cutting import spans_of

__all__ = [
    "QUANTITIES", "TIME_UNITS", "Mending", "expect_seconds", "mended", "smooth_of_spikes", "spikes_of", "unwrapped",
    "without_spikes",
]  # fmt: skip

QUANTITIES = ("q", "dq", "ddq", "tau")
TIME = "time"
TIMED = ("scale", "shift")
"""Options that apply to time, too."""
SPIKE, SPIKE_SHARE = 25.0, 0.3
"""[1] Deviation of a torque from the local median that makes a spike: as a multiple of the 90th percentile (Baxter and Panda:
10.5), and of the range of the central 98 % of the samples."""
AROUND = 3
"""[1] Samples to each side of that median: spikes of up to three samples in a row."""
TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
MOST_SECONDS = 1e11
"""[s] Larger than any clock's time: since 1970 1.8e9 s have passed, in milliseconds 1.8e12."""
LEAST, MOST = 1e-12, 1e12
"""Bounds of a factor: beyond them it is no unit, and products of samples would overflow."""
STRETCHED = 1.5
"""[1] Most that a channel's clock may count for each second of the log: beyond it is no clock."""
EPOCHS = (1e8, 1e10)
"""[s] Times since 1970 that a clock may show: 1973 to 2286."""


@dataclass(frozen=True)
class Mending:
    """Corrections of a recording.

    `degrees`: q, dq and ddq of hinges are in degrees. `time_unit` is a key of `TIME_UNITS`. `unwrap`: take turns of 2π out
    of every joint (True), of none (False), or of joints without ends (None). `flip`: joints whose torque changes its sign.
    `scale`: factors by column (`dq_elbow`) or quantity (`dq`). `drive_gain`: torque over motor current by joint, or for all
    under "". `derive`: rates from the positions, ignoring the file's. `shift`: offsets of columns or quantities [rad,
    m, N·m, N, s], after the factors. `despike`: outliers of positions, rates and torques are replaced by
    the local median. `sort`: sort rows of a table by their stamps. `cut`: removed spans of time: a file's name, from, to
    [s since its first sample]. `drift`: rate of drift subtracted from columns or quantities [N·m/s, …]. `stretch`:
    seconds of the own clock of columns or quantities per second of the log, from the same start.
    """

    degrees: bool = option("Hinges in the log are in degrees and degrees per second.", False)
    time_unit: str = option("Unit of the log's time column (s).", "s", choices=tuple(TIME_UNITS))
    unwrap: bool | None = option(
        "Unwrap turns of 2π of all joints, or of none (default: of joints without limits).",
        None,
        flag="--unwrap/--no-unwrap",
    )
    flip: tuple[str, ...] = option(
        "Reverse the sign of this joint's torque; repeatable.", (), metavar="JOINT", many=True
    )
    scale: Mapping[str, float] = option(
        "Multiply a column such as q_lift, all of q, dq, ddq, tau, or time; repeatable.", make=dict,
        metavar="COLUMN=FACTOR", many=True, parse=lambda words: _numbers(words),
    )  # fmt: skip
    drive_gain: Mapping[str, float] = option(
        "The log's tau is a motor current: torque = K times it [N·m/A].", make=dict, metavar="K|JOINT=K,…",
        parse=lambda text: _gains(text),
    )  # fmt: skip
    derive: bool = False
    shift: Mapping[str, float] = option(
        "Add an offset to a column, such as an encoder's zero to q_lift [rad]; repeatable.", make=dict,
        metavar="COLUMN=NUMBER", many=True, parse=lambda words: _numbers(words, least=0.0),
    )  # fmt: skip
    despike: bool = option("Remove single outliers from positions, rates and torques.", False)
    sort: bool = option("Sort the rows of a table by their time stamps.", False)
    cut: tuple[tuple[str, float, float], ...] = option(
        "Cut this span out of a log, in seconds since its first sample; repeatable.", (), metavar="FILE=FROM:TO",
        many=True, parse=lambda words: spans_of(words),
    )  # fmt: skip
    drift: Mapping[str, float] = option(
        "Take a drift out of a column, so much for each second, such as tau_lift=0.02; repeatable.", make=dict,
        metavar="COLUMN=NUMBER", many=True, parse=lambda words: _numbers(words),
    )  # fmt: skip
    stretch: Mapping[str, float] = option(
        "A column's own clock counts so many seconds for each of the log's, such as tau=1.01; repeatable.", make=dict,
        metavar="COLUMN=FACTOR", many=True, parse=lambda words: _numbers(words),
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Refuses unknown units and zero factors."""
        expect(self)
        for word, factors in ((f"{arg.scale}", self.scale), (f"{arg.drive_gain}", self.drive_gain)):
            for name, factor in factors.items():
                if not (isinstance(factor, numbers.Real) and math.isfinite(factor) and factor != 0):
                    raise InputError(f"{word}{name and ' '}{name}: expected a number other than 0, found {factor!r}.")
        for word, ways in ((f"{arg.shift}", self.shift), (f"{arg.drift}", self.drift)):
            for name, way in ways.items():
                if not (isinstance(way, numbers.Real) and math.isfinite(way)):
                    raise InputError(f"{word} {name}: expected a finite number, found {way!r}.")
        for name, factor in self.stretch.items():
            if not (isinstance(factor, numbers.Real) and 1.0 / STRETCHED <= factor <= STRETCHED):  # NaN too
                raise InputError(
                    f"{arg.stretch} {name}: expected a factor between {1.0 / STRETCHED:.3g} and {STRETCHED:g}, found "
                    f"{factor!r}."
                )


def _gains(text: str) -> dict[str, float]:
    """From a command line: a number for all joints, or JOINT=NUMBER words."""
    return _numbers(text.split(",")) if "=" in text else {"": _number(text, text)}


def _numbers(words: Sequence[str], least: float = LEAST) -> dict[str, float]:
    """NAME=NUMBER words."""
    found: dict[str, float] = {}
    for word in words:
        name, _, text = (part.strip() for part in word.partition("="))
        if name in found:
            raise ValueError(f"{name} is given twice.")
        found[name] = _number(text, word, least)
    return found


def _number(text: str, word: str, least: float = LEAST) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= abs(value) <= MOST:  # NaN too
        raise ValueError(
            f"expected NAME=NUMBER with a number{' other than 0' if least else ''}, in size from {least:g} to {MOST:g}, "
            f"found {word!r}."
        )
    return value


def mended(recording: Any, how: Mending, facts: Sequence[Joint] = ()) -> Any:
    """The recording (a dataclass with `time`, `joints` and the quantities) corrected, except for turns: see `unwrapped`."""
    joints: tuple[str, ...] = recording.joints
    slides = {joint.name for joint in facts if not joint.turns}
    blocks = {name: values for name in QUANTITIES if (values := getattr(recording, name)) is not None}
    factors = {name: np.ones(len(joints)) for name in QUANTITIES}
    if how.degrees:
        for name in ("q", "dq", "ddq"):
            factors[name] *= [1.0 if joint in slides else math.radians(1.0) for joint in joints]
    for name, factor in how.scale.items():
        if name != TIME:
            quantity, columns = _columns(f"{arg.scale}", name, joints)
            factors[quantity][columns] *= factor
    for joint in how.flip:
        factors["tau"][_index(f"{arg.flip}", joint, joints)] *= -1.0
    for joint, gain in how.drive_gain.items():
        factors["tau"][slice(None) if not joint else _index(f"{arg.drive_gain}", joint, joints)] *= gain
    changed: dict[str, Any] = {
        name: values * factors[name] for name, values in blocks.items() if (factors[name] != 1.0).any()
    }
    for name, way in how.shift.items():
        if name != TIME:
            quantity, columns = _columns(f"{arg.shift}", name, joints)
            if quantity in blocks:
                values = changed[quantity] = np.array(changed.get(quantity, blocks[quantity]))
                values[:, columns] += way
    if how.despike:
        for name in ("q", "dq", "tau"):
            if name in blocks:
                changed[name] = without_spikes(changed.get(name, blocks[name]))
    factor = TIME_UNITS[how.time_unit] * how.scale.get(TIME, 1.0)
    if factor != 1.0 or how.shift.get(TIME):
        changed["time"] = recording.time * factor + how.shift.get(TIME, 0.0)
    for name, rate in how.drift.items():
        quantity, columns = _columns(f"{arg.drift}", name, joints)
        if quantity in blocks:
            time = changed.get("time", recording.time)
            values = changed[quantity] = np.array(changed.get(quantity, blocks[quantity]))
            values[:, columns] -= rate * (time - time[0])[:, None]
    if how.derive:
        changed |= {"dq": None, "ddq": None}
    return _stretched(replace(recording, **changed) if changed else recording, how.stretch)


def _stretched(recording: Any, stretch: Mapping[str, float]) -> Any:
    """Columns with their own clock, linearly interpolated at the log's stamps; without the end that they do not reach."""
    if not stretch:
        return recording
    time, joints = recording.time, recording.joints
    if not (np.diff(time) > 0.0).all():
        raise InputError(f"{arg.stretch}: the log's stamps go back or stand; cut it where they do.")
    factors: dict[tuple[str, int], float] = {}
    for name, factor in stretch.items():
        quantity, columns = _columns(f"{arg.stretch}", name, joints)
        factors |= {(quantity, k): factor * factors.get((quantity, k), 1.0) for k in columns}
    changed: dict[str, Any] = {}
    last = len(time)
    for (quantity, k), factor in factors.items():
        if (values := changed.get(quantity, getattr(recording, quantity))) is None:
            continue
        own = time[0] + factor * (time - time[0])
        values = changed[quantity] = np.array(values)
        values[:, k] = np.interp(own, time, values[:, k])
        last = min(last, int(np.searchsorted(own, time[-1], side="right")))
    kept = {
        name: changed.get(name, values)[:last]
        for name in (TIME, *QUANTITIES, "turn") if (values := getattr(recording, name, None)) is not None
    }  # fmt: skip
    if hasattr(recording, "breaks"):
        kept["breaks"] = tuple(b for b in recording.breaks if b < last)
    return replace(recording, **kept)


def _columns(option: str, name: str, joints: Sequence[str]) -> tuple[str, list[int]]:
    """The quantity and its columns for a name such as q or dq_elbow."""
    quantity, _, joint = name.partition("_")
    if quantity not in QUANTITIES or (joint and joint not in joints):
        known = [f"{q}_{j}" for q in QUANTITIES for j in joints]
        clock = [TIME] if option.removeprefix("--") in TIMED else []
        raise InputError(f"{option}: there is no column {name!r}. {hint(name, [*QUANTITIES, *clock, *known])}")
    return quantity, [k for k, other in enumerate(joints) if joint in ("", other)]


def smooth_of_spikes(values: FloatArray) -> FloatArray:
    """The moving median (samples,)."""
    padded = np.pad(values, AROUND, mode="reflect") if len(values) > AROUND else np.pad(values, AROUND, mode="edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * AROUND + 1), axis=1))


def without_spikes(values: FloatArray) -> FloatArray:
    """Columns (samples, n) with outliers replaced by the moving median."""
    return np.column_stack([np.where(spikes_of(v), smooth_of_spikes(v), v) for v in values.T])


def spikes_of(values: FloatArray) -> npt.NDArray[np.bool_]:
    """Mask of outliers among values (samples,); none in a short series or at a step."""
    smooth = smooth_of_spikes(values)
    far = np.abs(values - smooth)
    across = np.abs(np.roll(smooth, -AROUND - 1) - np.roll(smooth, AROUND + 1))
    across[: AROUND + 1] = across[len(across) - AROUND - 1 :] = 0.0
    low, high = np.quantile(values, [0.01, 0.99])
    limit = max(SPIKE * float(np.quantile(far, 0.9)), SPIKE_SHARE * float(high - low))
    return np.asarray((far > limit) & (far > across)) if limit > 0.0 else np.zeros(len(values), dtype=np.bool_)


def expect_seconds(path: str | Path, time: FloatArray) -> None:
    """Refuse impossible times [s], and suggest their unit."""
    largest = float(np.abs(time[np.isfinite(time)]).max(initial=0.0))
    if largest <= MOST_SECONDS:
        return
    fit = next(
        (name for name, factor in TIME_UNITS.items() if EPOCHS[0] <= largest * factor <= EPOCHS[1]), "ms, us or ns"
    )
    raise InputError(
        f"{path}: time reaches {largest:.6g} s, which no clock does; not in seconds? Try {arg.time_unit} {fit}."
    )


def _index(option: str, joint: str, joints: Sequence[str]) -> int:
    if joint not in joints:
        raise InputError(f"{option}: there is no joint {joint!r}. {hint(joint, joints)}")
    return list(joints).index(joint)


def unwrapped(q: FloatArray, joints: Sequence[int], breaks: Sequence[int]) -> tuple[FloatArray, dict[int, int]]:
    """Positions (samples, n) with the columns `joints` unwrapped, separately in each part; number of turns by column."""
    q = q.copy()
    counts: dict[int, int] = {}
    edges = [0, *breaks, len(q)]
    for k in joints:
        for a, b in zip(edges, edges[1:], strict=False):
            turns = np.round(np.diff(q[a:b, k]) / math.tau)
            if turns.any():
                counts[k] = counts.get(k, 0) + int(np.count_nonzero(turns))
                q[a + 1 : b, k] -= math.tau * np.cumsum(turns)
    return q, counts
