"""Limits of joints in joint_step, compiled: stops, energy, derivatives at every state, with loops, through a root finder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np
import pytest
from support.made.limited import arm, crank
from support.mechanisms import MECHANISMS, robot_of

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.mpc.options import BACKENDS, Backend, MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Bounds, Status, Weights
from diffpbd.runtime.simulate.orders import Composed

H = 0.01


def test_time_runs_forwards_where_joints_stop() -> None:
    robot = arm()
    zero = np.zeros(3)
    for h in (0.0, -0.01, -1.0):
        with pytest.raises(SolverError, match=r"h is not above zero: .* \(status 21\)"):
            robot.joint_step(zero, zero, zero, h)
    for order in (4, 6):
        with pytest.raises(InputError, match=r"limits or contacts \(limit.load\) act. Use order 2"):
            Composed(robot, order)(zero, zero, zero)


def alpha_of(robot: Robot, **more: float) -> np.ndarray:
    return robot.alpha.vector({key.replace("__", "."): value for key, value in more.items()})


def test_a_swing_into_its_stop_loses_energy_and_never_passes() -> None:
    r = arm()
    for h in (0.01, 0.005, 0.001):
        p, pd = np.array([0.3, 0.0, 0.0]), np.array([-3.0, 0.5, 0.0])
        steps = np.zeros((round(1.0 / h), 3))
        alpha = alpha_of(r)
        P, PD = r.rollout(p, pd, steps, h=h, alpha=alpha)
        assert P[:, :2].min() > -1.0 and P[:, :2].max() < 1.0
        assert (np.abs(P[:, 0] + 1.0) < 1e-3).any()  # it was there
        energy = np.array([sum(r.energy(*state)) for state in zip(P, PD, strict=True)])
        far = {
            f"limit.{end}.{j}": side * 1e3 for end, side in (("lower", -1), ("upper", 1)) for j in ("swing", "slide")
        }
        free = r.rollout(p, pd, steps, h=h, alpha=far)
        own = np.array([sum(r.energy(*state)) for state in zip(*free, strict=True)])
        rise, allowed = ((e - np.minimum.accumulate(e)).max() for e in (energy, own))
        assert rise <= allowed + 1e-9 and energy.max() <= energy[0] + allowed
        assert energy[-1] < energy[0] - 0.1


def test_what_presses_creeps_at_the_slip() -> None:
    """At rest on a stop the gap is the one that the smoothing gives: κ h/(2 β), β half the step's impulse."""
    r, effort = arm(), 20.0
    alpha = alpha_of(r, gravity__z=0.0)
    p, pd = np.array([-1.0 + 1e-6, 0.0, 0.0]), np.zeros(3)
    P, PD = r.rollout(p, pd, np.tile([-effort, 0.0, 0.0], (60, 1)), h=H, alpha=alpha)
    load, slip = (alpha[r.alpha.names.index(f"limit.{k}")] for k in ("load", "slip"))
    half = 0.5 * H * effort
    assert P[-1, 0] + 1.0 == pytest.approx(load * slip * H / 2 * H / (2 * half), rel=1e-3)
    assert np.abs(PD[-1]).max() < 1e-7


def test_pushes_of_every_size_are_resolved() -> None:
    r, rng = arm(), np.random.default_rng(7)
    for _ in range(150):
        p, pd = rng.uniform(-1, 1, 3), rng.standard_normal(3) * 10 ** rng.uniform(-2, 1.3)
        P, PD = r.rollout(p, pd, rng.standard_normal((20, 3)) * 10 ** rng.uniform(-1, 1), h=H)
        assert np.abs(P[:, :2]).max() < 1.0 and np.isfinite(PD).all()


def impacts(count: int) -> Iterator[tuple[Any, ...]]:
    """States, torques, steps and alphas, most of them about to hit one stop or two at up to 40 rad/s, stops sharp or soft."""
    r, rng = arm(), np.random.default_rng(0)
    for _ in range(count):
        p = np.append(rng.uniform(-0.999, 0.999, 2), 0.0)
        near = rng.choice([-1, 1], 2) * (1 - 10 ** rng.uniform(-6, -1.5, 2))
        p[:2] = np.where(rng.uniform(size=2) < 0.7, near, p[:2])
        pd, u = rng.uniform(-4, 4, 3) * 10 ** rng.uniform(-2, 1), rng.uniform(-20, 20, 3)
        yield p, pd, u, rng.choice([0.001, 0.01, 0.02]), alpha_of(r, limit__slip=10 ** rng.uniform(-6, -1))


def test_the_graph_solves_every_impact(capfd: pytest.CaptureFixture[str]) -> None:
    """As the compiled step does; where that has a status the graph is NaN, and says nothing."""
    r = arm()
    graph, failed = r.casadi("joint_step"), 0
    for k, state in enumerate(impacts(250)):
        found = np.array(ca.vertcat(*graph(*state))).ravel()
        try:
            wanted = np.concatenate(r.joint_step(*state))
        except SolverError:
            failed += 1
            assert np.isnan(found).any()
            continue
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)
        if k % 25 == 0:
            found = graph.jacobian()(*state, *graph(*state))[5]
            wanted = r.jac_joint_step(*state).dpd_next_dp
            np.testing.assert_allclose(np.array(found), wanted, rtol=1e-5, atol=1e-6 * np.abs(wanted).max())
    assert failed <= 2
    for h in (0.0, -0.01, -1.0):  # time runs forwards, far from every stop too
        for at in (state[:3], (np.zeros(3),) * 3):
            assert np.isnan(np.array(ca.vertcat(*graph(*at, h, state[4])))).all()
    assert capfd.readouterr() == ("", "")


def planner(r: Robot, backend: Backend, slip: float) -> tuple[Mpc, Any]:
    """A horizon of 12 steps with no bound on positions but the stops, and its alpha."""
    wide = [np.full(3, x) for x in (-8.0, 8.0, 20.0, -9.0, 9.0, 50.0)]
    weights = Weights(p=1.0, pd=0.01, u=1e-6, du=1e-6, end=3.0)
    alpha = alpha_of(r, limit__slip=slip)
    return Mpc(
        r, 12, h=H, alpha=alpha, bounds=Bounds(*wide), weights=weights, options=MpcOptions(backend=backend)
    ), alpha


def test_both_back_ends_plan_into_a_stop() -> None:
    """A goal beyond the stop ends at it, along the step's own rollout; two optima differ in the step of the impact."""
    r, start, plans = arm(), ([-0.9, 0.0, 0.0], [-1.0, 0.0, 0.0]), {}
    for backend in BACKENDS:
        mpc, alpha = planner(r, backend, 1e-2)
        plan = plans[backend] = mpc.solve(mpc.task(*start, [-1.1, 0.0, 0.0], U=np.zeros(3)))
        assert plan.status is Status.SOLVED, plan.detail
        P, _ = r.rollout(*start, plan.U, h=H, alpha=alpha)
        np.testing.assert_allclose(plan.P, P, atol=1e-8)
        assert -1.0 < P[:, 0].min() < -0.9999
    assert plans["embedded"].cost < 1.01 * plans["ipopt"].cost


@pytest.mark.parametrize("slip", [1e-1, 1e-3])
def test_programs_find_a_plan_into_every_stop(slip: float) -> None:
    """From both sides of hinge and slide, at rest and moving towards the stop or away from it, goals before and beyond it."""
    r, rng = arm(), np.random.default_rng(1)
    mpc, alpha = planner(r, "embedded", slip)
    reached = 0
    for k in range(24):
        joint, side = k % 2, 1 if k % 4 < 2 else -1
        p, pd, goal = (
            side
            * np.eye(3)[joint]
            * np.array([rng.uniform(0.8, 0.97), rng.uniform(-1, 2), rng.uniform(0.9, 1.3)])[:, None]
        )
        plan = mpc.solve(mpc.task(p, pd, goal, U=np.zeros(3)))
        assert plan.status is Status.SOLVED and plan.iterations <= 30, (k, plan.iterations, plan.defect)
        P, _ = r.rollout(p, pd, plan.U, h=H, alpha=alpha)
        np.testing.assert_allclose(plan.P, P, atol=1e-7)
        reached += abs(P[:, joint]).max() > 0.999
        assert abs(P[:, :2]).max() < 1.0 + slip
    assert 6 < reached < 24  # some stop, some do not


@pytest.mark.soak
def test_programs_find_a_plan_into_a_stop_of_a_closed_loop() -> None:
    """A slider-crank whose slide has 20 mm of room either way: plans stay closed, and are the step's own rollout."""
    asked = ("joint_step", "mpc")
    r = robot_of(MECHANISMS["slider_crank"](), "planned_crank", "limits = true", "mechanisms", asked)
    guess, slide = MECHANISMS["slider_crank"]().guess, r.joints.index("s")
    start = r.close_loops([guess[k] for k in r.joints], np.zeros(3))
    room = {"limit.slip": 1e-2, "limit.lower.s": start[slide] - 0.02, "limit.upper.s": start[slide] + 0.02}
    wide = [np.full(3, x) for x in (-20.0, 20.0, 40.0, -np.inf, np.inf, 50.0)]
    weights, rng, stopped = Weights(p=1.0, pd=0.01, u=1e-6, du=1e-6, end=3.0), np.random.default_rng(0), 0
    mpc = Mpc(r, 12, h=H, alpha=r.alpha.vector(room), bounds=Bounds(*wide), weights=weights)
    for _ in range(30):
        goal = r.close_loops(start + [rng.uniform(-0.4, 0.4), 0, 0], np.array([1.0, 0, 0]))
        rates = r.close_rates(start, np.full(3, rng.uniform(-1.5, 1.5)))
        plan = mpc.solve(mpc.task(start, rates, goal, U=np.zeros(3)))
        assert plan.status is Status.SOLVED
        P, PD = r.rollout(plan.P[0], plan.PD[0], plan.U, h=H, alpha=mpc.problem.alpha)
        np.testing.assert_allclose(plan.P, P, atol=1e-8)
        assert np.abs(r.loop_residual(P, PD).rows).max() < 1e-12
        travel = np.abs(P[:, slide] - start[slide]).max()
        assert travel < 0.02 + 1e-5
        stopped += travel > 0.0199
    assert 8 < stopped < 25


def test_limits_beside_a_loop() -> None:
    r = crank()
    names = [j.name for j in r.manifest.robot.joints]
    slide = next(k for k, j in enumerate(r.manifest.robot.joints) if j.type == "prismatic")
    guess = MECHANISMS["slider_crank"]().guess
    p = r.close_loops([guess[k] for k in names], np.zeros(r.n))
    pd = r.close_rates(p, np.ones(r.n))
    pd *= -1.5 * np.sign(pd[slide]) / np.abs(pd).max()
    stop = f"limit.lower.{names[slide]}"
    alpha = r.alpha.vector({stop: p[slide] - 0.01, "limit.slip": 1e-3})
    P, PD = r.rollout(p, pd, np.zeros((100, r.n)), h=H, alpha=alpha)
    assert p[slide] - 0.01 < P[:, slide].min() < p[slide] - 0.009
    rows = [r.loop_residual(*state, alpha=alpha) for state in zip(P, PD, strict=True)]
    assert max(np.abs(k.rows).max() for k in rows) < 1e-13 and max(np.abs(k.row_rates).max() for k in rows) < 1e-11
    plain = r.rollout(p, pd, np.zeros((100, r.n)), h=H)[0]
    assert plain[:, slide].min() < p[slide] - 0.02  # without the stop it goes on
