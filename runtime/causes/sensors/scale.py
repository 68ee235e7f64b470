"""An encoder whose scale is off."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Found, Missing
from diffpbd.runtime.causes.motion import Motion
from diffpbd.runtime.causes.sensors.gain import CARRIED

STEP = 0.05
"""[1] Step of the differences by a scale."""


class Scale(Missing):
    """Of positions, rates and accelerations together. More than a half off, the differences do not tell it."""

    kind, word, lacking, rank = "scale", "an encoder's scale", "another encoder's scale", 1
    least, most = -0.5, 0.5

    def possible(self, figure: float, carried: float) -> bool:
        return super().possible(figure, carried) and carried > CARRIED

    def columns(self, m: Motion, joint: str, size: float) -> FloatArray:
        if not m.open_tree:
            return np.stack([m.nothing] * 2, axis=-1)

        def stretched(by: float) -> FloatArray:
            times, s = 1.0 + by * m.alone(joint), m.samples
            return m.torque(s.q * times, s.dq * times, s.ddq * times)

        return m.differences(stretched, STEP)

    def sentence(self, found: Found) -> str:
        return f"its encoder's scale were off: its motion {1.0 + found.figure:.4g} times the recorded one"

    def remedy(self, found: Found) -> str:
        words = [f"{arg.scale} {q}_{found.candidate.joint}={1.0 + found.figure:.5g}" for q in ("q", "dq")]
        return f"{' '.join(words)} corrects the log"
