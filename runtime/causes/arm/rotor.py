"""A rotor's inertia."""

from __future__ import annotations

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.cause import Found, Missing
from diffpbd.runtime.causes.motion import Motion


class Rotor(Missing):
    kind, word, parameter, least = "rotor", "a rotor", "rotor_inertia", 0.0

    def columns(self, m: Motion, joint: str, size: float) -> FloatArray:
        return m.by_parameter(f"{self.parameter}.{joint}")[..., None]

    def sentence(self, found: Found) -> str:
        return f"it had {self.word} of {found.figure:.3g} {found.unit('kg·m²', 'kg')}"
