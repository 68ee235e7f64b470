"""Friction that is another at low rates."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.friction.law import Law
from diffpbd.runtime.causes.motion import Motion

SLOW = (0.05, 0.2)
"""[1] Rates below which friction may be another, as parts of a joint's fastest."""


class Slow(Law):
    """As Stribeck's law says."""

    kind, word, of_friction = "slow", "friction that is another at low rates", True

    def shapes(self, m: Motion, j: int) -> list[FloatArray]:
        width, v = self.width(m, j), m.samples.dq[:, j]
        near = [np.exp(-((v / max(part * m.reach.fastest[j], width)) ** 2)) for part in SLOW]
        return [np.tanh(v / width) * own for own in near]
