"""An offset of a torque sensor."""

from __future__ import annotations

from diffpbd.runtime.causes.missing import Missing


class Offset(Missing):
    """The same parameter as a fitted spring's rest."""

    kind, word, says, units = "offset", "an offset", "its sensor had {word} of {figure:.3g} {unit}", ("N·m", "N")
    parameter, entries, fitted_by, like_asymmetry = "torque_offset", ("torque_offset",), ("spring.rest.{joint}",), True
