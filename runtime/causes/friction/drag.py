"""Drag with the square of the rate."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.friction.law import Law
from diffpbd.runtime.causes.motion import Motion


class Drag(Law):
    kind, word, of_friction = "drag", "drag with the square of the rate", True

    def shapes(self, m: Motion, j: int) -> list[FloatArray]:
        v = m.samples.dq[:, j]
        return [v * np.abs(v)]
