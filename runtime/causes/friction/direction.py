"""Friction that differs by direction."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.friction.law import Law
from diffpbd.runtime.causes.motion import Motion


class Direction(Law):
    kind, word, of_friction = "direction", "friction that differs by direction", True

    def shapes(self, m: Motion, j: int) -> list[FloatArray]:
        v = m.samples.dq[:, j]
        side = np.tanh(v / self.width(m, j))
        return [side**2, v * side]
