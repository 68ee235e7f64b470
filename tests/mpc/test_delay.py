"""A delay that nobody told, on the reality bench: it is found before the arm shakes, and what is told instead settles it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.robots import loaded

pytest.importorskip("mujoco")

from support.planning.planned import Course, H, follow, model_of, planner, real
from support.reality import BenchReal, Differences

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.mpc.astray import TICKS, Astray
from diffpbd.runtime.mpc.delay import DelayWatch
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Status
from diffpbd.runtime.mpc.sent_torques import SentTorques

START = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0])
GOAL = START + [0.3, 0.2, -0.2, 0.2, 0.3, -0.2, 0.4]
NOISY = {"friction": 1.5, "load": 1.0, "encoder": 3.8e-4, "noise": 4e-3, "filter": 5e-3}


def went(told: int, true: int, seconds: float = 1.0, **differences: Any) -> tuple[Course, Mpc]:
    robot = loaded("baxter_bare")
    mpc = planner(robot, model_of(robot, "baxter"), delay=told)
    return follow(mpc, real("baxter", command_delay=true * H, **differences), START, GOAL, seconds), mpc


@pytest.mark.parametrize("told, true", [(0, 1), (0, 2), (2, 1)])
def test_a_delay_that_was_not_told_is_found_and_compensated(told: int, true: int) -> None:
    course, mpc = went(told, true)
    assert mpc.delay == true and mpc.remark is not None and mpc.remark.endswith(f"delay {true}")
    right, known = went(true, true)  # the remedy
    assert known.remark is None
    speed = mpc.problem.robot.limits.speed[:6]  # the last joint's friction alone takes it to its limit, told or not
    assert (course.fastest[:6] < 0.6 * speed).all()
    np.testing.assert_allclose(course.q[-1, :6], right.q[-1, :6], atol=0.02)
    assert course.statuses == {Status.SOLVED: 100}


@pytest.mark.parametrize("delay", [0, 1])
@pytest.mark.parametrize(
    "differences", [{}, {"friction": 0.5, "load": 1.0}, NOISY], ids=["as modelled", "loaded", "noisy"]
)
def test_a_delay_that_was_told_is_not_doubted(delay: int, differences: dict[str, float]) -> None:
    course, mpc = went(delay, delay, 1.5, **differences)
    assert mpc.remark is None and mpc.delay == delay
    assert Status.ASTRAY not in course.statuses


def test_at_rest_noise_says_nothing_about_the_delay() -> None:
    """With the wrong delay: there is nothing to compare yet."""
    robot, random = loaded("baxter_bare"), np.random.default_rng(0)
    hold = robot.gravity(START)
    watch, sent = DelayWatch(robot, robot.alpha.defaults, H, 0), SentTorques(hold, H)
    for k in range(90):
        assert watch.update(k * H, START, 1e-3 * random.normal(size=7), sent, None) is None
        sent.remember(k * H, hold + 1e-3 * robot.limits.effort * random.normal(size=7))


def test_far_from_the_plan_is_a_speed_limit_for_five_ticks() -> None:
    """On both sides of the threshold; a single kick is none."""
    limit = np.array([1.5, 4.0])
    for share, far in ((0.95, False), (1.05, True)):
        astray = Astray(limit, H)
        seen = []
        for k in range(TICKS + 2):
            astray.plan(k * H, np.array([0.2, 0.0]))
            seen.append(astray.measure(k * H, np.array([0.2, share * (-1) ** k * limit[1]])))
        assert seen == [False] * (TICKS - 1) + [far] * 3
    rested = [astray.measure((TICKS + 2 + k) * H, np.zeros(2)) for k in range(60)]
    assert rested[:46] == [True] * 46 and not any(rested[52:])  # held for half a second, then plans count again
    kicked = Astray(limit, H)
    for k in range(20):
        kicked.plan(k * H, np.zeros(2))
        assert not kicked.measure(k * H, np.array([4.0 * limit[0] if k == 10 else 0.0, 0.0]))


def test_noise_beside_a_low_speed_limit_is_no_other_motion() -> None:
    """Limits below 0.5 count as that; on both sides."""
    for noise, far in ((0.45, False), (0.55, True)):
        astray = Astray(np.array([0.002]), H)
        seen = []
        for k in range(2 * TICKS):
            astray.plan(k * H, np.zeros(1))
            seen.append(astray.measure(k * H, np.array([noise * (-1) ** k])))
        assert seen[-1] is far


def test_a_clock_that_goes_back_begins_anew() -> None:
    astray = Astray(np.ones(1), H)
    for k in range(TICKS):
        astray.plan(100.0 + k * H, np.zeros(1))
        far = astray.measure(100.0 + k * H, np.array([2.0]))
    assert far and not any(astray.measure(k * H, np.zeros(1)) for k in range(20))


@pytest.mark.parametrize("seed", [8, 36])
def test_the_observer_of_stamped_states_knows_the_delay(seed: int) -> None:
    """A torque that is known to act two ticks late is no disturbance while it waits: with and without stamps alike."""
    robot = loaded("baxter_bare")
    peaks = [_fastest(robot, seed, stamped) for stamped in (False, True)]
    assert peaks[1] < 1.2 * peaks[0] + 0.1, peaks


def _fastest(robot: Any, seed: int, stamped: bool) -> float:
    """The largest share of a speed limit [1] on the way to a goal, on the model without friction of the joints, delay 2."""
    rng = np.random.default_rng(seed)
    alpha = robot.alpha.defaults
    mpc = planner(robot, alpha, delay=2, disturbance=0.02)
    p, pd, goal = START.copy(), np.zeros(7), START + 0.3 * rng.uniform(-1.0, 1.0, 7)
    mpc.start(robot.gravity(p))
    waiting, worst = [robot.gravity(p)] * 2, 0.0
    for k in range(100):
        torque = mpc.tick(k * H, p, pd, goal, stamp=k * H if stamped else None).torque
        waiting.append(torque)
        p, pd = robot.joint_step(p, pd, waiting.pop(0), H, alpha)
        worst = max(worst, float(np.abs(pd / robot.limits.speed).max()))
    return worst


def test_plans_about_another_arm_are_not_followed() -> None:
    """A motor that turns the other way: the plan is dropped, with a status of its own, and the torque is the damped hold's."""
    robot = loaded("baxter_bare")
    mpc = planner(robot, model_of(robot, "baxter"), delay=0, disturbance=None, transition=0.0)
    p, pd = START.copy(), np.zeros(7)
    mpc.start(robot.gravity(p))
    statuses = []
    wrong = np.array([1.0, 1, 1, 1, 1, -1, 1])
    for k in range(40):
        tick = mpc.tick(k * H, p, pd, GOAL)
        statuses.append(tick.status)
        assert np.isfinite(tick.torque).all()
        hold = robot.gravity(p)
        if tick.status is Status.ASTRAY:
            break
        p, pd = robot.joint_step(p, pd, hold + wrong * (tick.torque - hold), H)
    assert statuses[-1] is Status.ASTRAY and set(statuses[:-1]) <= {Status.SOLVED, Status.LIMITED, Status.NOT_SOLVED}
    assert tick.plan is None


def test_a_run_finds_it_in_its_first_second() -> None:
    """Through the loop, with states that are 7 ms old and commands that take 1 ms: two ticks with the one not told."""
    robot = loaded("baxter_bare")
    law = {
        "name": "mpc", "horizon": 10, "goal": [*GOAL[:6], None], "goal_speed": 0.4, "reference": None, "delay": 0,
        "weights": {"p": 1.0, "pd": 0.02, "du": 1e-6},
    }  # fmt: skip
    said = {}
    for late in (0.0, H):
        configuration = Configuration(
            robot.name, robot.manifest.abi_hash, robot.joints, law, GravityOwner.MODEL, model_of(robot, "baxter"),
            limits_of(robot), Settings(H, ramp=0.2),
        )  # fmt: skip
        arm = BenchReal(
            "baxter", configuration.limits, START, Differences(command_delay=late, state_delay=2e-3), rate=100.0
        )
        supervisor = configuration.supervisor(robot)
        report = Run(arm, supervisor, RunOptions(duration=1.0)).execute()
        print(late, report, supervisor.controller.remark())
        said[late] = supervisor.controller.remark()
    assert said[0.0] is None and said[H] is not None and "delay 2" in said[H]
