"""Positions that jump."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.logs.mending import unwrapped
from diffpbd.runtime.logs.rates import usual_steps

JUMP = 0.1
"""[rad or m] Step of a position between two samples without a gap. Largest on Baxter 0.031, on Panda 0.009."""
JUMP_SHARE = 10.0
"""[1] JUMP as a multiple of the 90th percentile of steps. Largest on Baxter 3.8, on Panda 6.5 (uneven stamps)."""
MOST_USUAL = 0.9
"""[1] Steps below half a turn, of those of a joint that may be recorded within a turn."""


class Jumps(Cause):
    """A new part begins where a position jumps: its two sides were not recorded continuously. Joints without ends that were
    recorded within a turn are unwrapped first."""

    kind, order = "jumps", 1
    means, mends = "positions that jump, such as wrapped ones", "`--unwrap`, or the recordings apart"

    def seen(self, log: Recorded) -> Findings:
        _unwrap(log)
        r = log.recording
        if len(r) < 3:
            return
        steps, inner, breaks = np.diff(r.time), usual_steps(r), set(r.breaks)
        for k, name in enumerate(r.joints):
            change = np.abs(np.diff(r.q[:, k]))
            usual = float(np.quantile(change[inner], 0.9)) if inner.any() else 0.0
            wild = inner & (change > max(JUMP, JUMP_SHARE * usual))
            if r.dq is not None:  # a step that the rates confirm is motion, unless they are wrong elsewhere too
                wild &= np.abs(0.5 * (r.dq[1:, k] + r.dq[:-1, k]) * steps) < 0.5 * change
            at = np.flatnonzero(wild)
            if not len(at):
                continue
            breaks |= set((at + 1).tolist())
            what = (
                f"{len(at)} jumps of up to {change[at].max():.3g} between samples, first at {r.time[at[0] + 1]:.6g} s"
            )
            if turns := int((np.abs(change[at] - math.tau) < JUMP).sum()):
                endless = name in log.facts and log.facts[name].endless
                mend = f"leave out {arg.unwrap(False)}" if endless else f"{arg.unwrap} takes turns out of every joint"
                yield Finding(self, name, f"{what}, {turns} of them of a turn of 2π", mend, grave=True)
            else:
                yield Finding(self, name, f"{what}; a part begins there", "better give the recordings apart")
        log.recording = replace(r, breaks=tuple(sorted(breaks)))


def _unwrap(log: Recorded) -> None:
    r = log.recording
    turning = [
        k for k, name in enumerate(r.joints)
        if log.unwrap or (log.unwrap is None and name in log.facts and log.facts[name].endless)
    ]  # fmt: skip
    usual = np.abs(np.diff(r.q, axis=0)) < math.pi
    turning = [k for k in turning if len(r) > 1 and usual[:, k].mean() > MOST_USUAL]
    q, counts = unwrapped(r.q, turning, r.breaks)
    log.notes += [
        f"{r.joints[k]} was recorded within a turn: {count} steps of 2π are taken out ({arg.unwrap(False)} leaves them)"
        for k, count in counts.items()
    ]
    log.recording = replace(r, q=q) if counts else r
