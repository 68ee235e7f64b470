"""Predictive control of robots whose base floats or moves in a plane: by the joints alone, turns along tangents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.free_flyer import difference, moved, position
from support.planning.moving_bases import WEIGHTLESS, mpc_of, tumbling, weights
from support.small.floating_arm import flat_arms, stopped_flap

import diffpbd
from diffpbd.runtime.cli import cli
from diffpbd.runtime.logs.csv import CsvTable
from diffpbd.runtime.mpc.plan import PlanSource
from diffpbd.runtime.mpc.problem import Status
from diffpbd.runtime.mpc.reference import GoalReference

Array = Any


def test_both_back_ends_agree_and_bounds_hold() -> None:
    robot, (p, pd, goal), plans = stopped_flap(), tumbling(), {}
    for backend in ("ipopt", "embedded"):
        mpc = mpc_of(robot, 8, backend, 0.5)
        task = mpc.task(p, pd, goal)
        plan = plans[backend] = mpc.solve(task)
        assert plan.status is Status.SOLVED
        assert (plan.U[:, :6] == 0.0).all() and np.abs(plan.U[:, 6]).max() == pytest.approx(0.5, abs=1e-4)
        assert plan.cost == pytest.approx(mpc.problem.cost(task, plan.U, plan.P, plan.PD), rel=1e-12)
        P, PD = robot.rollout(p, pd, plan.U, 0.02, mpc.alpha)
        assert max(np.abs(difference(a, b)).max() for a, b in zip(P, plan.P, strict=True)) < 1e-7
        assert plan.PD == pytest.approx(PD, abs=1e-6)
    assert plans["embedded"].cost == pytest.approx(plans["ipopt"].cost, rel=1e-6)
    assert plans["embedded"].U == pytest.approx(plans["ipopt"].U, abs=1e-3)


def test_a_quaternion_and_its_negative_are_one_turn() -> None:
    robot, (p, pd, goal) = stopped_flap(), tumbling()
    mpc, turned = mpc_of(robot), goal * np.r_[1, 1, 1, -1, -1, -1, -1, 1]
    one, other = (mpc.solve(mpc.task(p, pd, end)) for end in (goal, turned))
    assert other.cost == pytest.approx(one.cost, rel=1e-12)
    assert other.U == pytest.approx(one.U, abs=1e-10)
    far = mpc.solve(mpc.task(p, pd, moved(p, np.array([0, 0, 0, 3.0, -4.0, 2.0, 0]))))
    assert far.status in (Status.SOLVED, Status.LIMITED) and np.isfinite(far.U).all()


def test_a_trunk_is_turned_by_its_flap() -> None:
    """With one joint and no momentum the base's turn is a function of the joint: a goal of the turn alone is reached by it."""
    robot = stopped_flap()
    start = position(np.random.default_rng(4), 1)
    start[7] = 0.0
    P, _ = robot.rollout(start, np.zeros(7), 0.3 * np.eye(7)[[6] * 40], 0.01, robot.alpha.vector(WEIGHTLESS))
    goal = dict(zip(robot.positions[3:7], P[-1, 3:7], strict=True))
    turn = np.abs(difference(P[-1], P[0])[3:6]).max()
    assert 0.02 < turn and 0.1 < P[-1, 7] < 0.6
    mpc = diffpbd.Mpc(robot, 20, h=0.02, weights=weights(robot), alpha=WEIGHTLESS)
    run = mpc.run_to(goal, q0=start, speed=0.2, duration=2.0, within=None)
    assert run.sources == {PlanSource.SOLVED: 100}
    assert np.abs(difference(run.q[-1], P[-1])[3:6]).max() < 0.02 * turn
    assert (run.tau[:, :6] == 0.0).all() and run.q.shape == (101, 8) and run.reference.shape == (101, 8)
    momentum = np.einsum("kij,kj->ki", robot.mass_matrix(run.q, mpc.alpha), run.dq)[:, :6]
    assert np.abs(momentum).max() < 1e-12
    assert np.abs(difference(run.reference[-1], P[-1])[3:6]).max() < 1e-9
    plain = diffpbd.Mpc(robot, 20, h=0.02, alpha=WEIGHTLESS)  # numbers are for joints: the base goes where it goes
    assert (plain.problem.weights[:, :6] == 0).all() and (plain.problem.weights[:2, 6] == [1.0, 0.02]).all()
    there = plain.run_to({"shoulder": 0.2}, q0=start)
    assert there.time[-1] < 1.4 and there.q[-1, 7] == pytest.approx(0.2, abs=2e-3)
    assert np.abs(difference(there.q[-1], start)[3:6]).max() > 0.01


def test_the_way_of_a_turn_is_about_one_axis() -> None:
    start, rng = position(np.random.default_rng(1), 2), np.random.default_rng(2)
    goal = position(rng, 2)
    reference = GoalReference(goal, 0.5, True, "ramp")
    reference.start(start)
    takes = reference.takes(start)
    angle = float(2 * np.arccos(abs(goal[3:7] @ start[3:7])))
    assert takes == pytest.approx(max(angle, *np.abs(goal - start)[[0, 1, 2, 7, 8]]) / 0.5)
    time = np.linspace(0, angle / 0.5, 9)
    P, PD = reference.at(time)
    assert np.linalg.norm(P[:, 3:7], axis=1) == pytest.approx(1, abs=1e-14)
    assert np.abs(difference(P[-1], goal)[3:6]).max() < 1e-12
    e = 1e-6
    slope = (difference(reference.at(time[3:4] + e)[0][0], P[3]) / e)[3:6]
    assert PD[3, 3:6] == pytest.approx(slope, abs=1e-5) and np.linalg.norm(PD[3, 3:6]) == pytest.approx(0.5)
    stays = GoalReference(np.r_[np.full(7, np.nan), 0.3, np.nan], 0.5, True)
    stays.start(start)
    P, PD = stays.at(np.array([0.0, 10.0]))
    assert np.delete(P[-1], 7) == pytest.approx(np.delete(start, 7), abs=1e-15) and abs(P[-1, 7] - 0.3) < 1e-15
    assert stays.asked.tolist() == [False] * 6 + [True, False]


def test_what_is_no_turn_is_refused_and_a_tick_falls_back() -> None:
    robot, (p, pd, goal) = stopped_flap(), tumbling()
    mpc = mpc_of(robot)
    for size, source in ((1.009, PlanSource.SOLVED), (1.011, PlanSource.SHIFTED)):
        q = p * np.r_[np.ones(3), size * np.ones(4), 1.0]
        tick = mpc.tick(0.02, q, pd, goal)
        assert tick.source is source and (tick.torque[:6] == 0).all() and np.isfinite(tick.torque).all()
    task = mpc.task(p, pd, goal)
    for wrong in (replace(task, p=1.1 * p), replace(task, P=1.1 * task.P)):
        refused = mpc.solver.solve(wrong, programs=1)
        assert refused.status is Status.BAD_INPUT and np.isfinite(refused.U).all() and np.isfinite(refused.P).all()
    fresh = mpc_of(robot).tick(0.0, np.full(8, np.nan), pd, goal)
    assert fresh.source is PlanSource.FALL_BACK and fresh.status is Status.BAD_INPUT


def test_the_command_turns_a_base(tmp_path: Path) -> None:
    robot, out = stopped_flap(), tmp_path / "run.csv"
    turn = '{"base_qw": 0.99995, "base_qx": 0, "base_qy": 0.009999833, "base_qz": 0}'
    heavy = '{"p": [0, 0, 0, 10, 10, 10, 0.01], "pd": [0, 0, 0, 0.1, 0.1, 0.1, 0.01], "u": 1e-3}'
    words = [
        "--goal",
        turn,
        "--weights",
        heavy,
        "--duration",
        "0.3",
        "--out",
        str(out),
        "--plot",
        str(tmp_path / "a.png"),
    ]
    done = CliRunner().invoke(cli, ["mpc", str(robot.folder), *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "30 solved" in done.output and "base at the end:" in done.output
    table = CsvTable(out, {})
    assert "q_base_qw" in table.header and "tau_shoulder" in table.header
    log = CliRunner().invoke(cli, ["mpc", str(robot.folder), "--reference", str(out), "--out", str(tmp_path / "b.csv")])
    assert log.exit_code == 1 and "a log is not followed with a floating base" in log.output
    assert not (tmp_path / "b.csv").exists()


@pytest.mark.soak
def test_a_planar_base_plans_as_a_floating_one_in_its_plane() -> None:
    floating, planar = flat_arms()
    p, pd = np.array([0.1, 0.3, 0.4, 0.3, -0.7]), np.array([0.4, 0.1, -0.5, 0.3, -0.2])
    places, rates = [0, 2, 7, 8], [0, 2, 4, 6, 7]
    q, qd = np.zeros(9), np.zeros(8)
    q[places], q[[3, 5]] = p[[0, 1, 3, 4]], [np.cos(0.2), np.sin(0.2)]
    qd[rates] = pd
    end = q.copy()
    end[[3, 5]] = [np.cos(0.25), np.sin(0.25)]
    one = mpc_of(planar, 15)
    other = mpc_of(floating, 15)
    flat = one.solve(one.task(p, pd, p + [0, 0, 0.1, 0, 0]))
    found = other.solve(other.task(q, qd, end))
    assert flat.status is found.status is Status.SOLVED
    # 2 sin(φ/2) for φ in the cost is all that differs
    assert found.cost == pytest.approx(flat.cost, rel=1e-3)
    assert found.U[:, 6:] == pytest.approx(flat.U[:, 3:], abs=2e-3)
    assert np.abs(flat.U[:, 3:]).max() > 1.4
