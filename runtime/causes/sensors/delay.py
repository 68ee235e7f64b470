"""A torque sensor that reads late or early."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.cause import Found, Missing
from diffpbd.runtime.causes.motion import Motion
from diffpbd.runtime.model.sensors import DELAY, SENSOR

HELD = 0.1
"""[1] Steps that a delay may be beside half a step early to be told as a held torque's."""


class Delay(Missing):
    """By the prediction's slope alone. Noise of the motion is in the prediction, so also, with the other sign, in the residual:
    the prediction's second derivative is correlated with it where the model is right, its first one is not."""

    kind, word, parameter, of_friction = "delay", "a delay", DELAY, True
    least, most = SENSOR[DELAY][1:3]

    def columns(self, m: Motion, joint: str, size: float) -> FloatArray:
        return (-np.gradient(m.predicted, 1.0 / m.samples.rate, axis=0) * m.alone(joint))[..., None]

    def sentence(self, found: Found) -> str:
        held = abs(found.figure / found.step + 0.5) < HELD
        early = ", half a step early, as a torque is that is held until the next sample" if held else ""
        return f"it had {self.word} of {1e3 * found.figure:.3g} ms{early}"
