"""Predictive control through contact: a block pushed from rest, the whole program in IPOPT, an arm that presses on a table."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest
from click.testing import CliRunner
from support.mechanisms import robot_of
from support.robots import generated, loaded
from support.touching import block, presser

import diffpbd
from diffpbd.runtime import Robot, load
from diffpbd.runtime.cli import cli
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.mpc import Bounds, Mpc, MpcOptions, Status, Weights
from diffpbd.runtime.mpc.transcription import Rows, Steps, transcribed

H, STEPS = 0.02, 20
GOAL = np.array([0.05, 0.02, 0.0])
SLIPS = (1e-1, 1e-2, 1e-3, 1e-4)


@cache
def made(name: str) -> Robot:
    made = {"pushed_block": block(), "presser": (presser(), 'tip = "hand"')}[name]
    return robot_of(made, name, functions=("mpc",))


def pusher(slip: float, backend: Any = "embedded") -> tuple[Mpc, Any]:
    """Predictive control of a block that is to be moved by 54 mm in 0.4 s and to rest there, and its task from rest."""
    free, effort = np.full(3, np.inf), np.array([20.0, 20.0, 1e-3])
    mpc = Mpc(
        made("pushed_block"), STEPS, h=H, alpha={"contact.slip": slip}, options=MpcOptions(backend=backend),
        weights=Weights(p=[1, 1, 0], pd=[0.1, 0.1, 0], u=1e-3, du=1e-4, end=1e5),
        bounds=Bounds(-effort, effort, 0.2 * effort, -free, free, free),
    )  # fmt: skip
    start = np.array([0.0, 0.0, 0.5 * H * 0.5 * slip * (20 / 9.81 - 1)])
    return mpc, mpc.task(start, np.zeros(3), GOAL, U=np.zeros(3), u_last=np.zeros(3))


def test_a_block_is_pushed_from_rest() -> None:
    """Converged at every slip, each from the one before; the plan is the step's, and what is planned at 1e-4 holds at 1e-7."""
    robot, guess, off, programs = made("pushed_block"), None, {}, 0
    for slip in SLIPS:
        mpc, task = pusher(slip)
        guess = plan = mpc.solve(task, guess, programs=100)
        assert plan.status is Status.SOLVED and plan.defect < 1e-8
        programs += plan.iterations
        P, _ = robot.rollout(task.p, task.pd, plan.U, h=H, alpha=mpc.problem.alpha)
        np.testing.assert_allclose(P, plan.P, rtol=0, atol=1e-8)
        assert np.abs((P[-1] - GOAL)[:2]).max() < 2e-4
        assert np.abs(np.diff(plan.U, axis=0)).max() <= 4.0 + 1e-9
        hard, _ = robot.rollout([0, 0, 1e-9], np.zeros(3), plan.U, h=H, alpha={"contact.slip": 1e-7})
        off[slip] = float(np.hypot(*(hard[-1] - GOAL)[:2]))
    assert programs < 150
    assert off[1e-4] < 5e-4 and off[1e-3] > 1e-3 and off[1e-2] > 1e-2, "a softer plan does not transfer"
    cold = mpc.solve(task, programs=100)
    assert cold.status is Status.SOLVED and cold.cost == pytest.approx(plan.cost, rel=0.03)
    assert np.abs(plan.U[:, :2]).max() > 4.9, "more than friction holds"


@pytest.mark.thorough
def test_ipopt_takes_the_rows_of_contact() -> None:
    """Equations that vanish along the motion; both back ends agree where the plan is soft; from cold down to 1e-4 m/s."""
    mpc, task = pusher(1e-2, "ipopt")
    problem = mpc.problem
    rows = transcribed(problem)
    assert isinstance(rows, Rows)
    assert [float(v[0]) for v in rows.values(True)] == pytest.approx([0.1, 0.01]) and len(rows.values(False)) == 1
    U = np.tile([6.0, 2.0, 0.0], (STEPS, 1))
    P, PD = problem.robot.rollout(task.p, task.pd, U, h=H, alpha=problem.alpha)
    symbols = [casadi.MX.sym(k, *s) for k, s in (("U", (3, STEPS)), ("P", (3, STEPS + 1)), ("PD", (3, STEPS + 1)))]
    zero = casadi.Function("zero", [*symbols, rows.unknowns, rows.parameter], [rows.equations(*symbols)])
    own = rows.first(U, P, PD, rows.values(False)[0])
    assert np.abs(P[-1] - P[0]).max() > 1e-2 and np.abs(own).max() > 1e-2
    left = [np.abs(np.array(zero(U.T, P.T, PD.T, own, slip))).max() for slip in (1e-2, 2e-2)]
    assert left[0] < 1e-8 and left[1] > 1e-4
    soft, plan = pusher(1e-2)[0].solve(task, programs=100), mpc.solve(task)
    assert soft.status is plan.status is Status.SOLVED
    assert plan.defect < 1e-7 and plan.cost == pytest.approx(soft.cost, rel=1e-4)
    np.testing.assert_allclose(plan.P, soft.P, rtol=0, atol=1e-4)
    hard, task = pusher(1e-4, "ipopt")
    whole = hard.solve(task)
    assert whole.status is Status.SOLVED and whole.defect < 1e-7
    assert np.abs((whole.P[-1] - GOAL)[:2]).max() < 2e-4
    assert isinstance(transcribed(Mpc(made("presser"), 2).problem), Rows)
    assert isinstance(transcribed(Mpc(loaded("double_pendulum"), 2).problem), Steps)


FORCE, RADIUS, GIVES, TICK = 10.0, 0.02, 2e-4, 0.01
WAY = 0.06


def pose(x: float, z: float = RADIUS) -> Any:
    """Angles of the presser with its tip there [m]."""
    way = np.array([x, z - 0.3])
    half = np.arccos(np.hypot(*way) / 0.8)
    return np.array([np.arctan2(way[1], way[0]) + half, -2.0 * half])


def place(t: Any) -> Any:
    """To and fro along the table [m]."""
    return 0.5 + WAY * (1.0 - np.cos(2.0 * np.pi * np.maximum(np.asarray(t) - 0.2, 0.0) / 1.2)) / 2.0


def pressing(height: float, disturbance: float | None = None) -> tuple[Any, Any, Mpc]:
    """Force on the table [N] and the tip off its path [m] by tick. The plan has the table at `height` [m] and a friction of
    0.3; the plant, our own step without slip to speak of, has 0.4 and 50 g more at its tip. Torques act a tick late."""
    robot, N = made("presser"), 12
    time = TICK * np.arange(160)
    P = np.array([pose(x) for x in place(time)])
    PD = np.gradient(P, TICK, axis=0)
    rate = np.gradient(place(time), TICK)
    push = np.stack([0.3 * FORCE * rate / np.sqrt(rate**2 + 0.02**2), 0.0 * time, -FORCE + 0.0 * time], axis=1)
    U = robot.inverse_dynamics(P, PD, np.gradient(PD, TICK, axis=0))
    U = U + np.einsum("kij,ki->kj", robot.tip_jacobian(P)[:, :3], push)
    effort, free = np.array([30.0, 15.0]), np.full(2, np.inf)
    known = {"contact.friction.tip": 0.3, "contact.slip": 1e-3, "plane.height.table": height}
    mpc = Mpc(
        robot, N, h=TICK, alpha={**known, "contact.compliance.tip": GIVES},
        weights=Weights(p=1e-2, pd=0.1, u=1e-3, du=1e-4, tip=[1e4, 0, 0]),
        bounds=Bounds(-effort, effort, 0.3 * effort, -free, free, np.full(2, 10.0)),
        options=MpcOptions(delay=1, disturbance=disturbance),
    )  # fmt: skip
    plant = robot.alpha.vector(
        {
            "contact.friction.tip": 0.4,
            "contact.compliance.tip": GIVES,
            "payload.mass": 0.05,
        }
    )
    p, pd, waiting, rows = pose(0.5, RADIUS - GIVES * FORCE), np.zeros(2), U[0], []
    mpc.start(waiting)
    for k in range(140):
        ahead = k + 1 + np.arange(N + 1)
        tip = np.stack([place(TICK * ahead), 0.0 * ahead, 0.0 * ahead], axis=-1)
        tick = mpc.tick(k * TICK, p, pd, P[ahead], PD[ahead], U[ahead[:-1]], tip)
        assert tick.status.usable and (np.abs(tick.torque) <= effort).all()
        found = robot.contact_force(p, pd, waiting, h=TICK, alpha=plant).contact_force
        p, pd = robot.joint_step(p, pd, waiting, h=TICK, alpha=plant)
        rows.append([found[2, 0], robot.tip_pose(p).position[0] - place((k + 1) * TICK)])
        waiting = tick.torque
    force, off = np.array(rows)[20:].T
    return force, off, mpc


def test_an_arm_presses_on_a_table_as_wanted() -> None:
    force, off, mpc = pressing(0.0)
    assert abs(force.mean() - FORCE) < 0.7 and np.sqrt(np.mean((force - FORCE) ** 2)) < 1.0
    assert 8.0 < force.min() and force.max() < 13.5 and np.abs(off).max() < 3e-3
    assert sum(mpc.counts.values()) == 140
    blind, _, _ = pressing(-1.0)
    assert blind.mean() < 0.2 * FORCE, "who does not foresee the table brakes the push"
    _, observed, _ = pressing(0.0, disturbance=0.02)
    assert np.abs(observed).max() < 0.75 * np.abs(off).max(), "the rest of the drag is balanced"


@pytest.mark.parametrize(("slip", "gives", "near"), [(1e-4, GIVES, 1e-6), (1e-3, 0.0, 0.015)])
def test_a_plan_lands_and_presses(slip: float, gives: float, near: float) -> None:
    """From 6 cm above, with a goal below the table: IPOPT's optimum where the surface gives, within 1.5 % where it is rigid."""
    robot, effort, free, plans = made("presser"), np.array([30.0, 15.0]), np.full(2, np.inf), {}
    start, goal = pose(0.5, 0.06), pose(0.55, -0.03)
    for backend in ("embedded", "ipopt"):
        mpc = Mpc(
            robot, 20, h=TICK, weights=Weights(du=1e-5), options=MpcOptions(backend=backend),  # type: ignore[arg-type]
            bounds=Bounds(-effort, effort, 0.3 * effort, -free, free, np.full(2, 10.0)),
            alpha={"contact.slip": slip, "contact.compliance.tip": gives},
        )  # fmt: skip
        plan = plans[backend] = mpc.solve(mpc.task(start, np.zeros(2), goal), programs=150)
        assert plan.status is Status.SOLVED
        P, _ = robot.rollout(start, np.zeros(2), plan.U, h=TICK, alpha=mpc.problem.alpha)
        np.testing.assert_allclose(P, plan.P, rtol=0, atol=1e-8)
        gaps = np.array([robot.contact_gap(p, alpha=mpc.problem.alpha)[0] for p in P])
        assert gaps[0] == pytest.approx(0.04) and gaps.min() > -0.02 and gaps[-1] < 1e-6
    assert plans["embedded"].cost == pytest.approx(plans["ipopt"].cost, rel=near)


def test_the_command_and_the_door_in_contact(tmp_path: Path) -> None:
    """A goal below the table: the tip comes to rest on it, and is pressed."""
    robot, start, goal = made("presser"), pose(0.5, 0.1), pose(0.55, -0.02)
    out = tmp_path / "run.csv"
    words = ["mpc", str(robot.folder), "--horizon", "10", "--duration", "0.8", "--goal-speed", "1", "--out", str(out)]
    done = CliRunner().invoke(cli, [*words, "--q0", str(start.tolist()), "--goal", str(goal.tolist())])
    assert done.exit_code == 0, done.output
    assert "80 ticks of 0.01 s: 80 solved" in done.output
    log = read_log(out)
    assert log.tau is not None and log.dq is not None
    gaps = np.array([robot.contact_gap(q)[0] for q in log.q])
    assert gaps.min() > -1e-7 and abs(gaps[-1]) < 1e-6 and gaps[0] > 0.07
    pressed = robot.contact_force(log.q[-1], log.dq[-1], log.tau[-1]).contact_force[2, 0]
    assert pressed > 1.0
    run = diffpbd.Mpc(robot, 10).run_to(goal, q0=start, speed=1.0, duration=0.8)
    np.testing.assert_allclose(run.q[-1], log.q[-1], atol=1e-6)


@pytest.mark.soak
def test_a_finger_off_a_block_plans_to_push_it(root: Path) -> None:
    """Four joints without a motor, five contacts, one of them on the block's side: from no plan at all, 5 mm off."""
    path = root / "docs" / "examples" / "contact" / "pusher.toml"
    robot = load(generated(str(path), functions=("mpc",)))
    motors, free = np.array([0, 0, 0, 0, 1, 1]), np.full(6, np.inf)
    effort = np.where(motors, 20.0, np.inf)
    own = {f"contact.load.corner_{k}": 0.98 for k in range(1, 5)} | {"contact.load.tip": 3.0}
    own |= {"friction.viscous.finger_x": 5.0, "friction.viscous.finger_y": 5.0}
    start, goal, block = (
        np.array([0, 0, 1e-7, 0, -0.125, -0.02]),
        np.array([0.15, 0.03, 0, 0.25, 0, 0]),
        [1, 1, 0, 0.04, 0, 0],
    )
    weights = Weights(
        p=0.1 * np.array(block), pd=0.01 * np.array(block) + 1e-3 * motors, u=1e-4 * motors, du=1e-4 * motors, end=1e4
    )
    bounds, guess, programs = Bounds(-effort, effort, 0.3 * effort, -free, free, free), None, 0
    for slip in (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4):
        mpc = Mpc(robot, 45, h=0.02, weights=weights, bounds=bounds, alpha={**own, "contact.slip": slip})
        task = mpc.task(start, np.zeros(6), goal, U=np.zeros(6), u_last=np.zeros(6))
        guess = plan = mpc.solve(task, guess, programs=200)
        assert plan.status is Status.SOLVED, slip
        assert (plan.U[:, motors == 0] == 0.0).all()
        programs += plan.iterations
    assert programs < 400
    P, _ = robot.rollout(start, np.zeros(6), plan.U, h=0.02, alpha=own)
    off = (P[-1] - goal)[[0, 1, 3]]
    assert np.hypot(*off[:2]) < 1e-3 and abs(off[2]) < 2e-3
