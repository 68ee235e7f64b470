"""An offset of a torque sensor."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.causes.cause import Found, Missing
from diffpbd.runtime.causes.motion import Motion


class Offset(Missing):
    """The same parameter as a fitted spring's rest."""

    kind, word, parameter = "offset", "an offset", "torque_offset"
    like_asymmetry = True

    def already_fitted(self, fitted: Sequence[str], joint: str, name: str) -> bool:
        return name in fitted or f"spring.rest.{joint}" in fitted

    def columns(self, m: Motion, joint: str, size: float) -> FloatArray:
        return m.by_parameter(f"{self.parameter}.{joint}")[..., None]

    def sentence(self, found: Found) -> str:
        return f"its sensor had {self.word} of {found.figure:.3g} {found.unit('N·m', 'N')}"
