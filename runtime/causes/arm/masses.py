"""Masses, centres and inertias that are not the description's."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.runtime.causes.cause import Found, Missing
from diffpbd.runtime.causes.motion import Motion


class Masses(Missing):
    kind, word, lacking = "masses", "masses and inertias", "other masses and inertias"
    parameter, of_joint, rank, of_bodies = "inertials", False, 4, True

    def already_fitted(self, fitted: Sequence[str], joint: str, name: str) -> bool:
        return any(own.startswith("inertia.") for own in fitted)

    def own_columns(self, m: Motion, joint: str) -> Sequence[int]:
        return range(m.layout.bodies[-1].stop)

    def sentence(self, found: Found) -> str:
        return "its masses, centres of mass or inertias were not the description's"
