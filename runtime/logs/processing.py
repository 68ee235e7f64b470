"""Processes a log for identification: equal steps, zero-phase low-pass filter, derivatives without lag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.quaternions import turned_by, with_turn
from diffpbd.runtime.logs.cleaning import GAP
from diffpbd.runtime.logs.still_ends import still_ends
from diffpbd.runtime.logs.table import PATH, RATES

__all__ = ["Motion", "Processing", "Samples", "filter_parts", "process"]

JITTER = 0.02
"""[1] Deviation of a time step, relative to the median, up to which samples count as equally spaced: the resulting error
of a rate is of that order, below that of the filter's edges."""
BRIDGED = 0.05
"""[1] Longest step, in periods of the cut-off, that is jitter at high sampling rates and not a gap. A cubic spline through
20 points a period is accurate to 1e-4."""
FEWEST_PERIODS = 5.0
"""[1] Shortest log in periods of the cut-off: below, the filter's transients meet."""
CUTOFFS = (1e-4, 1e6)  # Hz
LONGEST_TRIM = 1e6  # s
ADVISED = 0.1
"""[s] Longest gap that a message proposes to close: jitter, not an interruption."""
EVEN = 0.01
"""Largest relative deviation of a log's mean rate from a round figure that a message proposes."""
LONGEST_BRIDGE = 1.0
"""[s] Longest gap that may be closed on request; beyond, a spline is mostly invented."""
EXTENDED = 1.5
"""[1] Periods of the cut-off by which a recording is extended at both ends before it is filtered (odd about its end)."""
FEWEST_SAMPLES = 8
"""[1] Shortest log without a filter: for central differences and a spline."""


class Motion(Protocol):
    """Input: a `Log`, or a `Recording`, which may lack rates. Arrays (samples, joints), time (samples,) [s]."""

    @property
    def time(self) -> FloatArray:
        """Stamps [s], increasing within a part."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Names."""

    @property
    def q(self) -> FloatArray:
        """Positions [rad or m]."""

    @property
    def dq(self) -> FloatArray | None:
        """Rates."""

    @property
    def ddq(self) -> FloatArray | None:
        """Accelerations."""

    @property
    def tau(self) -> FloatArray | None:
        """Torques [N·m or N]."""


@dataclass(frozen=True)
class Processing:
    """Settings of the processing of a log.

    `cutoff` [Hz] of a Butterworth low-pass of `order`, run forward and backward over positions, rates and torques
    (None: no filter); `trim` [s] is cut off at both ends after filtering, with `still` longer ends without motion
    too; gaps up to `bridge` [s] are closed by a spline.
    """

    cutoff: float | None = 5.0
    order: int = 4
    trim: float = 0.0
    bridge: float = 0.0
    still: bool = False

    def __post_init__(self) -> None:
        """Refuses impossible settings."""
        low, high = CUTOFFS
        if self.cutoff is not None and not low <= self.cutoff <= high:  # NaN too
            raise InputError(
                f"{arg.cutoff}: expected a positive number of Hz, from {low:g} to {high:g}, found {self.cutoff:g}."
            )
        if not 0.0 <= self.trim <= LONGEST_TRIM:
            raise InputError(
                f"{arg.trim}: expected seconds, at least 0 and at most {LONGEST_TRIM:g}, found {self.trim:g}."
            )
        if not 0.0 <= self.bridge <= LONGEST_BRIDGE:
            raise InputError(f"{arg.bridge}: expected seconds, 0 to {LONGEST_BRIDGE:g}, found {self.bridge:g}.")

    def describe(self) -> str:
        """One line for people."""
        if self.cutoff is None:
            text = "no filter"
        else:
            text = (
                f"zero-phase Butterworth low-pass of order {self.order} at {self.cutoff:g} Hz on positions, rates, "
                "measured and predicted torques"
            )
        cut = f"; {self.trim:g} s cut at both ends" if self.trim else ""
        cut += "; still ends cut" if self.still else ""
        return f"{text}; accelerations by central differences of measured rates, splines where a log has none{cut}"


@dataclass(frozen=True)
class Samples:
    """Equally spaced samples of one recording, or of a part of it without gaps.

    time (samples,) [s]; q, dq, ddq, tau (samples, joints), filtered, with the ends that `trimmed` cuts off; `notes` describe
    the processing.
    """

    name: str
    joints: tuple[str, ...]
    time: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray
    tau: FloatArray
    rate: float
    processing: Processing
    notes: tuple[str, ...] = ()
    unread: bool = False
    """Whether the recording has no torques; `tau` is zero then."""
    noise: tuple[FloatArray, FloatArray | None] | None = None
    """Standard deviations (n,) of the white noise of recorded positions and rates [rad or m, rad/s or m/s], from what the
    filter removed; None without a filter, or rates None without recorded rates."""
    recording: str = ""
    """Name of the recording."""
    sound: bool = True
    """Whether the motion of the recording is sound."""

    ends: tuple[int, int] = (0, 0)
    """Number of samples without motion at the start and at the end, if these are cut."""
    derived: tuple[str, ...] = ()
    """Joints without an encoder, whose motion follows from closed loops."""
    turn: FloatArray | None = None
    """Quaternions wxyz (samples, 4) of a floating base; q has its accumulated rotation."""
    read: tuple[FloatArray, FloatArray, FloatArray] | None = None
    """q, dq and ddq before their projection onto the closed loops of the description."""

    def __len__(self) -> int:
        return len(range(len(self.time))[self._kept])

    @property
    def p(self) -> FloatArray:
        """Positions (samples, n_p) as the robot's functions take them."""
        return with_turn(self.q, self.turn)

    @property
    def _kept(self) -> slice:
        first, last = (max(round(self.processing.trim * self.rate), end) for end in self.ends)
        return slice(first, len(self.time) - last)

    def smooth(self, values: FloatArray) -> FloatArray:
        """Filters like the measured torques, along the first axis, and trims."""
        return _filtered(values, self.rate, self.processing)[self._kept]

    def disturbed(self, rng: np.random.Generator) -> Samples:
        """The motion with added noise of the recorded size, filtered alike."""
        if self.noise is None:
            return self
        at, rate = self.noise
        drawn = _filtered(rng.normal(size=self.q.shape), self.rate, self.processing) * at
        if rate is None:
            moving = _slope(self.time, drawn)
        else:
            moving = _filtered(rng.normal(size=self.q.shape), self.rate, self.processing) * rate
        changing = np.gradient(moving, 1.0 / self.rate, axis=0)
        turn = None if self.turn is None else turned_by(self.turn, drawn[:, 3:6])
        return replace(self, q=self.q + drawn, dq=self.dq + moving, ddq=self.ddq + changing, turn=turn, read=None)

    def trimmed(self, values: FloatArray) -> FloatArray:
        """The rows that `smooth` keeps."""
        return values[self._kept]


def process(
    name: str, log: Motion, processing: Processing, *, breaks: Sequence[int] = (), notes: Sequence[str] = (),
    sound: bool = True, whole: bool = True,
) -> list[Samples]:  # fmt: skip
    """The parts of a log with torques between its gaps, as samples for identification; see `filter_parts`."""
    if log.tau is None:
        said = f" ({'; '.join(notes)})" if notes else ""
        raise InputError(f"{name}: it has no tau_<joint> columns; identification needs measured torques{said}.")
    return filter_parts(name, log, processing, breaks=breaks, notes=notes, sound=sound, whole=whole)


def filter_parts(
    name: str, log: Motion, processing: Processing, *, breaks: Sequence[int] = (), notes: Sequence[str] = (),
    sound: bool = True, whole: bool = True,
) -> list[Samples]:  # fmt: skip
    """The parts of a log, filtered; parts too short for that are left out, with a note. Without torques `tau` is zero.

    A part ends at a gap, at a step back of time, and before the samples `breaks`. `notes` go to the first part. `whole`: no
    samples with missing values were left out.
    """
    said = f" Of the recording: {'; '.join(notes)}." if notes else ""
    if len(log.time) < 2:
        raise InputError(f"{name}: it has {len(log.time)} sample; too short for identification.{said}")
    steps = np.diff(log.time)
    step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    if step == 0.0 or not RATES[0] <= 1.0 / step <= RATES[1]:
        raise InputError(
            f"{name}: the median step of time is {step:g} s; expected a sampling rate of {RATES[0]:g} to {RATES[1]:g} Hz."
        )
    rate = 1.0 / step
    if processing.cutoff is not None and processing.cutoff >= 0.5 * rate:
        raise InputError(
            f"{name}: the cut-off of {processing.cutoff:g} Hz is not below half the sampling rate of {rate:g} Hz. "
            f"Choose a lower {arg.cutoff}.{said}"
        )
    fewest = FEWEST_SAMPLES + 2 * round(processing.trim * rate)
    longest_step = GAP * step
    if processing.cutoff is not None:
        fewest += int(np.ceil(FEWEST_PERIODS * rate / processing.cutoff))
        longest_step = max(longest_step, BRIDGED / processing.cutoff)
    usual, longest_step = longest_step, max(longest_step, processing.bridge)
    if processing.bridge:
        breaks = [b for b in breaks if not 0.0 < steps[b - 1] <= processing.bridge]
        bridged = int(((steps > usual) & (steps <= longest_step)).sum())
        notes = [
            *notes,
            *([f"{bridged} gaps of up to {processing.bridge:g} s closed by a cubic spline"] if bridged else []),
        ]
    gaps = (np.flatnonzero((steps > longest_step) | (steps <= 0.0)) + 1).tolist()
    edges = sorted({0, *gaps, *breaks, len(log.time)})
    spans = [(a, b) for a, b in zip(edges, edges[1:], strict=False)]
    kept = [(a, b) for a, b in spans if b - a >= fewest]
    if not kept:
        longest = max(b - a for a, b in spans)
        where = "its longest part without a gap has" if len(spans) > 1 else "it has"
        way = _way_over(steps, breaks, longest_step, fewest, whole)
        raise InputError(
            f"{name}: {where} {longest} samples ({longest * step:.3g} s); too short: at least {fewest} "
            f"({fewest * step:.3g} s) are needed with this filter.{way}{said}"
        )
    parts = []
    for k, (a, b) in enumerate(kept):
        own = list(notes) if k == 0 else []
        if len(spans) > 1:
            own.append(f"part {k + 1} of {len(kept)} between {len(spans) - 1} gaps, samples {a + 1} to {b}")
        if len(kept) < len(spans) and k == 0:
            lost = sum(b - a for a, b in spans) - sum(b - a for a, b in kept)
            own.append(f"{lost} samples in parts too short to be filtered are left out")
        part = f"{name} part {k + 1}" if len(kept) > 1 else name
        parts.append(replace(_samples(part, log, slice(a, b), rate, processing, own), recording=name, sound=sound))
    return parts


def _way_over(steps: FloatArray, breaks: Sequence[int], longest_step: float, fewest: int, whole: bool) -> str:
    """Text on the `--bridge` that makes a part long enough if many short gaps (arrival stamps) split a log, and, for a `whole`
    one, the `--rate` at which it may have been sampled; or empty."""
    cuts = np.sort(steps[(steps > longest_step) & (steps <= ADVISED)])
    if not len(cuts):
        return ""
    bridge = float(np.ceil(100.0 * cuts[-1]) / 100.0)
    left = np.flatnonzero((steps > bridge) | (steps <= 0.0)) + 1
    far = [b for b in breaks if not 0.0 < steps[b - 1] <= bridge]
    edges = sorted({0, *left.tolist(), *far, len(steps) + 1})
    if max(b - a for a, b in zip(edges, edges[1:], strict=False)) < fewest:
        return ""
    mean = len(steps) / float(steps.sum())
    rate = float(f"{mean:.1g}") if abs(float(f"{mean:.1g}") / mean - 1.0) < EVEN else float(f"{mean:.2g}")
    even = (
        f", {arg.rate} {rate:g} takes even steps instead (if no sample is lost)"
        if whole and abs(rate / mean - 1.0) < EVEN
        else ""
    )
    return f" {len(cuts)} steps of {longest_step:.3g} to {cuts[-1]:.3g} s split it; {arg.bridge} {bridge:g} closes them{even}."


def _samples(name: str, log: Motion, span: slice, rate: float, processing: Processing, notes: list[str]) -> Samples:
    time, q = log.time[span], log.q[span]
    dq, ddq, tau = (None if values is None else values[span] for values in (log.dq, log.ddq, log.tau))
    turn: FloatArray | None = None if getattr(log, "turn", None) is None else log.turn[span]  # type: ignore[attr-defined]
    unread = tau is None
    tau = np.zeros_like(q) if tau is None else tau
    worst = float(np.abs(np.diff(time) * rate - 1.0).max())
    if worst > JITTER:
        even = time[0] + np.arange(int((time[-1] - time[0]) * rate) + 1) / rate
        try:
            q, tau = (CubicSpline(time, values)(even) for values in (q, tau))
            dq, ddq = (None if values is None else CubicSpline(time, values)(even) for values in (dq, ddq))
            if turn is not None:
                turn = CubicSpline(time, _continuous(turn))(even)
        except (ValueError, np.linalg.LinAlgError) as error:
            raise InputError(f"{name}: its uneven samples cannot be interpolated: {error}.") from None
        notes.append(
            f"steps vary by up to {100 * worst:.3g} % of the median: resampled at {rate:.6g} Hz by a cubic spline"
        )
        time = even
    smooth_q, smooth_tau = (_filtered(v, rate, processing) for v in (q, tau))
    if turn is not None:
        turn = turned_by(turn, (smooth_q - q)[:, _about(log.joints)])
    if dq is None:
        smooth_dq = _slope(time, smooth_q)
        notes.append("rates by the derivative of a cubic spline through the filtered positions: no dq columns")
    else:
        smooth_dq = _filtered(dq, rate, processing)
    if ddq is not None:
        acceleration = _filtered(ddq, rate, processing)
        notes.append("accelerations from the log's own ddq columns")
    elif dq is None:
        acceleration = _slope(time, smooth_dq)
        notes.append("accelerations by the derivative of a cubic spline through these rates")
    else:
        acceleration = np.gradient(smooth_dq, 1.0 / rate, axis=0)
    for quantity, values in (("q", smooth_q), ("dq", smooth_dq), ("ddq", acceleration), ("tau", smooth_tau)):
        if not np.isfinite(values).all():
            raise InputError(f"{name}: its {quantity} is not finite; look at its samples and steps of time.")
    noise = None
    if processing.cutoff is not None:
        noise = _noise(q, smooth_q, rate, processing), None if dq is None else _noise(dq, smooth_dq, rate, processing)
    ends = still_ends(smooth_q, smooth_dq, rate) if processing.still else (0, 0)
    notes.extend(_of_ends(name, ends, len(time), rate))
    return Samples(
        name,
        log.joints,
        time,
        smooth_q,
        smooth_dq,
        acceleration,
        smooth_tau,
        rate,
        processing,
        tuple(notes),
        unread,
        noise,
        ends=ends or (0, 0),
        turn=turn,
    )


def _about(joints: Sequence[str]) -> list[int]:
    """Columns of the accumulated rotation of a floating base."""
    return [list(joints).index(name.removeprefix("q_")) for name in PATH]


def _continuous(turn: FloatArray) -> FloatArray:
    """Quaternions with continuous signs."""
    flips = np.where(np.sum(turn[1:] * turn[:-1], axis=1) < 0.0, -1.0, 1.0)
    return np.asarray(turn * np.concatenate([[1.0], np.cumprod(flips)])[:, None], dtype=np.float64)


def _of_ends(name: str, ends: tuple[int, int] | None, count: int, rate: float) -> list[str]:
    """A sentence on cut ends; refused if too little is left."""
    if ends is None:
        return ["no joint moves: its ends are kept"]
    left = count - sum(ends)
    if left < FEWEST_SAMPLES:
        raise InputError(
            f"{name}: {arg.trim} still leaves {left} samples, in which a joint moves; at least {FEWEST_SAMPLES} are needed."
        )
    return (
        [f"still ends cut: {ends[0] / rate:.3g} s at its start, {ends[1] / rate:.3g} s at its end"] if any(ends) else []
    )


def _noise(raw: FloatArray, smooth: FloatArray, rate: float, processing: Processing) -> FloatArray:
    """Standard deviation (n,) of white noise, from the part that the filter removed."""
    impulse = np.zeros((len(raw), 1))
    impulse[len(raw) // 2] = 1.0
    share = float(((impulse - _filtered(impulse, rate, processing)) ** 2).sum())
    return np.asarray((raw - smooth).std(axis=0) / np.sqrt(share), dtype=np.float64)


def _slope(time: FloatArray, values: FloatArray) -> FloatArray:
    return np.asarray(CubicSpline(time, values).derivative()(time), dtype=np.float64)


def _filtered(values: FloatArray, rate: float, processing: Processing) -> FloatArray:
    if processing.cutoff is None:
        return np.asarray(values, dtype=np.float64)
    sections, more = _sections(processing.order, processing.cutoff, rate), int(EXTENDED * rate / processing.cutoff)
    return np.asarray(sosfiltfilt(sections, values, axis=0, padlen=min(more, len(values) - 1)), dtype=np.float64)


@cache
def _sections(order: int, cutoff: float, rate: float) -> FloatArray:
    """Cached second-order sections of the low-pass: its design takes longer than filtering a short column."""
    return np.asarray(butter(order, cutoff, fs=rate, output="sos"), dtype=np.float64)


def names_of(paths: list[str | Path]) -> list[str]:
    """Short names of files: their last part, with the folder if two would be the same."""
    short = [Path(path).name for path in paths]
    return [str(path) if short.count(name) > 1 else name for name, path in zip(short, paths, strict=True)]
