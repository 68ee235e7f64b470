"""An encoder whose scale is off."""

from __future__ import annotations

from diffpbd.runtime.causes.missing import Missing
from diffpbd.runtime.causes.motion import Motion, Torques
from diffpbd.runtime.causes.sensors.gain import CARRIED

STEP = 0.05
"""[1] Step of the differences by a scale."""


class Scale(Missing):
    """Of positions, rates and accelerations together. More than a half off, the differences do not tell it."""

    kind, word, lacking = "scale", "an encoder's scale", "another encoder's scale"
    says = "its encoder's scale were off: its motion {ratio:.4g} times the recorded one"
    cure = "{arg.scale} q_{joint}={ratio:.5g} {arg.scale} dq_{joint}={ratio:.5g} corrects the log"
    rank, least, most = 1, -0.5, 0.5

    def possible(self, figure: float, carried: float) -> bool:
        return super().possible(figure, carried) and carried > CARRIED

    def columns(self, m: Motion, joint: str, size: float) -> Torques:
        def stretched(by: float) -> Torques:
            times, s = 1.0 + by * m.alone(joint), m.samples
            return m.torque(s.q * times, s.dq * times, s.ddq * times)

        return m.differences(stretched, STEP)
