"""Positions in another unit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause, Finding, Findings
from diffpbd.runtime.causes.measured import Measured, Reading
from diffpbd.runtime.causes.rates.limits import beyond
from diffpbd.runtime.causes.recorded import Recorded

UNITS = {math.tau: "revolutions", math.radians(1.0): "degrees", 1e-3: "thousandths"}


class Units(Cause):
    kind, order, timed = "units", 5, True
    means = (
        "positions are far outside of the limits, and within them in degrees or thousandths; or all torques fit the "
        "description if q and dq are in degrees, revolutions or thousandths"
    )
    mends = "`--degrees`, `--scale q=… --scale dq=…`"

    def seen(self, log: Recorded) -> Findings:
        for own in beyond(log):
            if unit := own.unit():
                mend = f"{arg.degrees}" if unit == "degrees" else f"{arg.scale} q=0.001 {arg.scale} dq=0.001"
                yield Finding(self, own.joint.name, f"{own.what}; in {unit}?", mend, grave=True)

    def readings(self, torques: Measured) -> Iterator[Reading]:
        robot = torques.robot
        if torques.poor and all(joint.turns for joint in robot.manifest.robot.joints):
            for factor, word in UNITS.items():
                yield replace(
                    torques.as_is, motion=np.full(robot.n, factor), what=f"positions and rates look as if in {word}",
                    cure=f"{arg.scale} q={factor:.9g} {arg.scale} dq={factor:.9g}",
                )  # fmt: skip
