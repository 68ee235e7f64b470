"""Checks of single channels of a recording: constant, saturated or stuck torques, and spikes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.logs.cutting import cuts_of
from diffpbd.runtime.logs.findings import Finding
from diffpbd.runtime.logs.mending import smooth_of_spikes, spikes_of, without_spikes
from diffpbd.runtime.logs.rates import usual_steps
from diffpbd.runtime.logs.recording import Recording
from diffpbd.runtime.logs.thresholds import RUN, SATURATED, STUCK, STUCK_WAY

__all__ = ["examine_channels", "examine_motion"]

MOST_CUTS = 12
"""[1] Largest number of runs of samples in a message."""
QUANTISED = 0.2
"""[1] Distinct values of a channel per sample below which it is quantised; and the part of its values at which it stays for a
while, above which such stays are usual."""
FEWEST = 3
"""[1] Least number of spikes of a position or a rate that are not taken for impacts."""
OFTENER = 3.0
"""[1] Ratio of a stay to the next longest above which quantisation does not explain it."""
NO_SPIKE = 1e-4
"""[1] Jumps of a position or rate, relative to the largest value of any joint, below which they are not spikes."""


def examine_motion(r: Recording) -> tuple[Recording, list[Finding]]:
    """Findings of spikes in positions and rates, and the recording without them, for the further checks."""
    found: list[Finding] = []
    changed: dict[str, Any] = {}
    for field, word in (("q", "position"), ("dq", "rate")):
        values = getattr(r, field)
        if values is None or len(r) < 2:
            continue
        least = NO_SPIKE * float(np.abs(values).max())
        own = [f for k in range(len(r.joints)) for f in _spikes(r, k, values[:, k], word, least)]
        if own:
            changed[field] = without_spikes(values)
            found += own
    return (replace(r, **changed) if changed else r), found


def examine_channels(r: Recording, passive: Sequence[str]) -> list[Finding]:
    """Torques that never change, saturate, get stuck while the joint moves, or have spikes."""
    found: list[Finding] = []
    if r.tau is None:
        return found
    for k, name in enumerate(r.joints):
        tau = r.tau[:, k]
        if name in passive and not tau.any():
            continue
        if np.ptp(tau) == 0.0:
            what = f"the torque of {name} is constant ({tau[0] + 0.0:g}) in all samples, as what is not measured is"
            found.append(Finding("constant", name, what, f"{arg.torque} chooses another signal"))
            continue
        found += _saturated(r, k) or _stuck(r, k)
        found += _spikes(r, k, tau, "torque")
    return found


def _saturated(r: Recording, k: int) -> list[Finding]:
    assert r.tau is not None
    tau, found = r.tau[:, k], []
    moving = np.concatenate([[False], np.diff(r.q[:, k]) != 0.0])
    for value, what in ((float(tau.max()), "largest"), (float(tau.min()), "smallest")):
        edges = _runs((tau == value) & moving)
        long = edges[np.diff(edges, axis=1)[:, 0] >= RUN]
        count = int(np.diff(long, axis=1).sum())
        if count >= max(RUN, SATURATED * len(tau)) and not _usual(tau, moving):
            when = f"first at {r.time[long[0, 0]]:.6g} s"
            text = f"its torque is at its {what} value {value:g} for {count} samples, {when}: saturated?"
            more = f" and so on, {len(long)} in all" if len(long) > MOST_CUTS else ""
            found.append(Finding("saturated", r.joints[k], text, cuts_of(r, long[:MOST_CUTS] - (0, 1)) + more))
    return found


def _usual(tau: npt.NDArray[np.float64], moving: npt.NDArray[np.bool_]) -> bool:
    """Whether a channel is so coarsely quantised that it stays at many of its values while the joint moves."""
    same = np.concatenate([[True], np.diff(tau) == 0.0])
    edges = _runs(same & moving)
    long = edges[np.diff(edges, axis=1)[:, 0] >= RUN]
    return len(np.unique(tau[long[:, 0]])) > QUANTISED * len(np.unique(tau))


def _stuck(r: Recording, k: int) -> list[Finding]:
    """A torque that keeps its value to the last bit while the joint moves."""
    assert r.tau is not None
    q, tau = r.q[:, k], r.tau[:, k]
    edges = _runs(np.concatenate([(np.diff(tau) == 0.0) & usual_steps(r), [False]]))
    long = [
        (a, b) for a, b in edges.tolist() if r.time[b] - r.time[a] > STUCK and float(np.ptp(q[a : b + 1])) > STUCK_WAY
    ]
    if long and len(np.unique(tau)) < QUANTISED * len(tau):  # such runs are usual
        spans = sorted(r.time[b] - r.time[a] for a, b in edges.tolist())
        long = [run for run in long if len(spans) < 2 or r.time[run[1]] - r.time[run[0]] > OFTENER * spans[-2]]
    if not long:
        return []
    a, b = max(long, key=lambda run: r.time[run[1]] - r.time[run[0]])
    what = (
        f"its torque stays at {tau[a]:g} for {r.time[b] - r.time[a]:.3g} s from {r.time[a]:.6g} s on, while the joint moves "
        f"by {np.ptp(q[a : b + 1]):.3g}: stuck?"
    )
    return [Finding("stuck", r.joints[k], what, cuts_of(r, long), grave=True)]


def _spikes(
    r: Recording, k: int, values: npt.NDArray[np.float64], word: str, least: float | None = None
) -> list[Finding]:
    """Spikes of a channel; `least`: of a motion, where few may be impacts and smaller jumps are ignored."""
    grave = least is not None
    at = np.flatnonzero(spikes_of(values))
    if len(at) < (FEWEST if grave else 1):
        return []
    worst = float(np.abs(values - smooth_of_spikes(values))[at].max())
    if least is not None and worst <= least:
        return []
    what = f"its {word} jumps for single samples {len(at)} times, by up to {worst:.3g}, first at {r.time[at[0]]:.6g} s"
    return [Finding("spikes", r.joints[k], what, f"{arg.despike} takes them out before the filter spreads them", grave)]


def _runs(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Begin and end (runs, 2) of the stretches where a mask holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return np.asarray(edges.reshape(-1, 2), dtype=np.intp)
