"""Runs of the generated arm on seven joints, in lock-step: laws reach their goals and replay, the hand is carried, the observer
of disturbances keeps the wrist calm, slow faults of sensors are seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.arms.bench import Bench
from support.arms.bench_runs import stopped_after
from support.shared.slow_faults import biased, crept, scaled, slowly

from diffpbd.runtime.commands.options.laws import configured
from diffpbd.runtime.commands.options.mending import FollowWords
from diffpbd.runtime.commands.run import command
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.replay import read_run, replay
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.mpc.disturbance import TIME_CONSTANT

pytest.importorskip("pinocchio")

from support.reality import Differences
from support.reality.baxter_runs import PLANTS, REST, check_account, executed, loaded, run_of

TIP = ("--controller", "cartesian", "--tip-offset", "[0, 0, 0.05]", "--goal-speed", "0.1")
MPC = {
    "name": "mpc", "horizon": 15, "goal": [REST[0] + 0.15, *[None] * 6], "goal_speed": 0.4, "reference": None, "delay": 1,
    "weights": {"p": 1.0, "pd": 0.02, "du": 1e-6},
}  # fmt: skip


@pytest.mark.thorough("seed 1")
@PLANTS
def test_the_tip_moves_and_the_log_replays_bit_for_bit(tmp_path: Path, differences: Differences | None) -> None:
    """The cartesian law of the command line."""
    robot, log = loaded("baxter_bare"), tmp_path / "run.bag"
    law = configured(robot, command.make_context("run", [str(robot.folder), *TIP]).params, FollowWords()).controller
    run, arm, recorder = run_of(law, 250.0, 2.5, log=log, differences=differences)
    report = executed(run, recorder)
    assert report.reason is Reason.FINISHED, report
    check_account(arm)
    ticks = list(read_run(log)[1])
    first, last = (robot.tip_pose(np.array(ticks[k].position)).position for k in (0, -1))
    # Friction may hold the tip short of its goal: 0.8 N·m at the shoulder, some 0.7 m away, over 200 N/m.
    np.testing.assert_allclose(last - first, [0.0, 0.0, 0.05], atol=0.015)
    assert replay(log, robot).difference == ""


@pytest.mark.thorough("seed 1")
@PLANTS
@pytest.mark.parametrize(("owner", "disturbance"), [(GravityOwner.ROBOT, None), (GravityOwner.MODEL, 0.02)])
def test_a_plan_leads_the_arm_to_its_goal_and_replays(
    tmp_path: Path, owner: GravityOwner, disturbance: float | None, differences: Differences | None
) -> None:
    log = tmp_path / "mpc.csv"
    law = {**MPC, "disturbance": disturbance}
    run, arm, recorder = run_of(law, 100.0, 1.2, owner=owner, log=log, differences=differences)
    report = executed(run, recorder)
    assert report.reason is Reason.FINISHED, report
    assert report.counts[TickStatus.CONTROLLER_FAILED] == 0
    check_account(arm)
    moved = [tick.position[0] for tick in read_run(log)[1] if tick.mode]
    assert abs(moved[-1] - moved[0] - 0.15) < 0.03, (moved[0], moved[-1])
    assert replay(log, loaded("baxter_bare")).difference == ""


def test_the_hand_is_carried() -> None:
    """The generated `baxter`, against an arm of the same description."""
    gravity = {"name": "gravity", "damping": [1.0, 1.0, 0.5, 0.5, 0.1, 0.1, 0.1]}
    run, arm, _ = run_of(gravity, 250.0, 0.8, name="baxter")
    report = executed(run)
    check_account(arm)
    assert report.reason is Reason.FINISHED and report.sent > 100
    assert max(abs(a - b) for a, b in zip(arm.q, REST, strict=True)) < 0.02


@pytest.mark.thorough("9 ms", "2 ms", "8 ms")
@pytest.mark.parametrize(
    "phase, jitter",
    [(0.0, 1e-3), (3e-3, 1e-3), (6e-3, 1e-3), (9e-3, 1e-3), (0.0, 1e-2)],
    ids=["8 ms old", "5 ms", "2 ms", "9 ms", "8 to 18 ms"],
)
def test_the_wrist_stays_calm_whenever_states_come(phase: float, jitter: float) -> None:
    """The observer of disturbances with states at any phase of the tick, and friction that no model knows: half a torque change
    in the wrong interval, or a wrist's friction balanced too late, once turned the wrist at twice its speed limit."""
    law = {**MPC, "horizon": 6, "disturbance": TIME_CONSTANT}
    run, arm, _ = run_of(law, 100.0, 1.2, bench=Bench(jitter=jitter))
    arm.shift(phase)
    report = executed(run)
    assert report.reason is Reason.FINISHED and all(status.good for status in report.counts), report
    assert arm.robot.account["fastest"] < 0.5  # 0.41 is s0 on its way
    assert abs(arm.q[0] - REST[0] - 0.15) < 0.03


def slow_fault(fault: Callable[[dict, float], dict], duration: float) -> tuple:
    """Report, arm, and how far it was carried [rad] until the law ended; the arm under springs."""
    law = {
        "name": "impedance", "stiffness": [120.0, 120.0, 80.0, 80.0, 20.0, 20.0, 5.0], "goal_speed": 0.3,
        "damping": [12.0, 12.0, 6.0, 6.0, 1.0, 1.0, 0.2], "goal": [None] * 7, "net_torque": None,
    }  # fmt: skip
    run, arm, _ = run_of(law, 100.0, duration, bench=Bench(jitter=1e-3))
    arm.after(0.5, lambda: (arm.mark(), slowly(fault)(arm)))
    report = executed(run)
    until = max(round((arm.last_law - arm.marked[0]) / 1e-3), 1)
    return report, arm, np.abs(np.array(arm.trace[:until]) - arm.marked[1]).max()


@pytest.mark.parametrize(
    "joint, fault, latest, way",
    [
        ("s0", crept(0, 0.1), 0.5, 0.04), ("e1", crept(3, -0.1), 0.5, 0.04), ("w2", crept(6, 0.1), 0.5, 0.05),
        ("s1", biased(1, 0.2), 0.3, 0.06), ("w1", biased(5, -0.2), 0.3, 0.05), ("e1", scaled(3, 1.1, 5.0), 3.0, 0.05),
    ],
)  # fmt: skip
def test_a_slow_fault_is_motion(joint: str, fault: Callable[[dict, float], dict], latest: float, way: float) -> None:
    report, arm, _ = slow_fault(fault, 6.0)
    assert report.reflex is Reflex.MOTION and f"left_{joint} moved" in report.text, report
    assert stopped_after(arm) <= latest
    assert np.abs(np.array(arm.trace) - arm.marked[1]).max() <= way


def test_position_and_speed_that_are_wrong_alike_are_seen_by_what_they_load() -> None:
    report, arm, carried = slow_fault(lambda data, t: biased(2, -0.1)(crept(2, -0.1)(data, t), t), 9.0)
    assert report.reflex is Reflex.CONTACT and "left_e0 was loaded" in report.text and stopped_after(arm) < 8.0
    assert carried < 0.8
