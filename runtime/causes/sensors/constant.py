"""A torque that never changes."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.measured import Measured
from diffpbd.runtime.causes.recorded import Recorded


class Constant(Cause):
    """Where all torques are zero, there is nothing to fit."""

    kind, order, of_torque = "constant", 6, True
    means, mends = "a torque never changes", "`--torque FIELD`"

    def seen(self, log: Recorded) -> Findings:
        tau = log.recording.tau
        for k, name in enumerate(log.recording.joints if tau is not None else ()):
            own = tau[:, k]  # type: ignore[index]
            if np.ptp(own) == 0.0 and (own.any() or name not in log.passive):
                what = f"the torque of {name} is constant ({own[0] + 0.0:g}) in all samples, as what is not measured is"
                yield Finding(self, name, what, f"{arg.torque} chooses another signal")

    def measured(self, torques: Measured) -> Findings:
        if not torques.tau.any():
            what = (
                f"all torques are zero in all {len(torques.tau)} samples that are looked at, as what is not measured is"
            )
            yield Finding(self, "", what, f"{arg.torque} chooses another signal", grave=True)
