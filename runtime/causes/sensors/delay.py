"""A torque sensor that reads late or early."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Finding, Findings
from diffpbd.runtime.causes.measured import Measured
from diffpbd.runtime.causes.missing import Found, Missing
from diffpbd.runtime.causes.motion import Motion, Torques
from diffpbd.runtime.model.sensors import DELAY, SENSOR

SHIFT = 0.04
"""[s] Delay of torques after the motion or before it, if the shift also explains more. Baxter −30 to 0 ms; Panda's large
joints 0, its wrist's best shift explains nothing."""
DROP = 0.85
"""[1] What is left unexplained at the best shift, as part of what is left without."""
HELD = 0.1
"""[1] Steps that a delay may be beside half a step early to be told as a held torque's."""


class Delay(Missing):
    """By the prediction's slope alone. Noise of the motion is in the prediction, so also, with the other sign, in the residual:
    the prediction's second derivative is correlated with it where the model is right, its first one is not."""

    kind, word, parameter, of_friction = "delay", "a delay", DELAY, True
    least, most = SENSOR[DELAY][1:3]
    order, of_torque, means, mends = 3, True, "the torque comes later or earlier than the motion", "`sensor.delay`"

    def columns(self, m: Motion, joint: str, size: float) -> Torques:
        return (-np.gradient(m.predicted, 1.0 / m.samples.rate, axis=0) * m.alone(joint))[..., None]

    def sentence(self, found: Found) -> str:
        early = ", half a step early, as a torque is that is held until the next sample"
        held = abs(found.figure / found.step + 0.5) < HELD
        return f"it had {self.word} of {1e3 * found.figure:.3g} ms{early if held else ''}"

    def measured(self, torques: Measured) -> Findings:
        for k in torques.told():
            shift, left = torques.shift(k)
            if k not in torques.in_time and abs(shift) > SHIFT and left < DROP * torques.explained(k).left:
                name, way = torques.robot.joints[k], "after" if shift > 0.0 else "before"
                message = f"its torque comes {1e3 * abs(shift):.0f} ms {way} the motion"
                yield Finding(self, name, message, f"{arg.fit} …,sensor.delay.{name}")
