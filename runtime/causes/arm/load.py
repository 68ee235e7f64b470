"""A load at the tip."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.causes.missing import Missing
from diffpbd.runtime.causes.motion import Motion
from diffpbd.runtime.model.robot import Robot

MASS = "payload.mass"


class Load(Missing):
    """A point at the tip, and all columns of the link that carries it; the mass is told of the point alone."""

    kind, word, lacking, parameter, of_joint = "load", "a load", "a load at the tip", "payload", False
    says = "it carried {figure:.2g} kg at its tip that the model does not know"
    entries, fitted_by, rank, least, first_alone, of_bodies = (MASS,), (MASS,), 3, 0.0, True, True

    def exists(self, robot: Robot, joint: str) -> bool:
        return MASS in robot.alpha.names

    def own_columns(self, m: Motion, joint: str) -> Sequence[int]:
        touched = int(np.flatnonzero(m.effect[:, m.robot.alpha.index(MASS)])[0])
        return next(link for link in m.layout.bodies if touched in link)
