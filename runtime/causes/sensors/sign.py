"""A torque of the wrong sign."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.measured import ADVANTAGE, Measured, percent


class Sign(Cause):
    kind, order, of_torque = "sign", 1, True
    means, mends = "the torque fits the description with the opposite sign", "`--flip J`"

    def measured(self, torques: Measured) -> Findings:
        left = {k: (torques.explained(k).left, torques.explained(k, factor=-1.0).left) for k in torques.open()}
        found = {k: both for k, both in left.items() if both[1] < ADVANTAGE * both[0]}
        torques.settled |= set(found)
        names = {torques.robot.joints[k]: both for k, both in found.items()}
        if len(found) == len(torques.judged) > 1:
            before, after = (percent(float(np.mean(part))) for part in zip(*found.values(), strict=True))
            figure = f"unexplained are {before} of them as they stand and {after} turned, in the mean"
            message = f"all torques have the wrong sign: {figure}"
            yield Finding(self, "", message, " ".join(f"{arg.flip} {name}" for name in names), grave=True)
            return
        for name, (plain, turned) in names.items():
            figure = f"unexplained are {percent(plain)} of it as it stands and {percent(turned)} turned"
            yield Finding(self, name, f"its torque has the wrong sign: {figure}", f"{arg.flip} {name}", grave=True)
