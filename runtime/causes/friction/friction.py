"""Friction by Coulomb's law and by viscosity."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.cause import Missing
from diffpbd.runtime.causes.motion import Motion


class Friction(Missing):
    kind, word, parameter = "friction", "friction", "friction.viscous"

    def columns(self, m: Motion, joint: str, size: float) -> FloatArray:
        return np.stack([m.by_parameter(f"friction.{law}.{joint}") for law in ("coulomb", "viscous")], axis=-1)
