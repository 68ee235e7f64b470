"""Predictive control of mechanisms with closed loops and of joints without a motor."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.planning.closed_loops import TIGHT, bounds, five_bar

from diffpbd.runtime.cli import cli
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.model import closed
from diffpbd.runtime.model.statics import holding_torque
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.passive import OnLoops
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Status
from diffpbd.runtime.mpc.reference import GoalReference


def test_both_back_ends_agree_and_bounds_hold() -> None:
    robot, p, goal = five_bar()
    plans = {}
    for backend in ("ipopt", "embedded"):
        mpc = Mpc(robot, 12, h=0.01, weights=TIGHT, bounds=bounds(robot, 5.0), options=MpcOptions(backend=backend))
        task = mpc.task(p, np.zeros(4), goal)
        plan = plans[backend] = mpc.solve(task)
        assert plan.status is Status.SOLVED
        assert (np.abs(plan.U[:, [0, 2]]) <= 5.0 + 1e-9).all()
        assert (plan.U[:, [1, 3]] == 0.0).all()
        assert (np.abs(np.diff(plan.U, axis=0)) <= 2.5 + 1e-9).all()
        assert max(np.abs(robot.loop_residual(q, v).rows).max() for q, v in zip(plan.P, plan.PD, strict=True)) < 1e-9
        assert plan.cost == pytest.approx(mpc.problem.cost(task, plan.U, plan.P, plan.PD), rel=1e-9)
    assert plans["embedded"].cost == pytest.approx(plans["ipopt"].cost, rel=1e-6)
    np.testing.assert_allclose(plans["embedded"].U, plans["ipopt"].U, rtol=0, atol=1e-3)
    assert (np.abs(plans["ipopt"].U) > 4.99).any()


def test_the_plan_is_that_of_the_step_and_starts_at_the_closed_pose() -> None:
    robot, p, goal = five_bar()
    mpc = Mpc(robot, 12, h=0.01, weights=TIGHT, bounds=bounds(robot, 7.0))
    plan = mpc.solve(mpc.task(p + 1e-4, np.full(4, 0.1), goal))
    assert plan.status is Status.SOLVED
    np.testing.assert_allclose(plan.P[0], robot.close_loops(p + 1e-4, np.zeros(4)), atol=1e-14)
    np.testing.assert_allclose(plan.PD[0], robot.close_rates(plan.P[0], np.full(4, 0.1)), atol=1e-14)
    P, _ = robot.rollout(plan.P[0], plan.PD[0], plan.U, h=0.01)
    np.testing.assert_allclose(P, plan.P, rtol=0, atol=1e-8)
    far = mpc.solver.solve(mpc.task(p + [0.0, 3.0, 0.0, -3.0], np.zeros(4), goal), programs=1)
    assert far.status in (Status.SOLVED, Status.LIMITED, Status.STEP_FAILED)  # another closed pose, or none
    assert np.isfinite(far.U).all()


def test_a_noisy_arm_gets_there() -> None:
    robot, p, goal = five_bar()
    mpc, rng = Mpc(robot, 12, h=0.01, weights=TIGHT, bounds=bounds(robot, 7.0)), np.random.default_rng(0)
    q, dq = p, np.zeros(4)
    for k in range(80):
        tick = mpc.tick(0.01 * k, q + 1e-5 * rng.standard_normal(4), dq, goal)
        assert tick.status.usable
        assert (tick.torque[[1, 3]] == 0.0).all()
        q, dq = robot.joint_step(q, dq, tick.torque, 0.01)
    assert np.abs(q - goal).max() < 1e-3
    assert np.isfinite(mpc.tick(0.8, np.full(4, np.nan), dq, goal).torque).all()


def test_held_by_the_motors_alone() -> None:
    robot, p, _ = five_bar()
    alpha = robot.alpha.vector({"torque_offset.j1": 3.0, "spring.stiffness.j2": 2.0})
    u = holding_torque(robot, p, alpha)
    assert (u[[1, 3]] == 0.0).all()
    P, _ = robot.rollout(p, np.zeros(4), np.tile(u, (20, 1)), h=0.01, alpha=alpha)
    assert np.abs(P - p).max() < 1e-9


def test_a_reference_of_the_motors_is_closed() -> None:
    robot, p, goal = five_bar()
    own = closed.of(robot)
    assert own is not None
    reference = OnLoops(GoalReference(np.where(own.motors, goal, np.nan), 1.0), own)
    reference.start(p)
    for t in (0.0, 0.1, 0.3, 1.0):
        P, PD = reference.at(t + 0.01 * np.arange(5))
        assert np.abs(robot.loop_residual(P, PD).rows).max() < 1e-12
        assert np.abs(robot.loop_residual(P, PD).row_rates).max() < 1e-12
    np.testing.assert_allclose(P[-1], goal, atol=1e-12)
    # what a reference says of joints without a motor is not used: they go on from where they are
    elsewhere = OnLoops(GoalReference(np.where(own.motors, goal, [0.0, 2.0, 0.0, -2.5]), 50.0), own)
    elsewhere.start(p)
    np.testing.assert_allclose(elsewhere.at(np.linspace(0.5, 1.0, 5))[0][-1], goal, atol=1e-9)


def test_the_command(tmp_path: Path) -> None:
    robot, p, goal = five_bar()

    def run(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(
            cli, ["mpc", str(robot.folder), "--horizon", "8", "--out", str(tmp_path / "run.csv"), *words]
        )
        return result.exit_code, result.output

    q0 = "[" + ", ".join(map(str, p)) + "]"
    wanted = f'{{"j1": {goal[0]}, "j3": {goal[2]}}}'
    code, text = run("--q0", q0, "--goal", wanted, "--goal-speed", "2", "--duration", "0.6", "--bounds", '{"u": 9}')
    assert code == 0, text
    assert "at the end j1 is" in text or "at the end j3 is" in text  # the others have no goal
    log = read_log(tmp_path / "run.csv")
    assert np.abs(log.q[-1] - goal).max() < 0.03
    assert log.tau is not None
    assert 3.0 < np.abs(log.tau).max() <= 9.0
    code, text = run("--q0", q0, "--goal", '{"j2": 0.1}')
    assert code == 1
    assert "--goal: j2 without a motor" in text
    code, text = run("--q0", q0, "--goal", wanted, "--bounds", '{"u": [1, 2, 3, 4]}')
    assert code == 1
    assert "MPC bound u_lower: given for j2, j4, which has no motor" in text
    refused = CliRunner().invoke(cli, ["excite", str(robot.folder), "--out", str(tmp_path / "no.csv")])
    assert refused.exit_code == 1 and "has closed loops (" in refused.stderr and "open chains" in refused.stderr


@pytest.mark.soak
def test_the_delta_of_the_page(root: Path, tmp_path: Path) -> None:
    script = root / "docs" / "examples" / "delta" / "follow.py"
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "400 ticks: 400 solved" in done.stdout
    assert float(done.stdout.split("path ")[1].split(" mm")[0]) < 0.3
