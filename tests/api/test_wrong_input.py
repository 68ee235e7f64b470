"""Bounds and options as Python gives them; what it is refused stands in `refusals.txt`."""

from __future__ import annotations

import numpy as np
from support.robots import generated, loaded

import diffpbd
from diffpbd.codegen.description.front.resolve import find_recipe

ROBOT = loaded("double_pendulum")
URDF = find_recipe("double_pendulum").urdf


def test_bounds_by_name_are_those_of_the_command() -> None:
    """One number for all joints, or one each; never wider than the description's."""
    own = diffpbd.Mpc(ROBOT, 5).problem.bounds
    given = diffpbd.Mpc(ROBOT, 5, bounds={"u": [1.0, 1e9], "pd": 2.0}).problem.bounds
    np.testing.assert_array_equal(given[:2, 0], [-1.0, 1.0])
    np.testing.assert_array_equal(given[:2, 1], own[:2, 1])
    np.testing.assert_array_equal(given[5], [2.0, 2.0])
    np.testing.assert_array_equal(given[2:5], own[2:5])


def test_an_option_may_be_left_to_the_recipe() -> None:
    assert diffpbd.check(URDF, base=None, tip=None).passed()  # type: ignore[arg-type]
    assert diffpbd.load(generated("double_pendulum")).name == "double_pendulum"
