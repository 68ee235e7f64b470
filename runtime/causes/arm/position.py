"""A torque that goes with the position: a cable, a gear's tooth."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.friction.law import Law
from diffpbd.runtime.causes.motion import Motion

WAVES = 2
"""[1] Waves over a joint's range that its torque may have."""


class Position(Law):
    kind, word = "position", "a torque that goes with the position"

    def shapes(self, m: Motion, j: int) -> list[FloatArray]:
        turn = np.pi * (m.samples.q[:, j] - m.reach.middle[j]) / m.reach.half[j]
        return [f(k * turn) for k in range(1, WAVES + 1) for f in (np.sin, np.cos)]
