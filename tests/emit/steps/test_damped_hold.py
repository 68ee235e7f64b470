"""The C of the torque without a plan: whatever it is given, the output is finite and its memory is its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.robots import loaded

from diffpbd.runtime.functions.function import Function, addresses

OK, NOT_FORWARDS, BAD_INPUT, UNDAMPED = 0, 21, 33, 34
ANY = st.floats(allow_nan=True, allow_infinity=True)


def function() -> Function:
    found = loaded("double_pendulum").function("damped_hold")
    assert isinstance(found, Function)
    return found


def arguments() -> list[np.ndarray]:
    """A double pendulum in motion, whose first motor is at its bound."""
    alpha = loaded("double_pendulum").alpha.defaults
    p, pd, low, high = np.array([0.3, 0.4]), np.array([1.0, -2.0]), np.array([-1.0, -5.0]), np.array([40.0, 5.0])
    return [p, pd, low, high, np.array([1.0]), np.array([0.01]), alpha.copy()]


def called(values: list[np.ndarray], fill: float = np.nan) -> tuple[int, np.ndarray]:
    """Status and torque; guards behind torque and work must survive."""
    f = function()
    u, work = np.full(2 + 2, fill), np.full((f.facts.work_size or 0) + 2, fill)
    status = int(f._call(addresses(values), addresses([u]), work.ctypes.data))
    np.testing.assert_array_equal([*u[-2:], *work[-2:]], np.full(4, fill))
    return status, u[:2]


def test_the_memory_is_its_own() -> None:
    first, second = called(arguments(), 777.0), called(arguments(), -3e300)
    assert first[0] == second[0] == OK
    np.testing.assert_array_equal(first[1], second[1])
    assert first[1][0] == -1.0


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1000), ANY), min_size=1, max_size=5))
def test_no_input_makes_a_torque_that_is_not_finite(changes: list[tuple[int, int, float]]) -> None:
    values = arguments()
    for which, entry, value in changes:
        values[which][entry % values[which].size] = value
    status, u = called(values)
    assert status in (OK, NOT_FORWARDS, BAD_INPUT, UNDAMPED) and np.isfinite(u).all(), (status, changes)
    if status != BAD_INPUT:
        assert (u >= values[2]).all() and (u <= values[3]).all()


@pytest.mark.parametrize(
    ("which", "entry", "value", "status"),
    [
        (0, 0, np.nan, BAD_INPUT), (1, 1, np.inf, UNDAMPED), (1, 0, 1.001e9, UNDAMPED), (1, 0, 0.999e9, OK),
        (2, 0, 41.0, BAD_INPUT), (3, 1, np.nan, BAD_INPUT), (2, 0, -np.inf, OK), (4, 0, -0.1, UNDAMPED), (4, 0, 10.0, OK),
        (5, 0, 0.0, NOT_FORWARDS), (5, 0, np.nan, NOT_FORWARDS), (6, 2, np.nan, BAD_INPUT),
    ],
)  # fmt: skip
def test_statuses(which: int, entry: int, value: float, status: int) -> None:
    values = arguments()
    values[which][entry] = value
    assert called(values)[0] == status
