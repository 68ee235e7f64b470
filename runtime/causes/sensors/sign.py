"""A torque of the wrong sign."""

from __future__ import annotations

from collections.abc import Iterator

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Cause, Finding
from diffpbd.runtime.causes.measured import ADVANTAGE, Measured, percent


class Sign(Cause):
    kind, order, of_torque = "sign", 1, True
    means, mends = "the torque fits the description with the opposite sign", "`--flip J`"

    def measured(self, torques: Measured) -> Iterator[Finding]:
        for k in torques.open():
            plain, turned = torques.explained(k).left, torques.explained(k, factor=-1.0).left
            if turned < ADVANTAGE * plain:
                name = torques.robot.joints[k]
                figure = f"unexplained are {percent(plain)} of it as it stands and {percent(turned)} turned"
                message = f"its torque has the wrong sign: {figure}"
                yield Finding(self, name, message, f"{arg.flip} {name}", grave=True)
                torques.settled.add(k)
