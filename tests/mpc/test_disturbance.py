"""The disturbance observer: exact on the step's own motions, finite always, quiet where friction explains it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.robots import loaded

from diffpbd.runtime.mpc.disturbance import FREEING, TIME_CONSTANT, DisturbanceObserver

H = 0.01
EXACT = 1e-4
"""N·m; what Newton's method leaves at changes of a hundredth."""
REST = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0])
LOAD = np.array([4.0, -6.0, 2.0, 3.0, 0.05, -0.1, 0.002])  # N·m
FRICTION = {"friction.coulomb.left_e0": 0.6, "friction.viscous.left_e0": 0.5, "friction.viscous.left_s1": 0.7}


def observer(alpha: Any = None, **options: Any) -> DisturbanceObserver:
    robot = loaded("baxter_bare")
    return DisturbanceObserver(robot, robot.alpha.vector(alpha), H, **options)


def motion(steps: int, load: np.ndarray, alpha: Any = None, start: float = 0.3) -> list[tuple[np.ndarray, ...]]:
    """Samples (p, pd, the torque sent before) of an arm that carries itself under `load`."""
    robot = loaded("baxter_bare")
    p, pd = REST, start * np.ones(7)
    rows = [(p, pd, np.zeros(7))]
    for _ in range(steps):
        u = robot.gravity(p)
        p, pd = robot.joint_step(p, pd, u + load, H, alpha=robot.alpha.vector(alpha))
        rows.append((p, pd, u))
    return rows


@pytest.mark.parametrize("alpha", [None, FRICTION])
def test_a_constant_torque_is_found_in_two_steps_without_the_low_pass(alpha: Any) -> None:
    """The estimate is the mean of two steps."""
    watcher = observer(alpha, time_constant=0.0)
    for k, row in enumerate(motion(6, LOAD, alpha)):
        found = watcher.update(k * H, *row)
        expected = min(k / 2, 1.0) * LOAD
        np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)


def test_the_low_pass_and_the_bound() -> None:
    watcher = observer(limit=np.array([50.0, 5.0, 50, 50, 15, 15, 15]))
    rows = motion(8, LOAD)
    for k, row in enumerate(rows):
        found = watcher.update(k * H, *row)
        share = 1.0 - 0.5 * (1.0 + math.exp(H / TIME_CONSTANT)) * math.exp(-k * H / TIME_CONSTANT) if k else 0.0
        np.testing.assert_allclose(np.delete(found, 1), share * np.delete(LOAD, 1), rtol=1e-3, atol=1e-3)
        assert share * 5.0 - 1e-3 <= -found[1] <= share * (5.0 - watcher.load[1]) + 1e-3  # of 6 what may change at once


def test_an_encoder_step_is_no_torque() -> None:
    """Positions rounded to 0.38 mrad, as an arm's are; by their differences they would be 70 N·m on the shoulder."""
    exact, rounded = (observer(time_constant=0.0) for _ in range(2))
    step, most = 3.835e-4, 0.0
    for k, (p, pd, u) in enumerate(motion(40, np.zeros(7))):
        exact.update(k * H, p, pd, u)
        most = max(most, float(np.abs(rounded.update(k * H, step * np.round(p / step), pd, u)).max()))
    print(f"largest torque from encoder steps: {most:.4f} N·m")
    assert np.abs(exact.estimate).max() < EXACT and most < 0.02


def test_a_joint_that_sticks_says_nothing_below_its_friction() -> None:
    alpha = {"friction.coulomb.left_s0": 2.0}
    watcher = observer(alpha, time_constant=0.0)
    p, pd, u = REST, np.zeros(7), loaded("baxter_bare").gravity(REST)
    for load, expected in ((1.9, 0.0), (5.0, 3.0)):  # the arm does not move though this acts against the command
        watcher.start()
        for k in range(3):
            found = watcher.update(k * H, p, pd, u + np.array([load, 0, 0, 0, 0, 0, 0]))
        assert found[0] == pytest.approx(-expected, abs=1e-6)


def test_what_lasts_is_a_load_and_stays_where_a_joint_sticks() -> None:
    """A push that has just begun is no load; after LOAD_TIME two thirds of it are. At rest friction hides it: it is kept."""
    alpha = {"friction.coulomb.left_s0": 2.0}
    watcher = observer(alpha)
    p, hold = REST, loaded("baxter_bare").gravity(REST)
    push = 9.0 * np.eye(7)[0]
    for k in range(101):
        if k == 10:
            assert watcher.estimate[0] > 5.0 and 0.0 < watcher.lasting[0] < 0.1 * watcher.estimate[0]
        watcher.update(k * H, p, np.zeros(7), hold - push)
    assert watcher.estimate[0] == pytest.approx(7.0, abs=0.1)  # less what friction may be
    assert watcher.load[0] == pytest.approx(7.0 * (1.0 - math.exp(-1.0)), rel=0.05)
    kept = watcher.load[0]
    for k in range(101, 201):  # the push as large as what is known of it, give or take the friction
        watcher.update(k * H, p, np.zeros(7), hold - (kept - 1.9) * np.eye(7)[0])
    assert watcher.estimate[0] == pytest.approx(watcher.load[0], abs=0.01) and watcher.load[0] > kept
    for k in range(201, 701):  # nothing lasts: at most the friction is left of it
        watcher.update(k * H, p, np.zeros(7), hold)
    assert watcher.estimate[0] <= 2.0 + 0.05 and watcher.lasting[0] <= watcher.estimate[0]


def test_a_joint_that_sticks_is_freed_slowly_and_within_the_largest_load() -> None:
    watcher = observer()
    watcher.update(0.0, REST, np.zeros(7), None)
    watcher.update(H, REST, np.zeros(7), loaded("baxter_bare").gravity(REST))
    before = watcher.load.copy()
    watcher.free(np.array([1.0, -1.0, 0, 0, 0, 0, 1.0]))
    shift = before - watcher.load
    assert shift[0] == pytest.approx(FREEING * 50.0 * H) and shift[1] == -shift[0] and not shift[2:6].any()
    assert 0.0 < shift[6] < FREEING * 15.0 * H  # the light one has less
    for _ in range(10000):
        watcher.free(np.ones(7))
    np.testing.assert_allclose(watcher.load[:6], -loaded("baxter_bare").limits.effort[:6])


def test_no_transition_is_made_up() -> None:
    rows = motion(30, LOAD)
    watcher = observer(time_constant=0.0)
    for k in (0, 1):
        watcher.update(k * H, *rows[k])
    faded = watcher.estimate * math.exp(-H / 0.1)
    stale = watcher.update(2 * H, *rows[1])  # a message twice
    np.testing.assert_allclose(stale, faded, rtol=1e-12)
    late = watcher.update(3 * H, *rows[3])  # two steps since the last one that counts
    np.testing.assert_allclose(late, faded * math.exp(-H / 0.1), rtol=1e-12)
    np.testing.assert_allclose(watcher.update(4 * H, *rows[4]), LOAD, rtol=0, atol=EXACT)
    unknown = watcher.update(5 * H, rows[5][0], rows[5][1], None)
    np.testing.assert_allclose(unknown, watcher.estimate)
    assert np.abs(unknown).max() < np.abs(LOAD).max()
    for k in range(6, 106):  # nothing finite for a second: forgotten
        lost = watcher.update(k * H, rows[6][0] * np.nan, rows[6][1], rows[6][2])
    assert np.abs(lost).max() < 1e-3
    watcher.start()
    assert not watcher.estimate.any()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 21), st.floats(allow_nan=True, allow_infinity=True)), max_size=4), st.floats())
def test_the_estimate_is_finite_and_bounded_whatever_comes(changes: list[tuple[int, float]], time: float) -> None:
    watcher = observer()
    rows = motion(4, LOAD)
    for k, row in enumerate(rows):
        values = np.concatenate(row)
        if k in (1, 2):
            for entry, value in changes:
                values[entry % 21] = value
        found = watcher.update(time if k == 3 else k * H, values[:7], values[7:14], values[14:])
        assert np.isfinite(found).all() and (np.abs(found) <= watcher.limit).all()
