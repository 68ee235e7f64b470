"""Plans that keep distances: a planar arm around a ball, judged by plain geometry; beside IPOPT; what hard rows say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.planning.around_a_ball import (
    BALL,
    CURVED,
    GOAL,
    LEAST,
    START,
    STEPS,
    URDF,
    H,
    apart,
    followed,
    planar,
    planned,
)
from support.robots import generated

import diffpbd
from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.cli import cli
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.loop.configuration import limits_of
from diffpbd.runtime.mpc.apart import HARD_PRICE
from diffpbd.runtime.mpc.controller import ROOM, MpcController
from diffpbd.runtime.mpc.plan import PlanSource
from diffpbd.runtime.mpc.problem import Status

SLACKENED = 5e-5  # cost; IPOPT slackens every constraint by 1e-8, of which a metre costs 1e4


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return load(planar(tmp_path_factory.mktemp("planar")))


@pytest.mark.parametrize("hard", [False, True])
def test_it_goes_around_and_arrives(arm: Robot, hard: bool) -> None:
    through, _ = followed(arm, planned(arm))
    assert min(map(apart, through)) < -0.02  # who does not ask goes through it
    mpc = planned(arm, clearance=LEAST, clearance_hard=hard)
    poses, statuses = followed(arm, mpc)
    assert set(statuses) <= {Status.SOLVED, Status.LIMITED}
    assert LEAST - CURVED < min(map(apart, poses)) < LEAST + CURVED
    assert abs(poses[-1] - GOAL).max() < 0.01
    plan = mpc.solve(mpc.task(poses[-1], np.zeros(2), GOAL))
    assert plan.clearance == pytest.approx(min(map(apart, plan.P[1:])), abs=1e-9)


def test_a_cheap_distance_gives_way(arm: Robot) -> None:
    """The price is one: what it buys lies between nothing and all."""
    poses, _ = followed(arm, planned(arm, clearance=LEAST, clearance_price=2.0))
    assert 0.0 < min(map(apart, poses)) < LEAST - 0.01


def test_both_back_ends_find_the_same_plan(arm: Robot) -> None:
    """From beside the ball to its other side, the reference straight through."""
    beside = np.array([0.25, 0.5])
    plans = []
    for backend in ("embedded", "ipopt"):
        mpc = planned(arm, 10, clearance=LEAST, backend=backend)
        reference = beside + np.linspace(0.0, 1.0, 11)[:, None] * [0.3, 0.0]
        task = mpc.task(beside, np.zeros(2), reference)
        plans.append(mpc.solve(task))
        assert plans[-1].status is Status.SOLVED
        assert min(map(apart, plans[-1].P[1:])) == pytest.approx(LEAST, abs=1e-5)
        assert plans[-1].cost == pytest.approx(mpc.problem.cost(task, plans[-1].U, plans[-1].P, plans[-1].PD), rel=1e-6)
    assert plans[0].cost == pytest.approx(plans[1].cost, rel=1e-4)
    assert abs(plans[0].P - plans[1].P).max() < 1e-3


def test_both_back_ends_part_alike(arm: Robot) -> None:
    """From inside the ball."""
    plans, inside = [], np.array([0.45, 0.5])
    assert apart(inside) < -0.03
    for backend in ("embedded", "ipopt"):
        mpc = planned(arm, 10, clearance=LEAST, clearance_hard=True, backend=backend)
        task = mpc.task(inside, np.zeros(2), inside)
        plans.append(mpc.solve(task))
        assert plans[-1].status is Status.SOLVED
        assert apart(plans[-1].P[-1]) == pytest.approx(apart(inside) + 10 * H * 0.05, abs=1e-4)
        assert plans[-1].cost == pytest.approx(
            mpc.problem.cost(task, plans[-1].U, plans[-1].P, plans[-1].PD), abs=SLACKENED
        )
    assert plans[0].cost == pytest.approx(plans[1].cost, abs=SLACKENED)


def test_what_hard_rows_cannot_keep_is_no_plan(arm: Robot) -> None:
    """At 1.5 rad/s nothing stops within 5 mm: there is a plan that gives way, and no hard one."""
    p = np.array([0.32, 0.5])
    assert 0.0 < apart(p) - LEAST < 0.005
    for hard in (False, True):
        mpc = planned(arm, clearance=LEAST, clearance_hard=hard)
        tick = mpc.tick(0.0, p, np.array([1.5, 0.0]), p)
        assert tick.status is Status.TOO_NEAR if hard else tick.status.usable
        assert (tick.source is PlanSource.FALL_BACK) == hard
        plan = mpc.solve(mpc.task(p, np.array([1.5, 0.0]), p))
        assert plan.status is Status.TOO_NEAR if hard else min(map(apart, plan.P)) < LEAST - CURVED
    assert np.isfinite(tick.torque).all()


@pytest.mark.parametrize("hard", [False, True])
def test_who_starts_too_near_comes_out(arm: Robot, hard: bool) -> None:
    """Hard rows ask of a start that is nearer not to be nearer still."""
    p, pd = np.array([0.335, 0.5]), np.zeros(2)
    assert 0.0 < apart(p) < LEAST - 0.005
    mpc = planned(arm, clearance=LEAST, clearance_hard=hard)
    for k in range(50):
        tick = mpc.tick(k * H, p, pd, np.array([0.335, 0.5]))
        assert tick.status in (Status.SOLVED, Status.LIMITED), k
        p, pd = arm.joint_step(p, pd, tick.torque, H)
    assert apart(p) == pytest.approx(LEAST, abs=CURVED)


def test_from_deep_inside_it_parts_at_the_stated_rate(arm: Robot, count: Callable[[int, int], int]) -> None:
    """At rest anywhere, up to 9 cm inside: every tick has a plan, and the arm comes out no faster than it may, never deeper."""
    random, left = np.random.default_rng(0), count(6, 150)
    while left:
        p, pd = random.uniform([-0.5, 0.0], [1.5, 2.0]), np.zeros(2)
        start = apart(p)
        if not -0.09 < start < LEAST - 0.02:
            continue
        left -= 1
        goal, mpc, way = p, planned(arm, clearance=LEAST, clearance_hard=True), [start]
        for k in range(125):
            tick = mpc.tick(k * H, p, pd, goal)
            assert tick.status in (Status.SOLVED, Status.LIMITED), (goal, k)
            p, pd = arm.joint_step(p, pd, tick.torque, H)
            assert (np.abs(pd) < 4.0).all()
            way.append(apart(p))
        parted = 0.05 * (H * np.arange(len(way)) - 0.1)  # it has to speed up first
        assert (np.array(way) > np.minimum(start + parted, LEAST) - CURVED).all(), goal
        assert (np.array(way) < start + 0.05 * H * np.arange(len(way)) + 3 * CURVED).all(), goal
        assert min(way) > start - CURVED and way[-1] == pytest.approx(LEAST, abs=CURVED)


def test_obstacles_may_move(arm: Robot) -> None:
    mpc = diffpbd.Mpc(arm, STEPS, h=H, clearance=LEAST)
    mpc.place_obstacles(spheres=[BALL])
    assert min(map(apart, followed(arm, mpc)[0])) > LEAST - CURVED
    mpc.start()
    mpc.place_obstacles(spheres=[[5.0, 0.0, 0.0, 0.1]])
    assert min(map(apart, followed(arm, mpc)[0])) < -0.02
    mpc.place_obstacles()
    assert mpc.problem.apart is not None and mpc.problem.apart.distances(START[None]).min() > 100.0


def test_what_is_refused(arm: Robot) -> None:
    for wrong in ({"clearance": np.nan}, {"clearance": 0.1, "clearance_price": 0.0}):
        with pytest.raises(InputError, match="clearance"):
            planned(arm, **wrong)
    mpc = planned(arm, clearance=LEAST)
    mpc.problem.apart.obstacles["spheres"][0, 3] = np.nan
    assert mpc.solve(mpc.task(START, np.zeros(2), GOAL)).status is Status.BAD_INPUT


@pytest.fixture(scope="module")
def fenced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The arm whose base is the ball."""
    path = tmp_path_factory.mktemp("fenced") / "fenced.urdf"
    place = '<origin xyz="{} {} {}"/><geometry><sphere radius="{}"/></geometry>'.format(*BALL)
    text = URDF.replace('<link name="base"/>', f'<link name="base"><collision>{place}</collision></link>')
    path.write_text(text, encoding="utf-8")
    return generated(str(path), functions=("mpc",), clearance=True)


def test_the_command_keeps_what_it_is_asked_for(fenced: Path, tmp_path: Path) -> None:
    """The straight way leads through the ball: refused, and gone around with --clearance."""
    goal = ("--q0", str(START.tolist()), "--goal", str(GOAL.tolist()), "--goal-speed", "1.4", "--h", str(H))
    words = ("mpc", str(fenced), *goal, "--horizon", str(STEPS), "--out", str(tmp_path / "run.csv"))
    for more, code, text in (
        ((), 1, "straight way to the goal cannot be reached: lower and base are"),
        (("--goal", str(START.tolist()), "--clearance-hard"), 2, "expected --clearance M"),
        (("--clearance", str(LEAST), "--clearance-hard"), 0, "solved"),
    ):
        found = CliRunner().invoke(cli, [*words, *more])
        assert found.exit_code == code and text in found.output, found.output
    log = read_log(tmp_path / "run.csv")
    assert min(map(apart, log.q)) > LEAST - CURVED and abs(log.q[-1] - GOAL).max() < 0.01


def test_a_run_keeps_more_than_stops_it(fenced: Path) -> None:
    robot = load(fenced)
    for asked in (None, LEAST):
        settings = {"horizon": 5, "goal_speed": 0.5, "goal": [0.0, 0.0], "clearance": asked, "clearance_hard": True}
        numbers = MpcController(robot, robot.alpha.defaults, limits_of(robot), H, settings).mpc.problem.apart.numbers
        assert numbers[1] == 0.0 if asked is None else numbers.tolist() == [LEAST + ROOM, HARD_PRICE, 1.0]


def test_far_away_it_is_the_plan_of_one_that_does_not_ask(arm: Robot, tmp_path: Path) -> None:
    """Rows that do not act change nothing."""
    task = planned(arm).task(START, np.zeros(2), START + 0.1)
    one, other = (planned(arm, **k).solve(task) for k in ({}, {"clearance": LEAST}))
    assert abs(one.U - other.U).max() < 1e-6 * abs(one.U).max() + 1e-9 and one.clearance == np.inf > other.clearance
