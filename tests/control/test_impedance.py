"""Where the springs' zero of the joint impedance goes, and what makes no sense of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diffpbd.runtime.control.laws.impedance import ImpedanceController


def law(**more: Any) -> ImpedanceController:
    made = ImpedanceController([10.0, 10.0], [0.0, 0.0], [0.4, np.nan], goal_speed=0.5, **more)
    made.start(np.array([0.1, 0.2]))
    return made


def test_the_zero_of_the_springs_starts_at_rest_and_goes_no_faster_than_the_joint() -> None:
    times = np.linspace(0.0, 2.0, 2001)
    for more, most in (({}, 0.5), ({"fastest": np.array([0.3, 9.0])}, 0.3), ({"profile": "ramp"}, 0.5)):
        zero = np.array([law(**more).expected(t) for t in times])
        speed = np.diff(zero, axis=0) / times[1]
        assert (zero[0] == [0.1, 0.2]).all() and (zero[-1] == [0.4, 0.2]).all() and (speed[:, 1] == 0.0).all()
        assert speed.max() == pytest.approx(most)
        bounded = np.abs(np.diff(speed[:, 0])).max() <= 10.0 * 0.5 * times[1] * 1.001  # ten times the speed in a second
        assert bounded is np.bool_("profile" not in more) and (speed[0, 0] < 1e-3) == ("profile" not in more)


def test_a_goal_that_is_none_gives_no_torque_that_looks_like_one() -> None:
    made = law()
    made.goal = np.array([0.3, np.nan])
    assert np.isnan(made.output(0.1, np.zeros(2), np.zeros(2))).tolist() == [False, True]


def test_the_damper_acts_against_the_speed_in_full() -> None:
    made = ImpedanceController([10.0, 10.0], [2.0, 0.5], [np.nan, np.nan], goal_speed=0.5)
    q = np.array([0.1, 0.2])
    made.start(q)
    np.testing.assert_allclose(made.output(0.0, q, np.array([0.3, -0.4])), [-0.6, 0.2], atol=1e-12)
    np.testing.assert_allclose(made.output(0.0, q + [0.1, 0.0], np.zeros(2)), [-1.0, 0.0], atol=1e-12)
