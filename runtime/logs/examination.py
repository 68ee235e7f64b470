"""Checks a recording for consistency and against the robot's limits; `torque_examination` uses its dynamics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.folder.manifest import Joint
from diffpbd.runtime.logs.channels import examine_channels, examine_motion
from diffpbd.runtime.logs.clock import clock_of
from diffpbd.runtime.logs.findings import Finding
from diffpbd.runtime.logs.mending import unwrapped
from diffpbd.runtime.logs.rates import Rates, compare_rates, rates_of, usual_steps, width_of
from diffpbd.runtime.logs.recording import Recording
from diffpbd.runtime.logs.sampling import compare_sampling
from diffpbd.runtime.logs.thresholds import (
    CLOSE,
    FASTER,
    JUMP,
    JUMP_SHARE,
    LIMIT,
    LIMIT_SHARE,
    MOST_TURNS_OUT,
    RATIO,
    RELATED,
    TOO_FAST,
)

__all__ = ["examine"]

MOST_USUAL = 0.9  # steps below half a turn, of those of a joint that may be recorded within a turn
FARTHEST = 2.0  # multiple of a joint's range from which positions are in another unit
FAR_BEYOND = 3.0  # FARTHEST without rates


def examine(
    recording: Recording, facts: Sequence[Joint] = (), *, unwrap: bool | None = None, passive: Sequence[str] = ()
) -> tuple[Recording, list[Finding]]:
    """The recording, unwrapped and split where positions jump, and all findings.

    `facts` are the robot's joints, as far as they are known. `unwrap` as in `Mending`. `passive` joints have no motor.
    """
    by_name = {joint.name: joint for joint in facts}
    notes: list[str] = []
    findings: list[Finding] = []
    given = recording
    recording, spikes = examine_motion(recording)
    findings += spikes
    recording = _without_turns(recording, by_name, unwrap, notes)
    recording = _split_at_jumps(recording, by_name, findings)
    rates = rates_of(recording)
    coarse = compare_sampling(recording)
    quick = {finding.joint for finding in coarse}  # slopes of their positions are wrong like their accelerations
    clock = [finding for finding in clock_of(recording, rates) if finding.grave or not coarse]
    findings += clock
    if not clock:
        findings += coarse
        wrong = _wrong_positions(recording, by_name, rates)
        findings += [f for f in compare_rates(recording, rates, wrong) if f.grave or f.joint not in quick]
        findings += _limits(recording, {n: joint for n, joint in by_name.items() if n not in wrong}, rates)
    findings += examine_channels(recording, passive)
    if spikes:
        recording = replace(recording, q=given.q, dq=given.dq)
    return replace(recording, notes=(*recording.notes, *notes)), findings


def _without_turns(r: Recording, facts: Mapping[str, Joint], unwrap: bool | None, notes: list[str]) -> Recording:
    turning = [
        k for k, name in enumerate(r.joints)
        if unwrap or (unwrap is None and name in facts and _endless(facts[name]))
    ]  # fmt: skip
    if unwrap is False or not turning:
        return r
    usual = np.abs(np.diff(r.q, axis=0)) < math.pi
    turning = [k for k in turning if usual[:, k].mean() > MOST_USUAL] if len(r) > 1 else []
    q, counts = unwrapped(r.q, turning, r.breaks)
    notes += [
        f"{r.joints[k]} was recorded within a turn: {count} steps of 2π are taken out ({arg.unwrap(False)} leaves them)"
        for k, count in counts.items()
    ]
    return replace(r, q=q) if counts else r


def _wrong_positions(r: Recording, facts: Mapping[str, Joint], rates: Sequence[Rates | None]) -> set[str]:
    """Joints whose rates disagree with the slopes because positions are in another unit: positions are far beyond limits, or
    faster than the joint, unlike the rates; all with the same ratio."""
    told = {name: rate.ratio for name, rate in zip(r.joints, rates, strict=True) if rate is not None}
    wrong = set()
    for k, (name, rate) in enumerate(zip(r.joints, rates, strict=True)):
        joint = facts.get(name)
        if rate is None or joint is None or r.dq is None or abs(rate.ratio) >= 1.0 - RATIO or rate.related < RELATED:
            continue
        bounded = joint.lower is not None and joint.upper is not None
        beyond = bounded and np.ptp(r.q[:, k]) > FARTHEST * (joint.upper - joint.lower)  # type: ignore[operator]
        quick = joint.velocity is not None and joint.velocity > 0.0 and rate.speed > joint.velocity
        if beyond or quick:
            wrong |= {other for other, ratio in told.items() if abs(ratio / rate.ratio - 1.0) < CLOSE}
    return wrong


def _endless(joint: Joint) -> bool:
    return joint.endless


def _split_at_jumps(r: Recording, facts: Mapping[str, Joint], findings: list[Finding]) -> Recording:
    """A new part begins where a position jumps: its two sides were not recorded continuously."""
    if len(r) < 3:
        return r
    steps, inner = np.diff(r.time), usual_steps(r)
    breaks = set(r.breaks)
    for k, name in enumerate(r.joints):
        change = np.abs(np.diff(r.q[:, k]))
        usual = float(np.quantile(change[inner], 0.9)) if inner.any() else 0.0
        wild = inner & (change > max(JUMP, JUMP_SHARE * usual))
        if (
            r.dq is not None and wild.any()
        ):  # a step that the rates confirm is motion, unless they are wrong elsewhere too
            told = np.abs(0.5 * (r.dq[1:, k] + r.dq[:-1, k]) * steps)
            wild &= told < 0.5 * change
        at = np.flatnonzero(wild)
        if not len(at):
            continue
        turns = int((np.abs(change[at] - math.tau) < JUMP).sum())
        what = f"{len(at)} jumps of up to {change[at].max():.3g} between samples, first at {r.time[at[0] + 1]:.6g} s"
        if turns:
            known = name in facts and _endless(facts[name])
            mend = f"leave out {arg.unwrap(False)}" if known else f"{arg.unwrap} takes turns out of every joint"
            findings.append(Finding("jumps", name, f"{what}, {turns} of them of a turn of 2π", mend, grave=True))
        else:
            findings.append(
                Finding(
                    "jumps",
                    name,
                    f"{what}; a part begins there",
                    "better give the recordings apart",
                )
            )
        breaks |= set((at + 1).tolist())
    return replace(r, breaks=tuple(sorted(breaks)))


def _limits(r: Recording, facts: Mapping[str, Joint], rates: Sequence[Rates | None]) -> list[Finding]:
    found = []
    for k, name in enumerate(r.joints):
        joint = facts.get(name)
        if joint is None:
            continue
        q = r.q[:, k]
        low = -math.inf if joint.lower is None else joint.lower
        high = math.inf if joint.upper is None else joint.upper
        span, over = high - low, max(low - float(q.min()), float(q.max()) - high)
        hinge = joint.turns
        if span > 0.0 and over > max(LIMIT, LIMIT_SHARE * span if math.isfinite(span) else 0.0):
            grave = over > MOST_TURNS_OUT * span or float(np.ptp(q)) > 2.0 * span
            what = (
                f"q is {over:.3g} {joint.unit} outside of {low:.4g} to {high:.4g} (from {q.min():.4g} to {q.max():.4g})"
            )
            scaled = np.radians(q)
            degrees = (
                hinge and float(np.ptp(q)) > 3.0 * span and scaled.min() >= low - LIMIT and scaled.max() <= high + LIMIT
            )
            found.append(_beyond(name, what, grave, degrees, q, (low, high)))
        believed = (rate := rates[k]) is None or abs(rate.ratio - 1.0) <= RATIO
        found += _speed(r if believed else replace(r, dq=None), k, joint)
    return found


def _beyond(
    name: str, what: str, grave: bool, degrees: bool, q: npt.NDArray[np.float64], limits: tuple[float, float]
) -> Finding:
    """Cause of positions beyond the limits: degrees, thousandths, whole turns, or really beyond."""
    if degrees:
        return Finding("units", name, f"{what}; in degrees?", f"{arg.degrees}", grave=True)
    low, high = limits
    if np.ptp(q) > FAR_BEYOND * (high - low) and q.min() >= 1e3 * (low - LIMIT) and q.max() <= 1e3 * (high + LIMIT):
        return Finding(
            "units", name, f"{what}; in thousandths?", f"{arg.scale} q=0.001 {arg.scale} dq=0.001", grave=True
        )
    turns = math.tau * round((float(q.min() + q.max()) - low - high) / 2.0 / math.tau)
    if turns and q.min() - turns >= low - LIMIT and q.max() - turns <= high + LIMIT:
        return Finding("limits", name, f"{what}; off by whole turns?", f"{arg.shift} q_{name}={-turns:.9g}", grave)
    return Finding("limits", name, what, f"{arg.degrees}, {arg.unwrap} or other limits", grave)


def _speed(r: Recording, k: int, joint: Joint) -> list[Finding]:
    """Checks speeds against the description's, from slopes of the positions if there are no rates."""
    if joint.velocity is None or joint.velocity <= 0.0:
        return []
    width = width_of(r)
    inner = usual_steps(r)
    if r.dq is not None:
        fastest = float(np.quantile(np.abs(r.dq[:, k]), 0.99))
    elif len(r) > 2 * width and inner.any():
        way = np.abs(r.q[width:, k] - r.q[:-width, k]) / np.maximum(r.time[width:] - r.time[:-width], 1e-12)
        way = way[np.convolve(inner, np.ones(width), "valid") == width] if len(inner) >= width else way
        fastest = float(np.quantile(way, 0.99)) if len(way) else 0.0
    else:
        return []
    share = fastest / joint.velocity
    if share <= FASTER:
        return []
    grave = share > TOO_FAST
    degrees = joint.turns and grave and math.radians(share) <= FASTER
    what = f"its speed of {fastest:.4g} {joint.unit}/s is {share:.3g} times its limit of {joint.velocity:g}"
    return [
        Finding(
            "speed",
            joint.name,
            what + ("; in degrees?" if degrees else ""),
            f"{arg.degrees}" if degrees else f"{arg.scale}",
            grave,
        )
    ]
