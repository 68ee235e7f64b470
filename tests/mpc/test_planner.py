"""Predictive control: two back ends on one problem, bounds, and a tick that always gives a torque."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.planning.pendulum import new, pendulum
from support.robots import loaded

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.mpc.plan import PlanSource
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Plan, Status, Task, Weights
from diffpbd.runtime.mpc.profile import Approach
from diffpbd.runtime.mpc.reference import GoalReference, LogReference
from diffpbd.runtime.mpc.simulation import Plant, run_closed_loop

REST = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0])
NEAR_OPTIMUM = 0.02
"""[1] How far from IPOPT's cost a converged plan may be."""
BOUND = 1e-6
"""[N·m, rad, rad/s] How far a plan may be over a bound."""


def sine(time: np.ndarray, amplitude: float) -> tuple[np.ndarray, np.ndarray]:
    phase = 0.7 * np.arange(7)
    angle = 4.0 * time[:, None] + phase
    return REST + amplitude * (np.sin(angle) - np.sin(phase)), 4.0 * amplitude * np.cos(angle)


def check_bounds(mpc: Mpc, task: Task, plan: Plan) -> None:
    lower, upper, change, p_lower, p_upper, speed = mpc.problem.bounds
    assert (plan.U >= lower - BOUND).all() and (plan.U <= upper + BOUND).all()
    assert (np.abs(np.diff(np.vstack([task.u_last, plan.U]), axis=0)) <= change + BOUND).all()
    assert mpc.problem.violation(plan.P, plan.PD) <= BOUND


def test_both_back_ends_agree() -> None:
    plans = {}
    for backend in ("ipopt", "embedded"):
        mpc, task = pendulum(backend=backend)
        plan = plans[backend] = mpc.solve(task)
        assert plan.status is Status.SOLVED, (backend, plan.detail)
        check_bounds(mpc, task, plan)
        assert plan.cost == pytest.approx(mpc.problem.cost(task, plan.U, plan.P, plan.PD), rel=1e-9)
        assert plan.defect < 1e-6
    best = plans["ipopt"]
    for plan in plans.values():
        assert plan.cost == pytest.approx(best.cost, rel=1e-4)
        np.testing.assert_allclose(plan.P, best.P, rtol=0, atol=1e-3)
    mpc, _ = pendulum()
    active = [(np.abs(best.U - side) < 1e-3).any() for side in mpc.problem.bounds[:2]]
    assert any(active) and (best.P[:, 1] < -0.09 + 1e-4).any()  # the bounds do matter here


@pytest.mark.thorough
@pytest.mark.parametrize("amplitude", [0.3])
def test_baxter_is_near_ipopts_optimum(amplitude: float) -> None:
    robot, N = loaded("baxter"), 20
    plans = {}
    for backend in ("ipopt", "embedded"):
        mpc = new(robot, N, backend=backend)
        task = mpc.task(REST, np.zeros(7), *sine(0.01 * np.arange(N + 1), amplitude), U=np.zeros(7))
        plans[backend] = mpc.solve(task)
        assert plans[backend].status is Status.SOLVED
        check_bounds(mpc, task, plans[backend])
    ratio = plans["embedded"].cost / plans["ipopt"].cost
    print(f"cost over IPOPT's: {ratio - 1:.2e} (bar {NEAR_OPTIMUM})")
    assert abs(ratio - 1.0) < NEAR_OPTIMUM


def test_a_state_beyond_its_bounds_comes_back() -> None:
    mpc, task = pendulum()
    outside = mpc.task([0.1, -0.3], [1.2, 0.0], [0.3, -0.2], U=np.zeros(2))
    plan = mpc.solve(outside)
    assert plan.status is Status.SOLVED and plan.violation > 0.05
    best = pendulum(backend="ipopt")[0].solve(outside)
    assert best.status is Status.SOLVED and plan.cost == pytest.approx(best.cost, rel=1e-4)
    over = np.maximum(mpc.problem.bounds[3] - plan.P, 0).max(axis=1)
    assert over[-1] < BOUND and abs(plan.PD[-1]).max() < 1.3
    assert (np.abs(plan.U) <= mpc.problem.bounds[1]).all()


def test_the_time_limit_ends_the_programs() -> None:
    mpc, task = pendulum()
    assert mpc.solver.solve(task, programs=50).iterations > 2
    assert mpc.solver.solve(task, programs=50, seconds=1e-9).iterations == 1
    one, all_at_once = mpc.solver.solve(task, programs=50, seconds=60.0), mpc.solver.solve(task, programs=50)
    assert one.cost == pytest.approx(all_at_once.cost, rel=1e-8)


def follow(robot: Robot, delay: int, told: int, ticks: int = 80, *, watched: bool = True) -> tuple[float, str | None]:
    """RMS [rad] of tracking where torques act `delay` steps late and the planner was told another number, and its remark."""
    N = 10
    mpc = new(robot, N, delay=told)
    p, pd = REST.copy(), np.zeros(7)
    waiting = [holding_torque(robot, p, robot.alpha.defaults)] * delay
    mpc.start(waiting[0] if waiting else robot.gravity(p))
    if not watched:
        mpc._agreement._watch = None
    errors = []
    for k in range(ticks):
        tick = mpc.tick(0.01 * k, p, pd, *sine(0.01 * (k + told + np.arange(N + 1)), 0.05))
        assert tick.status.usable
        waiting.append(tick.torque)
        p, pd = robot.joint_step(p, pd, waiting.pop(0))
        errors.append(p - sine(np.array([0.01 * (k + 1)]), 0.05)[0][0])
    return float(np.sqrt(np.mean(np.square(errors[ticks // 2 :])))), mpc.remark


def test_a_known_delay_is_compensated_and_one_that_is_not_told_is_found() -> None:
    robot = loaded("baxter_bare")
    (none, nothing), (known, right) = follow(robot, 0, 0), follow(robot, 2, 2)
    print(f"RMS {none:.1e} rad without delay, {known:.1e} with 2 steps compensated")
    assert known < 3 * none and nothing is right is None
    found, remark = follow(robot, 2, 0)
    assert remark is not None and "expected --delay 2" in remark
    assert found < 10 * known
    unknown = float("inf")
    try:
        unknown, _ = follow(robot, 2, 0, watched=False)
    except (AssertionError, SolverError):  # an arm that is thrown about may leave what a step can do
        pass
    assert unknown > 10 * known


class Flaky:
    """A back end that fails when told to."""

    name = "flaky"

    def __init__(self, mpc: Mpc) -> None:
        self._solver, self.problem = mpc.solver, mpc.problem
        self.fail = False
        self.cold: list[bool] = []

    def solve(self, task: Task, guess: Plan | None = None, **options: Any) -> Plan:
        self.cold.append(guess is None)
        plan = self._solver.solve(task, guess, **options)
        if self.fail:
            return Plan(Status.NOT_SOLVED, plan.U * np.nan, plan.P, plan.PD)
        return plan


def test_forty_failures_in_a_row_do_not_lock_up(shared: Path) -> None:
    """The case P61, with a planner that moves a robot."""
    data = json.loads((shared / "cases" / "P61-mpc-lockup" / "replay.json").read_text())
    h = data["period_ms"] / 1000
    mpc, _ = pendulum(h=h, reuse=data["max_consecutive_failures"])
    flaky = Flaky(mpc)
    mpc.solver = flaky
    robot = mpc.problem.robot
    p, pd = np.array([0.1, 0.0]), np.zeros(2)
    sources = {}
    for entry in data["solver"]:
        flaky.fail = entry["solver_status"] != "Solve_Succeeded"
        tick = mpc.tick(entry["tick"] * h, p, pd, [0.3, -0.1])
        sources[entry["tick"]] = tick.source
        assert np.isfinite(tick.torque).all() and (np.abs(tick.torque) <= mpc.problem.bounds[1]).all()
        p, pd = robot.joint_step(p, pd, tick.torque, h)
    failed = [e["tick"] for e in data["solver"] if e["solver_status"] != "Solve_Succeeded"]
    assert [sources[k] for k in failed[:5]] == [PlanSource.SHIFTED] * 5
    assert {sources[k] for k in failed[5:]} == {PlanSource.FALL_BACK}
    assert not any(flaky.cold[1 : failed[5] + 1]) and all(flaky.cold[failed[6] : failed[-1] + 2])
    assert sources[failed[-1] + 1] is PlanSource.SOLVED and not flaky.cold[failed[-1] + 2]
    assert mpc.counts[PlanSource.FALL_BACK] == 35 and mpc.statuses[Status.NOT_SOLVED] == 40


def test_what_is_not_finite_never_comes_out() -> None:
    mpc, _ = pendulum()
    hold = [np.nan, np.inf, -np.inf, 1e300]
    for k, bad in enumerate(hold):
        tick = mpc.tick(0.02 * k, [bad, 0.0], [0.0, 0.0], [0.3, -0.1])
        assert np.isfinite(tick.torque).all() and not tick.status.usable
    good = mpc.tick(0.1, [0.1, 0.0], [0.0, 0.0], [0.3, -0.1])
    assert good.source is PlanSource.SOLVED
    reused = mpc.tick(0.12, [0.1, np.nan], [0.0, 0.0], [0.3, -0.1])
    np.testing.assert_array_equal(reused.torque, good.plan.U[1] if good.plan else None)
    assert np.isfinite(mpc.tick(np.nan, [0.1, 0.0], [0.0, 0.0], [0.3, -0.1]).torque).all()
    without = mpc.tick(0.14, [0.1, 0.0], [0.0, 0.0], [np.nan, -0.1])
    assert without.status is Status.BAD_INPUT and np.isfinite(without.torque).all()


def test_a_constant_load_leaves_no_offset() -> None:
    """Unknown torques on the joints: without an observer the arm rests beside its goal, with it on the goal."""
    robot, goal, load = loaded("double_pendulum"), np.array([0.4, 0.2]), np.array([3.0, -1.0])
    offset = {}
    for constant in (None, 0.02):
        mpc = new(robot, 10, delay=1, disturbance=constant)
        run = run_closed_loop(mpc, GoalReference(goal, 0.8), np.zeros(2), 1.5, plant=Plant(load=load))
        assert run.sources == {PlanSource.SOLVED: 150}
        offset[constant] = np.abs(run.q[-1] - goal).max()
    np.testing.assert_allclose(run.disturbance[-1], load, rtol=1e-6)
    assert offset[None] > 0.05 and offset[0.02] < 2e-3, offset  # what is left goes at the loop's own pace


@pytest.mark.parametrize("backend", ["embedded", "ipopt"])
def test_every_back_end_keeps_the_torque_bounds_under_a_disturbance(backend: Any) -> None:
    mpc, task = pendulum(backend=backend, disturbance=0.0, programs=20)
    assert mpc.observer is not None
    kept = mpc.problem.bounds.copy()
    mpc.start(np.zeros(2))
    first = mpc.tick(0.0, task.p, task.pd, task.P, tip=task.tip)
    robot, load = mpc.problem.robot, np.array([4.0, -2.0])
    p, pd = robot.joint_step(task.p, task.pd, first.torque + load, 0.02)
    tick = mpc.tick(0.02, p, pd, task.P, tip=task.tip)
    seen = 0.5 * load  # the mean of two steps, one of which was undisturbed
    np.testing.assert_allclose(mpc.observer.estimate, seen, atol=1e-4)
    np.testing.assert_array_equal(mpc.problem.bounds, kept)
    assert tick.plan is not None and tick.status.usable
    assert (tick.plan.U >= kept[0] - BOUND).all() and (tick.plan.U <= kept[1] + BOUND).all()
    changes = np.diff(np.vstack([first.torque, tick.plan.U]), axis=0)
    assert (np.abs(changes) <= kept[2] + BOUND).all()
    step = robot.joint_step(p, pd, tick.plan.U[0] + seen, 0.02)  # the plan's states are those of the loaded robot
    np.testing.assert_allclose(tick.plan.P[1], step.p_next, atol=1e-3)


def test_an_observer_is_forgotten_when_old_plans_run_out() -> None:
    mpc, _ = pendulum(reuse=2, disturbance=0.0)
    flaky = Flaky(mpc)
    mpc.solver, robot = flaky, mpc.problem.robot
    p, pd = np.array([0.1, 0.0]), np.zeros(2)
    assert mpc.observer is not None
    seen = []
    for k in range(8):
        flaky.fail = k >= 3
        tick = mpc.tick(0.02 * k, p, pd, [0.3, -0.1])
        seen.append((tick.source, bool(mpc.observer.estimate.any())))
        p, pd = robot.joint_step(p, pd, tick.torque + [3.0, -1.0], 0.02)
    assert [source for source, _ in seen[3:]] == [PlanSource.SHIFTED] * 2 + [PlanSource.FALL_BACK] * 3
    assert [known for _, known in seen] == [False, True, True, True, True, False, False, False]


def test_what_was_really_sent_is_what_is_remembered() -> None:
    """A planner whose torque is changed behind it sees no disturbance in that, once it is told."""
    robot, estimates = loaded("double_pendulum"), {}
    for told in (False, True):
        mpc = new(robot, 8, delay=1, disturbance=0.0)
        assert mpc.observer is not None
        p, pd = np.array([0.1, 0.0]), np.zeros(2)
        hold = robot.gravity(p)
        mpc.start(hold)
        waiting = [hold]
        for k in range(12):
            sent = hold + 0.3 * (mpc.tick(0.01 * k, p, pd, [0.3, -0.1]).torque - hold)
            if told:
                mpc.sent(sent)
            waiting.append(sent)
            p, pd = robot.joint_step(p, pd, waiting.pop(0))
        estimates[told] = float(np.abs(mpc.observer.residual).max())
    assert estimates[True] < 1e-4 < 0.1 < estimates[False], estimates


def test_a_goal_is_reached_and_kept() -> None:
    robot = loaded("double_pendulum")
    run = run_closed_loop(Mpc(robot, 10), GoalReference(np.array([0.4, np.nan]), 0.8), np.zeros(2), 1.5)
    np.testing.assert_allclose(run.q[-1], [0.4, 0.0], atol=2e-3)
    assert run.violation == 0.0 and run.sources == {PlanSource.SOLVED: 150}


def test_the_tip_alone_leads_the_arm() -> None:
    """Without weights on positions, the tip goes where the reference's tip is."""
    robot = loaded("double_pendulum")
    mpc = Mpc(robot, 12, weights=Weights(p=0.0, pd=1e-3, tip=10.0), h=0.02)
    goal = np.array([0.4, 0.5])
    task = mpc.task([0.0, 0.2], [0.0, 0.0], goal)
    np.testing.assert_allclose(task.tip[3], robot.tip_pose(goal).position)
    run = run_closed_loop(mpc, GoalReference(goal, 1.0), np.array([0.0, 0.2]), 2.0)
    np.testing.assert_allclose(robot.tip_pose(run.q[-1]).position, task.tip[3], atol=2e-3)


def test_references() -> None:
    goal = GoalReference(np.array([1.0, np.nan]), 0.5, profile="ramp")
    goal.start(np.array([0.0, 0.3]))
    P, PD = goal.at(np.array([-1.0, 0.0, 1.0, 3.0]))
    np.testing.assert_allclose(P, [[0, 0.3], [0, 0.3], [0.5, 0.3], [1.0, 0.3]])
    np.testing.assert_allclose(PD[:, 0], [0.5, 0.5, 0.5, 0.0])
    time = np.array([5.0, 6.0])
    log = LogReference(time, np.array([[0.0], [1.0]]), np.array([[1.0], [1.0]]), Approach(0.5, profile="ramp"))
    log.start(np.array([0.25]))
    P, PD = log.at(np.array([0.0, 0.25, 0.75, 2.0]))
    np.testing.assert_allclose(P[:, 0], [0.25, 0.375, 0.75, 1.0])
    np.testing.assert_allclose(PD[:, 0], [0.5, 0.5, 1.0, 0.0])
    still = LogReference(time, np.ones((2, 1)), np.zeros((2, 1)), Approach(0.5))
    still.start(np.array([0.25]))
    goal = GoalReference(np.array([1.0]), 0.5)
    goal.start(np.array([0.25]))
    at = np.linspace(0.0, 3.0, 31)
    for ours, theirs in zip(still.at(at), goal.at(at), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize(
    "lower, upper", [((1.0, -1.0), (-1.0, 1.0)), ((-1.0, 1.0), (1.0, 1.0)), ((np.nan, -1.0), (1.0, 1.0))]
)
def test_torque_bounds_without_room_are_refused_by_name(lower: tuple[float, float], upper: tuple[float, float]) -> None:
    """What was set before still acts."""
    mpc, _ = pendulum(h=0.02)
    mpc.set_torque_bounds([-2.0, -np.inf], [2.0, np.inf])
    joint = mpc.problem.robot.joints[int(lower[0] < upper[0])]
    with pytest.raises(InputError, match=f"torque bounds of {joint}: expected a lower one below the upper one"):
        mpc.set_torque_bounds(lower, upper)
    tick = mpc.tick(0.0, np.zeros(2), np.zeros(2), np.array([1.5, -0.4]))
    assert tick.source is PlanSource.SOLVED and abs(abs(tick.torque[0]) - 2.0) < 1e-6
