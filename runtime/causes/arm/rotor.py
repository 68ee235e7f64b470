"""A rotor's inertia."""

from __future__ import annotations

from diffpbd.runtime.causes.missing import Missing


class Rotor(Missing):
    kind, word, says, units = "rotor", "a rotor", "it had {word} of {figure:.3g} {unit}", ("kg·m²", "kg")
    parameter, entries, least = "rotor_inertia", ("rotor_inertia",), 0.0
