"""Arrays by name for a C function: order, and what is refused before C sees it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.functions.rollout import Rollout

STEPS = 3


def rollout() -> tuple[Rollout, dict[str, np.ndarray], dict[str, np.ndarray]]:
    robot = loaded("double_pendulum")
    function = robot.function("rollout")
    assert isinstance(function, Rollout)
    U = 0.1 * np.arange(2.0 * STEPS).reshape(STEPS, 2)
    given = {
        "alpha": robot.alpha.defaults,
        "h": np.array(0.01),
        "U": U,
        "pd0": np.array([1.0, 2.0]),
        "p0": np.array([0.3, 0.4]),
    }
    return function, given, {"PD": np.zeros((STEPS + 1, 2)), "P": np.zeros((STEPS + 1, 2))}


def test_the_order_of_names_does_not_matter() -> None:
    function, given, found = rollout()
    assert function.fixed(STEPS, given, found)() == 0
    P, PD = function(**given)
    np.testing.assert_array_equal(found["P"], P)
    np.testing.assert_array_equal(found["PD"], PD)


WRONG: dict[str, tuple[str, Callable[[dict[str, np.ndarray]], object]]] = {
    "one is missing": ("argument 'h' is missing: it takes p0, pd0, U, h, alpha", lambda x: x.pop("h")),
    "one is unknown": ("has no argument 'u'", lambda x: x.update(u=np.zeros(2))),
    "too short": (r"'U': expected 6 numbers \(2 x 3\), found 4 of shape", lambda x: x.update(U=np.zeros((2, 2)))),
    "too long": (r"'U': expected 6 numbers \(2 x 3\), found 8 of shape", lambda x: x.update(U=np.zeros((4, 2)))),
    "of integers": (
        "'p0': expected a contiguous array of float64, found int64",
        lambda x: x.update(p0=np.array([1, 2])),
    ),
    "with gaps": ("'p0': expected a contiguous array", lambda x: x.update(p0=np.zeros(4)[::2])),
    "in Fortran's order": ("'U': expected a contiguous array", lambda x: x.update(U=np.zeros((3, 2), order="F"))),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_c_would_misread_is_refused(wrong: str) -> None:
    function, given, found = rollout()
    words, change = WRONG[wrong]
    change(given)
    with pytest.raises(InputError, match=words):
        function.fixed(STEPS, given, found)


def test_outputs_are_checked_too() -> None:
    function, given, found = rollout()
    found["P"] = np.zeros((STEPS, 2))
    with pytest.raises(InputError, match=r"rollout: argument 'P': expected 8 numbers \(2 x 4\), found 6"):
        function.fixed(STEPS, given, found)
    del found["P"]
    with pytest.raises(InputError, match="argument 'P' is missing"):
        function.fixed(STEPS, given, found)
