"""A function at one alpha for a loop against the same function with all its checks."""

from __future__ import annotations

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime import InputError, Robot

CHANGED = {"spring.stiffness.left_s1": 24.0, "spring.rest.left_s1": -1.514}


@pytest.fixture(scope="module")
def arm() -> Robot:
    return loaded("baxter_bare")


@pytest.mark.parametrize(
    "name, vectors", [("gravity", 1), ("spring_torque", 1), ("inverse_dynamics", 3), ("mass_matrix", 1)]
)
def test_the_values_are_those_of_the_function(arm: Robot, name: str, vectors: int) -> None:
    alpha = arm.alpha.vector(CHANGED)
    fixed, function = arm.fixed(name, alpha), arm.function(name)
    before = None
    for given in np.random.default_rng(1).normal(size=(5, vectors, arm.n)):
        found, expected = fixed(*given), function(*given, alpha)
        assert found.shape == expected.shape and (found == expected).all()
        assert before is None or (before[0] == before[1]).all()  # what was answered before is no longer touched
        before = found, expected


def test_what_is_refused(arm: Robot) -> None:
    alpha = arm.alpha.vector()
    with pytest.raises(InputError, match="gravity: expected finite numbers, found"):
        arm.fixed("gravity", alpha)(np.full(arm.n, np.nan))
    with pytest.raises(ValueError):
        arm.fixed("gravity", alpha)(np.zeros(arm.n + 1))
    with pytest.raises(InputError, match="joint_step is no function of vectors and alpha"):
        arm.fixed("joint_step", alpha)
    with pytest.raises(InputError, match="has no function 'gravitation'"):
        arm.fixed("gravitation", alpha)
    with pytest.raises(InputError):
        arm.fixed("gravity", np.full_like(alpha, -1e9))
