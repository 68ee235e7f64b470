"""Programs of which few inequalities act are solved in few rounds, without a barrier.

The plans themselves are judged by IPOPT in test_planner.py and test_apart.py, and in C by a descent (tests/c/block)."""

from __future__ import annotations

import numpy as np
import pytest
from support.planning.around_a_ball import GOAL, LEAST, START, planar, planned
from support.planning.pendulum import pendulum

from diffpbd.runtime import Robot, load
from diffpbd.runtime.mpc.problem import Status

ROUNDS = 3
"""In the median of the ticks in which rows act. With a wrong column of one kind of rows it is 4 to 7, those of the barrier."""


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return load(planar(tmp_path_factory.mktemp("planar")))


def check(rounds: list[int]) -> None:
    acting = [k for k in rounds if k]
    assert len(acting) > 10 and np.median(acting) <= ROUNDS, rounds


@pytest.mark.parametrize("bound, index", [(4.0, 2), (7.0, 1), (0.25, 5)])
def test_bounds_of_torques_their_changes_and_rates(bound: float, index: int) -> None:
    """One kind at a time acts on the way, none at its end; each tick begins with the last plan."""
    mpc, _ = pendulum(h=0.02)
    lower, upper, change, p_lower, p_upper, speed = mpc.problem.bounds
    lower[:], upper[:], change[:], p_lower[:], p_upper[:], speed[:] = -90.0, 90.0, 90.0, -9.0, 9.0, 90.0
    mpc.problem.bounds[index] = bound
    if index == 1:
        lower[:] = -bound
    robot, q, dq, rounds = mpc.problem.robot, np.array([0.1, 0.0]), np.zeros(2), []
    for k in range(60):
        goal = np.array([0.3, -0.2]) if k < 30 else np.array([-0.2, 0.3])
        tick = mpc.tick(0.02 * k, q, dq, goal)
        rounds.append(tick.plan.inner_iterations)
        q, dq = robot.joint_step(q, dq, tick.torque, 0.02)
    check(rounds)


def test_distances(arm: Robot) -> None:
    mpc = planned(arm, clearance=LEAST)
    p, pd, rounds, h = START.copy(), np.zeros(2), [], mpc.problem.h
    for k in range(100):
        share = np.clip((k + np.arange(mpc.problem.horizon + 1)) * h, 0.0, 1.0)[:, None]
        tick = mpc.tick(k * h, p, pd, START + share * (GOAL - START))
        rounds.append(tick.plan.inner_iterations)
        p, pd = arm.joint_step(p, pd, tick.torque, h)
    check(rounds)


@pytest.mark.parametrize("bound", [6.0, 10.0])
def test_bounds_that_act_at_one_stage_after_the_other(bound: float) -> None:
    """From rest, each solution saturates the stages after those that the last one saturated."""
    mpc, _ = pendulum(h=0.02)
    lower, upper, change, p_lower, p_upper, speed = mpc.problem.bounds
    lower[:], upper[:], change[:], p_lower[:], p_upper[:], speed[:] = -bound, bound, 900.0, -9.0, 9.0, 90.0
    plan = mpc.tick(0.0, np.zeros(2), np.zeros(2), np.array([0.5, -0.4])).plan
    assert np.sum(np.abs(np.abs(plan.U) - bound) < 1e-6) >= 10
    assert plan.status is Status.SOLVED, "one round a stage takes more rounds than there are"


def test_a_plan_that_stops_early_keeps_its_bounds_and_the_next_goes_on() -> None:
    """Three rounds a program: the torques are allowed, and from plan to plan the optimum is reached."""
    mpc, _ = pendulum(h=0.02)
    lower, upper, change, p_lower, p_upper, speed = mpc.problem.bounds
    lower[:], upper[:], change[:], p_lower[:], p_upper[:], speed[:] = -6.0, 6.0, 2.0, -9.0, 9.0, 90.0
    task = mpc.task(np.zeros(2), np.zeros(2), np.array([0.5, -0.4]))
    best = mpc.solve(task)
    mpc.solver.iterations = 3
    plan, early = None, 0
    for _ in range(6):
        plan = mpc.solve(task, plan, programs=1)
        early += plan.status is Status.LIMITED
        steps = np.diff(np.vstack([task.u_last, plan.U]), axis=0)
        assert plan.status.usable and (np.abs(plan.U) <= 6.0 + 1e-9).all() and (np.abs(steps) <= 2.0 + 1e-9).all()
    assert early and plan is not None and plan.status is Status.SOLVED
    np.testing.assert_allclose(plan.U, best.U, rtol=1e-5, atol=1e-5)
