"""A function at one alpha for a loop against the same function with all its checks."""

from __future__ import annotations

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError

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


def test_vectors_of_another_size_are_refused(arm: Robot) -> None:
    """Also one number for all, which numpy would copy, and one vector too many, which would be alpha."""
    fixed, q = arm.fixed("gravity", arm.alpha.defaults), np.zeros(arm.n)
    for wrong in ((), (q, q), (q[:1],), (q[:-1],), (q[:, None],)):
        with pytest.raises(InputError, match=rf"gravity: expected vectors of shape \[\({arm.n},\)\], found"):
            fixed(*wrong)
    assert np.isfinite(fixed(q)).all()
