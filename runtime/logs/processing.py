"""From a log to samples fit for identification: equal steps, zero-phase low-pass filter, derivatives without lag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.logs.csv import RATES, Log

__all__ = ["Processing", "Samples", "process"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

JITTER = 0.02
"""[1] Deviation of a time step, as part of the median step, up to which samples count as equally spaced: the error that
it makes in a rate is of that order, below that of the filter's edges."""
GAP = 1.5
"""[1] A step longer than this many median steps is a gap: at least one sample is missing."""
FEWEST_PERIODS = 5.0
"""[1] Shortest log in periods of the cut-off: below that the filter's start and end meet."""
CUTOFFS = (1e-4, 1e6)  # Hz
LONGEST_TRIM = 1e6  # s
FEWEST_SAMPLES = 8
"""[1] Shortest log without a filter: central differences and a spline need some neighbours."""


@dataclass(frozen=True)
class Processing:
    """How a log becomes samples.

    `cutoff` [Hz] of a Butterworth low-pass of `order`, run forward and backward over positions, rates and torques
    (None: no filter); `trim` [s] is cut off at both ends after filtering.
    """

    cutoff: float | None = 5.0
    order: int = 4
    trim: float = 0.0

    def __post_init__(self) -> None:
        """Refuses what cannot be filtered."""
        low, high = CUTOFFS
        if self.cutoff is not None and not low <= self.cutoff <= high:  # NaN too
            raise InputError(
                f"--cutoff: expected a positive number of Hz, from {low:g} to {high:g}, found {self.cutoff:g}."
            )
        if not 0.0 <= self.trim <= LONGEST_TRIM:
            raise InputError(f"--trim: expected seconds, at least 0 and at most {LONGEST_TRIM:g}, found {self.trim:g}.")

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
        return f"{text}; accelerations by central differences of the rates{cut}"


@dataclass(frozen=True)
class Samples:
    """Equally spaced samples of one recording, or of a part of it without gaps.

    time (samples,) [s]; q, dq, ddq, tau (samples, joints), filtered, with the ends that `trimmed` cuts off; `notes` say what
    was done to them.
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

    def __len__(self) -> int:
        return len(self.time) - 2 * self._cut

    @property
    def _cut(self) -> int:
        return round(self.processing.trim * self.rate)

    def smooth(self, values: FloatArray) -> FloatArray:
        """The filter that the measured torques went through, along the first axis; then trimmed."""
        filtered = _filtered(values, self.rate, self.processing)
        return filtered[self._cut : len(filtered) - self._cut]

    def trimmed(self, values: FloatArray) -> FloatArray:
        """The rows that `smooth` keeps."""
        return values[self._cut : len(values) - self._cut]


def process(name: str, log: Log, processing: Processing) -> list[Samples]:
    """The parts of a log between its gaps, as samples; parts too short to be filtered are left out and said."""
    if log.tau is None:
        raise InputError(f"{name}: it has no tau_<joint> columns; identification needs measured torques.")
    if len(log) < 2:
        raise InputError(f"{name}: it has {len(log)} sample; too short for identification.")
    steps = np.diff(log.time)
    step = float(np.median(steps))
    if not RATES[0] <= 1.0 / step <= RATES[1]:
        raise InputError(
            f"{name}: the median step of time is {step:g} s; expected a sampling rate of {RATES[0]:g} to {RATES[1]:g} Hz."
        )
    rate = 1.0 / step
    if processing.cutoff is not None and processing.cutoff >= 0.5 * rate:
        raise InputError(
            f"{name}: the cut-off of {processing.cutoff:g} Hz is not below half the sampling rate of {rate:g} Hz. "
            "Choose a lower --cutoff."
        )
    fewest = FEWEST_SAMPLES + 2 * round(processing.trim * rate)
    if processing.cutoff is not None:
        fewest += int(np.ceil(FEWEST_PERIODS * rate / processing.cutoff))
    edges = [0, *(np.flatnonzero(steps > GAP * step) + 1).tolist(), len(log)]
    spans = [(a, b) for a, b in zip(edges, edges[1:], strict=False)]
    kept = [(a, b) for a, b in spans if b - a >= fewest]
    if not kept:
        longest = max(b - a for a, b in spans)
        where = "its longest part without a gap has" if len(spans) > 1 else "it has"
        raise InputError(
            f"{name}: {where} {longest} samples ({longest * step:.3g} s); too short: at least {fewest} "
            f"({fewest * step:.3g} s) are needed with this filter."
        )
    parts = []
    for k, (a, b) in enumerate(kept):
        notes = []
        if len(spans) > 1:
            notes.append(f"part {k + 1} of {len(kept)} between {len(spans) - 1} gaps, samples {a + 1} to {b}")
        if len(kept) < len(spans) and k == 0:
            lost = sum(b - a for a, b in spans) - sum(b - a for a, b in kept)
            notes.append(f"{lost} samples in parts too short to be filtered are left out")
        part = f"{name} part {k + 1}" if len(kept) > 1 else name
        parts.append(_samples(part, log, slice(a, b), rate, processing, notes))
    return parts


def _samples(
    name: str, log: Log, span: slice, rate: float, processing: Processing, notes: list[str]
) -> Samples:
    assert log.tau is not None  # refused by process
    time, q, dq, tau = log.time[span], log.q[span], log.dq[span], log.tau[span]
    ddq = None if log.ddq is None else log.ddq[span]
    worst = float(np.abs(np.diff(time) * rate - 1.0).max())
    if worst > JITTER:
        even = time[0] + np.arange(int((time[-1] - time[0]) * rate) + 1) / rate
        try:
            q, dq, tau = (CubicSpline(time, values)(even) for values in (q, dq, tau))
            ddq = None if ddq is None else CubicSpline(time, ddq)(even)
        except (ValueError, np.linalg.LinAlgError) as error:
            raise InputError(f"{name}: its uneven samples cannot be interpolated: {error}.") from None
        notes.append(
            f"steps vary by up to {100 * worst:.3g} % of the median: resampled at {rate:.6g} Hz by a cubic spline"
        )
        time = even
    smooth_dq = _filtered(dq, rate, processing)
    if ddq is None:
        acceleration = np.gradient(smooth_dq, 1.0 / rate, axis=0)
    else:
        acceleration = _filtered(ddq, rate, processing)
        notes.append("accelerations from the log's own ddq columns")
    for quantity, values in (("q", q), ("dq", dq), ("ddq", acceleration), ("tau", tau)):
        if not np.isfinite(values).all():
            raise InputError(f"{name}: its {quantity} is not finite; look at its samples and steps of time.")
    smooth_q, smooth_tau = (_filtered(v, rate, processing) for v in (q, tau))
    return Samples(
        name, log.joints, time, smooth_q, smooth_dq, acceleration, smooth_tau, rate, processing, tuple(notes)
    )


def _filtered(values: FloatArray, rate: float, processing: Processing) -> FloatArray:
    if processing.cutoff is None:
        return np.asarray(values, dtype=np.float64)
    sections = butter(processing.order, processing.cutoff, fs=rate, output="sos")
    return np.asarray(sosfiltfilt(sections, values, axis=0), dtype=np.float64)


def names_of(paths: list[str | Path]) -> list[str]:
    """Short names of files: their last part, with the folder where two would be the same."""
    short = [Path(path).name for path in paths]
    return [str(path) if short.count(name) > 1 else name for name, path in zip(short, paths, strict=True)]
