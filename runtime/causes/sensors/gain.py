"""A gain of a torque sensor."""

from __future__ import annotations

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.cause import Found, Missing
from diffpbd.runtime.causes.motion import Motion
from diffpbd.runtime.model.sensors import GAIN, SENSOR

CARRIED = 0.5
"""[1] Part of a torque's deviation that rigid bodies must make for a gain to be judged: of the rest it is friction's."""


class Gain(Missing):
    """Its figure is the gain less one. It has the last rank, since a load or wrong masses look like a gain."""

    kind, word, lacking, parameter, rank = "gain", "a sensor gain", "a gain", GAIN, 5
    of_reading = True
    least, most = SENSOR[GAIN][1] - 1.0, SENSOR[GAIN][2] - 1.0

    def columns(self, m: Motion, joint: str, size: float) -> FloatArray:
        bodies = m.layout.bodies[-1].stop
        return (m.own[..., :bodies] @ m.phi[:bodies] * m.alone(joint))[..., None]

    def nameable(self, carried: float) -> bool:
        return carried > CARRIED

    def sentence(self, found: Found) -> str:
        return f"it had {self.word} of {1.0 + found.figure:.3g}"
