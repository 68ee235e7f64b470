"""Friction by Coulomb's law and by viscosity."""

from __future__ import annotations

from diffpbd.runtime.causes.missing import Missing


class Friction(Missing):
    kind, word, parameter, entries = (
        "friction",
        "friction",
        "friction.viscous",
        ("friction.coulomb", "friction.viscous"),
    )
