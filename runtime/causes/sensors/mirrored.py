"""Positions and rates of a joint with the wrong sign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause
from diffpbd.runtime.causes.measured import Measured, Reading


class Mirrored(Cause):
    """Told apart from a torque of the wrong sign, which looks like it at a pendulum about its lowest pose."""

    kind, of_torque = "mirrored", True
    means = "all torques fit the description with the signs of a joint's q and dq (or q, dq and torque) reversed"
    mends = "`--scale q_J=-1 --scale dq_J=-1`, `--flip J`"

    def readings(self, torques: Measured) -> Iterator[Reading]:
        as_is = torques.as_is
        for k in torques.judged:
            turned, joint = as_is.motion.copy(), torques.robot.joints[k]
            turned[k] = -1.0
            other, cure = (
                replace(as_is, motion=turned, joint=joint),
                f"{arg.scale} q_{joint}=-1 {arg.scale} dq_{joint}=-1",
            )
            what, rival = "its positions and rates have the wrong sign", replace(as_is, torque=turned)
            yield replace(other, what=what, cure=cure, rival=rival)
            what = "its positions, rates and torque have the wrong sign"
            yield replace(other, torque=turned, what=what, cure=f"{cure} {arg.flip} {joint}")
