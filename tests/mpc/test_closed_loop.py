"""The simulated robot under predictive control: another plant, noise, goals of the tip, and where a run ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.reference import GoalReference
from diffpbd.runtime.mpc.simulation import ClosedLoop, Plant, run_closed_loop
from diffpbd.runtime.mpc.tip_goal import pose_at

GOAL = np.array([0.3, -0.2])


def closed(plant: Plant | None = None, within: float | None = None, duration: float = 1.2) -> ClosedLoop:
    mpc, reference = Mpc(loaded("double_pendulum"), 10), GoalReference(GOAL.copy(), 0.8)
    stop = None if within is None else lambda _t, q, dq: reference.reached(q, dq, within)
    return run_closed_loop(mpc, reference, np.zeros(2), duration, plant=plant, stop=stop)


def test_the_plant_may_have_other_parameters() -> None:
    robot = loaded("double_pendulum")
    alike = closed(Plant(alpha=robot.alpha.defaults))
    assert (alike.q == closed().q).all()
    heavier = closed(Plant(alpha=robot.alpha.vector({"payload.mass": 1.0})))
    assert np.abs(heavier.q[-1] - GOAL).max() > 10.0 * np.abs(alike.q[-1] - GOAL).max()


def test_noise_is_of_what_is_measured_and_comes_back() -> None:
    loud = Plant(noise=1e-3, rate_noise=1e-2)
    quiet, noisy, again, other = (closed(plant) for plant in (None, loud, loud, replace(loud, seed=1)))
    assert (noisy.q == again.q).all() and (noisy.q != other.q).any()
    jitter = [np.median(np.abs(np.diff(run.tau[20:-1], axis=0))) for run in (quiet, noisy)]
    assert jitter[1] > 3.0 * jitter[0]
    assert np.abs(noisy.q[-1] - GOAL).max() < 0.02, "the robot itself is not moved by the noise"


def test_a_run_ends_where_the_goal_is_reached_and_at_rest() -> None:
    run = closed(within=5e-3)
    assert 0.3 / 0.8 < run.time[-1] < 1.2
    assert np.abs(run.q[-1] - GOAL).max() <= 5e-3 and np.abs(run.dq[-1]).max() <= 5e-2
    before = np.abs(run.q[:-1] - GOAL).max(axis=1) > 5e-3
    assert (before | (np.abs(run.dq[:-1]).max(axis=1) > 5e-2)).all(), "not a tick later"
    assert len(run.seconds) == len(run.time) - 1 == len(run.tau) - 1 == len(run.disturbance)
    assert closed(within=1e-12).time[-1] == pytest.approx(1.2)


def test_a_goal_is_taken_at_its_speed() -> None:
    reference = GoalReference(np.array([0.4, np.nan]), 0.5, profile="ramp")
    assert reference.takes(np.array([0.0, 9.0])) == pytest.approx(0.8)
    reference.start(np.array([0.0, 0.7]))
    assert reference.target.tolist() == [0.4, 0.7]
    assert reference.reached(np.array([0.41, 0.7]), np.zeros(2), 0.02)
    assert not reference.reached(np.array([0.41, 0.7]), np.array([0.0, 0.3]), 0.02), "it is passing through"
    assert not reference.reached(np.array([0.4, 0.73]), np.zeros(2), 0.02), "a joint that should stay has moved"


@pytest.mark.parametrize("seed", range(4))
def test_a_pose_for_a_tip_within_reach_is_found_within_the_limits(seed: int) -> None:
    robot = loaded("baxter")
    rng = np.random.default_rng(seed)
    wanted = rng.uniform(robot.limits.lower, robot.limits.upper)
    tip = robot.tip_pose(wanted).position
    start = np.zeros(7)
    found = pose_at(robot, tip, start)
    assert np.abs(robot.tip_pose(found).position - tip).max() < 1e-5
    assert (found >= robot.limits.lower).all() and (found <= robot.limits.upper).all()


def test_a_tip_that_cannot_be_reached_is_refused_with_how_far_it_is() -> None:
    robot = loaded("baxter")
    nearest = robot.tip_pose(np.zeros(7)).position
    with pytest.raises(InputError, match=r"nearest pose within the joint limits is (1\d|9\.|8\.)"):
        pose_at(robot, nearest + [0.0, 10.0, 0.0], np.zeros(7))
