from __future__ import annotations

import numpy as np
import pytest

from diffpbd.codegen.laws.elements.lever_spring import length
from experiments.design.spring import TRUTH
from experiments.method.diagrams import nomenclature, spring_corners
from experiments.method.link_variables import LinkVariables, link_variables


@pytest.fixture(scope="module")
def arm() -> LinkVariables:
    return link_variables("baxter_bare")


def test_vectors_meet_in_the_joints_and_axes_are_parallel(arm: LinkVariables) -> None:
    """Equations 1 and 11 hold at the zero pose."""
    for i, parent in enumerate(arm.parents):
        start = np.zeros(3) if parent < 0 else arm.x[parent]
        np.testing.assert_allclose(arm.x[i] + arm.t[i], start + arm.r[i], atol=1e-12)
    np.testing.assert_allclose(np.cross(arm.a, arm.b), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(arm.a, axis=1), 1.0)
    head, rows = nomenclature(arm)
    assert len(rows) == 7 and all(len(row) == len(head) for row in rows) and rows[1][1] == "left_lower_shoulder"


@pytest.mark.parametrize("theta", [-0.6, 0.0, 0.6])
def test_the_drawn_spring_is_as_long_as_that_of_the_law(theta: float) -> None:
    joint, first, second = spring_corners(theta)
    x = float(length(theta, TRUTH.arm_1, TRUTH.arm_2, TRUTH.offset))
    assert np.linalg.norm(first - second) == pytest.approx(x)
    assert np.linalg.norm(first - joint) == pytest.approx(TRUTH.arm_1)
