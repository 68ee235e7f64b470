"""Every law on the simulated robot: it holds, moves and stops, and no torque leaps."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from support.arms.lone_fr3 import Lone

from diffpbd.runtime import Robot
from diffpbd.runtime.arms.franka.arm import STATES_TOPIC
from diffpbd.runtime.arms.franka.driver import MAX_STEP
from diffpbd.runtime.arms.franka.simulator import READY_POSE
from diffpbd.runtime.loop.replay import replay
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.records.bag import read_bag

from .conftest import LAWS, drive

ROUNDING = 1e-5  # N·m; the protocol has torques in single precision in some places
STILL = 0.02  # rad


def good(ran: object) -> None:
    report = ran.report
    assert report.reason is Reason.FINISHED, str(report)
    assert "commands to hold the measured pose" in report.ending
    assert ran.largest_step <= MAX_STEP + ROUNDING


@pytest.mark.thorough("hold", "gravity", "cartesian")
@pytest.mark.parametrize("name", list(LAWS))
def test_a_law_holds_the_arm_and_stops(alone: Lone, name: str) -> None:
    start = alone.clock.positions[-1] if alone.clock.positions else np.array(READY_POSE)
    ran = drive(alone, LAWS[name], duration=0.4, rate=250.0 if name == "mpc" else 1000.0)
    good(ran)
    assert np.abs(np.array(ran.q) - start).max() < STILL
    assert np.isnan(ran.torques).all() == (name == "hold")  # a robot without a motion holds by itself
    after = len(alone.clock.positions)
    alone.clock.sleep(0.1)
    assert np.abs(np.diff(alone.clock.positions[after:], axis=0)).max() < 1e-4


@pytest.mark.thorough
def test_a_law_moves_to_its_goal(alone: Lone, tmp_path: Path, fr3: Robot) -> None:
    start = alone.clock.positions[-1] if alone.clock.positions else np.array(READY_POSE)
    goal = start + np.array([0.15, 0.1, -0.1, 0.1, 0.15, -0.1, 0.2])
    log = tmp_path / "run.bag"
    ran = drive(alone, LAWS["impedance"] | {"goal": goal.tolist()}, duration=1.2, rate=250.0, share=0.5, log=log)
    good(ran)
    assert np.abs(ran.q[-1] - goal).max() < 0.03
    result = replay(log, fr3)
    assert result.ticks == ran.report.ticks > 250
    assert result.difference == ""
    states = [message for message in read_bag(log, []) if message.topic == STATES_TOPIC]
    assert len(states) > ran.report.ticks  # those of the hold phase too


@pytest.mark.thorough
def test_the_tip_is_led_by_the_cartesian_law(alone: Lone, fr3: Robot) -> None:
    start = alone.clock.positions[-1] if alone.clock.positions else np.array(READY_POSE)
    ran = drive(alone, LAWS["cartesian"] | {"offset": [0.03, -0.04, 0.02]}, duration=1.2, rate=500.0)
    good(ran)
    moved = fr3.tip_pose(ran.q[-1]).position - fr3.tip_pose(start).position
    np.testing.assert_allclose(moved, [0.03, -0.04, 0.02], atol=0.015)


def circle(robot: Robot, q: np.ndarray, radius: float, period: float, h: float = 0.01) -> dict[str, list]:
    """A tip's circle in the horizontal plane with a constant hand, from rest to rest, as joint angles."""
    time = np.arange(0.0, period + h / 2, h)
    s = time / period
    phase = 2 * np.pi * s**3 * (10 - 15 * s + 6 * s**2)
    begin = robot.tip_pose(q)
    way = radius * np.column_stack([np.cos(phase) - 1.0, np.sin(phase), np.zeros_like(phase)])
    rows = [q]
    for place in begin.position + way[1:]:
        x = rows[-1]
        for _ in range(3):
            now = robot.tip_pose(x)
            turn = begin.rotation @ now.rotation.T
            spin = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
            x = x + np.linalg.pinv(robot.tip_jacobian(x)) @ np.concatenate([place - now.position, spin])
        rows.append(x)
    angles = np.array(rows)
    return {"time": time.tolist(), "q": angles.tolist(), "dq": np.gradient(angles, time, axis=0).tolist()}


@pytest.mark.thorough
def test_predictive_control_keeps_to_a_circle(alone: Lone, fr3: Robot, tmp_path: Path) -> None:
    """Three millimetres, with an observer that knows neither the motors' inertia nor the joints' friction."""
    start = alone.clock.positions[-1] if alone.clock.positions else np.array(READY_POSE)
    way = circle(fr3, start, 0.1, 3.0)
    law = LAWS["mpc"] | {"goal": None, "reference": way, "reach": 0.2}
    log = tmp_path / "run.csv"
    ran = drive(alone, law, duration=3.3, rate=250.0, share=0.5, log=log)
    good(ran)
    assert replay(log, fr3).difference == ""
    expected = ran.supervisor.controller.expected
    apart = [
        np.linalg.norm(fr3.tip_pose(q).position - fr3.tip_pose(expected(time)).position)
        for time, q in zip(ran.times, ran.q, strict=True)
    ]
    travelled = np.ptp([fr3.tip_pose(q).position[:2] for q in ran.q], axis=0)
    assert travelled.min() > 0.19
    assert max(apart) <= 3e-3


def test_a_machine_that_stands_still_ends_no_run(alone: Lone) -> None:
    """Longer than libfranka's patience, at rest and in motion: no time passes for the robot, and no test hangs on a clock."""
    clock, stalls = alone.clock, []

    def before() -> None:
        if len(stalls) < (1 if not alone.simulation.commanded else 2):
            stalls.append(clock.now())
            time.sleep(1.2)

    clock.before = before
    try:
        ran = drive(alone, LAWS["impedance"], duration=0.2)
    finally:
        clock.before = lambda: None
    good(ran)
    assert len(stalls) == 2 and np.isfinite(ran.torques).any()
