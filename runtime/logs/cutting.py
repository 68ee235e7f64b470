"""Cuts spans of time out of a recording; text of the option for that."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.names import listing

__all__ = ["MOST_CUTS", "Spans", "cut_of", "cut_out", "cuts_of", "expect_files", "runs_of", "spans_of"]

MOST_CUTS = 12
"""[1] Largest number of spans in a message."""

Spans = tuple[tuple[str, float, float], ...]
"""File name, begin and end [s] since its first sample."""


def cut_of(path: str, begin: float, end: float) -> str:
    """The option that cuts a span [s since the first sample]."""
    return f"{arg.cut} {shlex.quote(Path(path).name)}={max(begin, 0.0):.3f}:{end:.3f}"


def cuts_of(r: Any, runs: Iterable[Sequence[int]]) -> str:
    """`cut_of` for runs of samples (first, last) of a recording."""
    steps = np.diff(r.time)
    half = 0.5 * float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    times = [(r.time[a] - r.time[0] - half, r.time[min(b, len(r) - 1)] - r.time[0] + half) for a, b in runs]
    return " ".join(cut_of(r.path, begin, end) for begin, end in times)


def runs_of(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Begin and end (runs, 2) of the stretches where a mask holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return np.asarray(edges.reshape(-1, 2), dtype=np.intp)


def spans_of(words: Sequence[str]) -> Spans:
    """Spans from a command line's FILE=FROM:TO words."""
    found = []
    for word in words:
        name, _, span = word.rpartition("=")
        try:
            begin, end = (float(text) for text in span.split(":"))
        except ValueError:
            begin = end = float("nan")
        if not name or not begin < end:  # NaN too
            raise ValueError(f"expected FILE=FROM:TO, seconds since its first sample, found {word!r}.")
        found.append((name, begin, end))
    return tuple(found)


def expect_files(spans: Spans, logs: Sequence[str | Path]) -> None:
    """Refuse a name that no log has."""
    names = {str(log) for log in logs} | {Path(log).name for log in logs}
    for name, _, _ in spans:
        if name not in names:
            raise InputError(
                f"{arg.cut}: there is no log {name}; given are {listing([Path(log).name for log in logs])}."
            )


def cut_out(r: Any, spans: Spans) -> Any:
    """The recording without these spans of it; a part begins after each."""
    since = r.time - r.time[0]
    gone = np.zeros(len(r), dtype=np.bool_)
    for name, begin, end in spans:
        if name in (r.path, Path(r.path).name):
            gone |= (since >= begin) & (since <= end)
    if not gone.any():
        return r
    keep = np.flatnonzero(~gone)
    if not len(keep):
        raise InputError(f"{r.path}: {arg.cut} leaves none of its {len(r)} samples.")
    breaks = {int(b) for b in np.searchsorted(keep, r.breaks)} | set((np.flatnonzero(np.diff(keep) > 1) + 1).tolist())
    blocks = {
        name: values[keep] for name in ("q", "dq", "ddq", "tau", "turn") if (values := getattr(r, name)) is not None
    }
    return replace(
        r, time=r.time[keep], breaks=tuple(sorted(b for b in breaks if 0 < b < len(keep))),
        notes=(*r.notes, f"{len(r) - len(keep)} samples are cut out"), **blocks,
    )  # fmt: skip
