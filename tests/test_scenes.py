"""The property matrix where something acts: stops, contacts of every shape and law, closed loops, and these together.

Jacobian = differences, reverse = transpose, graph = C, rollout = steps, its gradient = theirs, batch = rows. Every other
state and function is in `test_matrix`. A capability gets a line in `SCENES`.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.judges.properties import properties_of
from support.shared.scenes import LONG, SCENES


@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=pytest.mark.soak) if any(x in k for x in LONG) else k for k in SCENES]
)
def test_properties(name: str) -> None:
    found = SCENES[name]()
    columns = properties_of(found.scene, found.sizes, **found.options)
    for entry in found.moves:
        assert np.abs(columns[:, found.scene.robot.alpha.index(entry)]).max() > 1e-3, entry
