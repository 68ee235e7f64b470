"""Selects the usable samples of a recording, in recorded order: nothing is sorted or filled in.

A sample with a missing value is left out. Among stamps that do not increase, a repeated one is left out; so is a late one that
belongs into an earlier gap (swapped samples); any other step back begins a new part (a clock that was set, concatenated
recordings). Every loss but a repeated stamp splits the recording, because its two sides must not be filtered or
differentiated together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg

__all__ = ["GAP", "Cleaned", "clean", "expect_stamps"]

GAP = 1.5
"""[1] A step longer than this many median steps is a gap: at least one sample is missing."""
LATEST = 16
"""[1] Largest gap in steps, and number of samples since, for a late sample to belong into it: swapped by a network or
buffer; a longer step back is a clock's."""
SHOWN = 4  # columns named in a sentence


BACK, REPEATED = 0.1, 0.2
"""[1] Part of the time steps that go back, or are zero while values change, above which rows are unordered, or stamps rounded.
Physical recordings have none; two drivers' alternating clocks less than one in twenty."""


@dataclass(frozen=True)
class Cleaned:
    """`keep` are the samples to use, in the recorded order; `breaks` positions in `keep` where a new part begins.

    `counts` says how many samples were left out for which reason, `notes` the same in sentences.
    """

    keep: npt.NDArray[np.intp]
    breaks: tuple[int, ...]
    counts: Mapping[str, int]
    notes: tuple[str, ...]
    missing: int
    """Number of samples with a missing value."""


def clean(time: FloatArray, columns: Mapping[str, FloatArray]) -> Cleaned:
    """Select samples by their stamps `time` (samples,) [s] and the used `columns` (samples,)."""
    whole = np.isfinite(time)
    missing = {"time": int((~whole).sum())}
    for name, values in columns.items():
        there = np.isfinite(values)
        missing[name] = int((~there).sum())
        whole &= there
    judged = _Stamps(time, columns, np.flatnonzero(whole))
    counts = Counter(judged.counts)
    lost = len(time) - int(whole.sum())
    if lost:
        counts["a value is missing or not a number"] = lost
    notes = []
    if counts:
        reasons = ", ".join(f"{reason} ({number})" for reason, number in counts.items())
        notes.append(f"{sum(counts.values())} of {len(time)} samples are left out: {reasons}")
    gone = sorted((name for name, number in missing.items() if number), key=lambda name: -missing[name])
    if gone:
        named = ", ".join(f"{name} ({missing[name]})" for name in gone[:SHOWN])
        more = f" and {len(gone) - SHOWN} more columns" if len(gone) > SHOWN else ""
        notes.append(f"values are missing in {named}{more}")
    if judged.differing:
        notes.append(
            f"{judged.differing} of the repeated stamps come with other values: the first sample of each counts"
        )
    if judged.back:
        k = judged.back[0]
        notes.append(
            f"time steps back {len(judged.back)} times, first at sample {k + 1} to {time[k]:.6g} s: a new part begins there"
        )
    keep = np.array(judged.kept, dtype=np.intp)
    # A sample lost between two kept ones splits the recording, unless its stamp was a repetition.
    absent = np.ones(len(time), dtype=np.bool_)
    absent[keep] = False
    absent[judged.repeated] = False
    before = np.cumsum(absent)
    breaks = set((np.flatnonzero(np.diff(before[keep]) > 0) + 1).tolist()) | {judged.kept.index(k) for k in judged.back}
    return Cleaned(keep, tuple(sorted(breaks)), dict(counts), tuple(notes), lost)


def expect_stamps(path: str, time: FloatArray, columns: Mapping[str, FloatArray]) -> None:
    """InputError for rows that are not in time order, and for stamps rounded to more than the sampling interval."""
    there = np.isfinite(time)
    steps = np.diff(time[there])
    if len(steps) < 10:
        return
    back = int((steps < 0.0).sum())
    if back > BACK * len(steps):
        raise InputError(
            f"{path}: time goes back at {back} of {len(steps)} steps; rows that are in no order? {arg.sort} puts the rows of a "
            "table in the order of their stamps."
        )
    changed = np.any([np.diff(values[there]) != 0.0 for values in columns.values()], axis=0)
    repeated = int(((steps == 0.0) & changed).sum())
    if repeated > REPEATED * len(steps):
        span = float(np.ptp(time[there]))
        per = float(np.polyfit(time[there] - time[there][0], np.arange(len(steps) + 1.0), 1)[0]) if span > 0.0 else 0.0
        way = f"; {arg.rate} {per:.7g} takes the samples at even steps" if span > 0.0 else ""
        grain = f"rounded to {float(np.median(steps[steps > 0.0])):.3g} s" if span > 0.0 else "a clock that stands"
        raise InputError(
            f"{path}: {repeated} of {len(steps)} stamps repeat the one before while values change: {grain}{way}."
        )


class _Stamps:
    """One pass over the complete samples."""

    def __init__(self, time: FloatArray, columns: Mapping[str, FloatArray], whole: npt.NDArray[np.intp]) -> None:
        self.kept: list[int] = []
        self.back: list[int] = []
        self.repeated: list[int] = []
        self.differing = 0
        self.counts: Counter[str] = Counter()
        stamps = time[whole].tolist()
        steps = np.diff(time[whole])
        step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
        holes: list[tuple[float, float, int]] = []
        last = -np.inf
        for at, (k, t) in enumerate(zip(whole.tolist(), stamps, strict=True)):
            if t == last:
                self.counts["repeated stamp"] += 1
                self.repeated.append(k)
                self.differing += any(values[k] != values[self.kept[-1]] for values in columns.values())
                continue
            if t < last:
                if t == 0.0 and next((s for s in stamps[at:] if s != 0.0), np.inf) > last:
                    self.counts["zero stamp"] += 1
                    continue
                if any(low < t < high and len(self.kept) - place <= LATEST for low, high, place in holes):
                    self.counts["late stamp"] += 1
                    continue
                self.back.append(k)
                holes.clear()
            elif GAP * step < t - last <= LATEST * step:
                holes = [*holes[-LATEST:], (last, t, len(self.kept))]
            self.kept.append(k)
            last = t
