"""A torque at its largest or smallest value for a while."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.logs.cutting import MOST_CUTS, cuts_of, runs_of
from diffpbd.runtime.logs.recording import Recording

RUN = 10
"""[1] Consecutive samples at a torque's largest or smallest value during motion that count as saturation. Baxter, Panda:
3."""
SATURATED = 0.003
"""[1] Least part of all samples in such runs. Baxter and Panda: 0."""
QUANTISED = 0.2
"""[1] Part of a channel's values at which it stays for a while, above which such stays are usual."""


class Saturated(Cause):
    kind, order, of_torque = "saturated", 6, True
    means, mends = "a torque stays at its largest or smallest value while the joint moves", "`--cut FILE=FROM:TO`"

    def seen(self, log: Recorded) -> Findings:
        r = log.recording
        for k, name in enumerate(r.joints):
            for value, what, long in saturations(r, k):
                count, when = int(np.diff(long, axis=1).sum()), f"first at {r.time[long[0, 0]]:.6g} s"
                text = f"its torque is at its {what} value {value:g} for {count} samples, {when}: saturated?"
                more = f" and so on, {len(long)} in all" if len(long) > MOST_CUTS else ""
                yield Finding(self, name, text, cuts_of(r, long[:MOST_CUTS] - (0, 1)) + more)


def saturations(r: Recording, k: int) -> list[tuple[float, str, npt.NDArray[np.intp]]]:
    """Value, word, and begin and end (runs, 2) of the runs in which joint k's torque is saturated."""
    if r.tau is None or np.ptp(r.tau[:, k]) == 0.0:
        return []
    tau, found = r.tau[:, k], []
    moving = np.concatenate([[False], np.diff(r.q[:, k]) != 0.0])
    stays = _long((np.concatenate([[True], np.diff(tau) == 0.0])) & moving)
    usual = len(np.unique(tau[stays[:, 0]])) > QUANTISED * len(np.unique(tau))  # a coarsely quantised channel
    for value, what in ((float(tau.max()), "largest"), (float(tau.min()), "smallest")):
        long = _long((tau == value) & moving)
        if int(np.diff(long, axis=1).sum()) >= max(RUN, SATURATED * len(tau)) and not usual:
            found.append((value, what, long))
    return found


def _long(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    edges = runs_of(mask)
    return edges[np.diff(edges, axis=1)[:, 0] >= RUN]
