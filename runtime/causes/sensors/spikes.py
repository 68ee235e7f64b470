"""Single samples far from those around them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.recorded import Recorded
from diffpbd.runtime.logs.mending import smooth_of_spikes, spikes_of, without_spikes

FEWEST = 3
"""[1] Least number of spikes of a position or a rate that are not taken for impacts."""
NO_SPIKE = 1e-4
"""[1] Jumps of a position or rate, relative to the largest value of any joint, below which they are not spikes."""


class Spikes(Cause):
    """Other causes are looked for in positions and rates without them."""

    kind, order, of_torque = "spikes", 0, True
    means = "single samples of a torque, or three and more of a position or rate, far from their neighbours"
    mends = "`--despike`"

    def seen(self, log: Recorded) -> Findings:
        r = log.recording
        for field, word in (("q", "position"), ("dq", "rate"), ("tau", "torque")):
            values: FloatArray | None = getattr(r, field)
            if values is None or len(r) < 2:
                continue
            motion = field != "tau"
            fewest, least = (FEWEST, NO_SPIKE * float(np.abs(values).max())) if motion else (1, 0.0)
            mask = np.stack([spikes_of(column) for column in values.T], axis=1)
            for k, name in enumerate(r.joints):
                at = np.flatnonzero(mask[:, k])
                worst = float(np.abs(values[:, k] - smooth_of_spikes(values[:, k]))[at].max(initial=0.0))
                if len(at) < fewest or worst <= least:
                    continue
                if motion:
                    log.spiked = True
                    log.recording = replace(log.recording, **{field: without_spikes(values)})  # type: ignore[arg-type]
                when = f"first at {r.time[at[0]]:.6g} s"
                what = f"its {word} jumps for single samples {len(at)} times, by up to {worst:.3g}, {when}"
                mend = f"{arg.despike} takes them out before the filter spreads them"
                yield Finding(self, name, what, mend, grave=motion)
