"""A clock of the recording that is not in seconds, or runs faster or slower than the motion."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import arg
from diffpbd.runtime.causes.cause import Found, Missing
from diffpbd.runtime.causes.motion import Motion


class Time(Missing):
    """In a fit by accelerations that are a multiple of the recorded ones."""

    kind, word, lacking, of_joint = "time", "the clock", "another clock", False

    def columns(self, m: Motion, joint: str, size: float) -> FloatArray:
        if not m.open_tree:
            return m.nothing[..., None]
        return m.smooth(m.plain - m.torque(ddq=np.zeros_like(m.samples.ddq)))[..., None]

    def sentence(self, found: Found) -> str:
        return f"its accelerations were {1.0 + found.figure:.3g} times the recorded ones"

    def remedy(self, found: Found) -> str:
        return f"Look at the clock and the rate of the log ({arg.rate})"
