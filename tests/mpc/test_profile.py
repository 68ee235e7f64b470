"""Ways to a goal: bounded speed, acceleration and jerk, by differences of positions; the end exactly; ruckig beside ours."""

from __future__ import annotations

import numpy as np
import pytest

from diffpbd.runtime.mpc.profile import PROFILE
from diffpbd.runtime.mpc.reference import GoalReference

LIMITS = (0.5, 2.0, 20.0)


def reference(profile: str, goal: list[float], **more: object) -> GoalReference:
    made = GoalReference(np.array(goal), LIMITS[0], False, profile, LIMITS[1], LIMITS[2], **more)  # type: ignore[arg-type]
    made.start(np.zeros(len(goal)))
    return made


@pytest.mark.parametrize("profile", ["smooth", "ruckig"])
@pytest.mark.parametrize("far", [2.0, 0.3, 0.02, 1e-4])
def test_no_derivative_is_beyond_its_limit(profile: str, far: float) -> None:
    if profile == "ruckig":
        pytest.importorskip("ruckig")
    made = reference(profile, [far, -0.5 * far])
    takes = made.takes(np.zeros(2))
    time = np.linspace(-0.05 * takes, 1.05 * takes, 4401)
    step = float(time[1] - time[0])
    P, PD = made.at(time)
    slopes = [P]
    for limit in LIMITS:
        slopes.append(np.diff(slopes[-1], axis=0) / step)
        assert np.abs(slopes[-1]).max() <= limit * 1.01 + 1e-12 / step ** len(slopes)
    assert np.abs(0.5 * (PD[1:] + PD[:-1]) - slopes[1]).max() <= LIMITS[2] * step * step
    assert (P[0] == 0.0).all() and (P[-1] == [far, -0.5 * far]).all() and (PD[[0, -1]] == 0.0).all()
    assert (np.diff(P[:, 0]) >= 0.0).all()


def test_one_limit_at_least_is_reached() -> None:
    """A profile that is slower than it need be keeps every limit, too."""
    for far in (2.0, 0.3, 0.02):
        takes = reference("smooth", [far]).takes(np.zeros(1))
        time = np.linspace(0.0, takes, 20_001)
        P, PD = reference("smooth", [far]).at(time)
        step = takes / 20_000
        A = np.diff(PD[:, 0]) / step
        reached = [np.abs(x).max() / limit for x, limit in zip((PD, A, np.diff(A) / step), LIMITS, strict=True)]
        assert max(reached) > 0.99


def test_ours_takes_little_longer_than_the_shortest_time() -> None:
    pytest.importorskip("ruckig")
    for far in (2.0, 0.3, 0.02):
        ours, best = (reference(profile, [far]).takes(np.zeros(1)) for profile in ("smooth", "ruckig"))
        assert best <= ours * (1 + 1e-9) and ours <= 1.2 * best


def test_a_ramp_is_faster_and_the_description_s_speed_holds() -> None:
    ramp = GoalReference(np.ones(1), 0.5, profile="ramp")
    assert ramp.takes(np.zeros(1)) == 2.0 and ramp.profile != GoalReference(np.ones(1), 0.5).profile == PROFILE
    slow = reference("smooth", [1.0, 1.0], fastest=np.array([np.inf, 0.1]))
    _, PD = slow.at(np.linspace(0, 12, 1000))
    assert PD.max() == pytest.approx(0.1)


def test_a_base_that_turns_goes_about_one_axis_and_one_that_stays_takes_no_time() -> None:
    goal = np.array([1.0, 0, 0, np.cos(0.4), 0, np.sin(0.4), 0, 0.2])
    made = GoalReference(goal, 0.5, True, "smooth")
    start = np.array([0, 0, 0, 1.0, 0, 0, 0, 0])
    made.start(start)
    time = np.linspace(0, made.takes(start), 2001)
    P, PD = made.at(time)
    assert np.allclose(P[-1], goal, atol=1e-12) and np.allclose(np.linalg.norm(P[:, 3:7], axis=1), 1.0)
    turned = 2.0 * np.arctan2(P[:, 5], P[:, 3])
    assert np.abs(np.diff(turned) / time[1] - 0.5 * (PD[1:, 4] + PD[:-1, 4])).max() < 1e-5
    made.start(goal)
    assert made.takes(goal) == 0.0 and np.allclose(made.at(np.array([0.0, 1.0]))[0], goal)
