"""Masses, centres and inertias that are not the description's."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.runtime.causes.missing import Missing
from diffpbd.runtime.causes.motion import Motion


class Masses(Missing):
    kind, word, lacking = "masses", "masses and inertias", "other masses and inertias"
    says = "its masses, centres of mass or inertias were not the description's"
    parameter, fitted_by, of_joint, rank, of_bodies = "inertials", ("inertia.*",), False, 4, True

    def own_columns(self, m: Motion, joint: str) -> Sequence[int]:
        return range(m.layout.bodies[-1].stop)
