"""Sensors and delays of the reality bench, each alone and both sides of its figure; and that a seed is a seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")

from support.reality import KINDS, Differences, RealArm
from support.reality.arm import STEP
from support.reality.bench import BenchReal
from support.reality.single import bar

from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.model.limits import Limits


def one(tmp_path: Path, period: float = STEP, **differences: float) -> RealArm:
    """The bar about a vertical axis, without friction: it moves as it is driven."""
    arm = RealArm(bar(tmp_path), Differences(friction=0.0, **differences), period=period)
    arm.place([0.0])
    return arm


def test_a_state_comes_late_with_the_stamp_of_its_measurement(tmp_path: Path) -> None:
    arm = one(tmp_path, state_delay=0.015, period=0.005)
    arm.gears.dq[:] = arm.gears.dtheta[:] = 1.0
    for k in range(1, 101):
        arm.apply(np.zeros(1), STEP)
        stamp, q, dq, _ = arm.state()
        age = arm.time - stamp
        assert q[0] == pytest.approx(stamp, abs=1e-9), "it shows where the arm was"
        assert dq[0] == pytest.approx(1.0 if stamp > 0.0 else 0.0)
        if k >= 20:
            assert 0.015 - 1e-9 <= age < 0.02 - 1e-9


def test_jitter_is_of_arrivals_and_of_stamps(tmp_path: Path) -> None:
    arm, ages, stamps = one(tmp_path, jitter=2e-3, period=0.01), [], []
    before = arm.state()
    for _ in range(2000):
        arm.apply(np.zeros(1), STEP)
        state = arm.state()
        if state is not before:
            ages.append(arm.time - 0.01 * round(state.stamp / 0.01))
            stamps.append(state.stamp - 0.01 * round(state.stamp / 0.01))
            before = state
    assert 0.0 <= min(ages) and 1e-3 < max(ages) <= 3e-3 + 1e-9
    assert 0.5e-3 < np.max(np.abs(stamps)) <= 1e-3


def test_a_command_acts_late(tmp_path: Path) -> None:
    arm = one(tmp_path, command_delay=0.012)
    speeds = []
    for _ in range(20):
        arm.apply(np.ones(1), STEP)
        speeds.append(arm.dq[0])
    assert max(np.abs(speeds[:12])) == 0.0 < speeds[12]


def test_encoder_zero_gain_and_effort(tmp_path: Path) -> None:
    arm = one(tmp_path, encoder=1e-2, zero=0.102, gain=1.1)
    arm.place([0.5])
    assert arm.state().q[0] == pytest.approx(0.60)
    free, weak = one(tmp_path), one(tmp_path, gain=0.9)
    for each in (arm, free, weak):
        each.apply(np.full(1, 2.0), 0.01)
    assert arm.dq[0] == pytest.approx(1.1 * free.dq[0]) and weak.dq[0] == pytest.approx(0.9 * free.dq[0])
    assert [each.state().effort[0] for each in (arm, free, weak)] == [2.0, 2.0, 2.0], "a current says what was told"
    arm.apply(np.full(1, 1e3), 0.01)
    assert arm.state().effort[0] == arm.effort[0] == 100.0


def test_speeds_are_filtered_and_noisy(tmp_path: Path) -> None:
    arm = one(tmp_path, filter=0.01)
    arm.gears.dq[:] = arm.gears.dtheta[:] = 1.0
    arm.apply(np.zeros(1), 0.01)
    assert arm.state().dq[0] == pytest.approx(1.0 - np.exp(-1.0), abs=0.03)
    arm, shown = one(tmp_path, noise=0.1), []
    for _ in range(500):
        arm.apply(np.zeros(1), STEP)
        shown.append(arm.state().dq[0])
    assert np.std(shown) == pytest.approx(0.1, rel=0.2)


def test_ripple_comes_and_goes_with_the_angle(tmp_path: Path) -> None:
    arm, even = one(tmp_path, ripple=0.03), one(tmp_path)
    pulls = []
    for _ in range(400):
        before = arm.dq[0], even.dq[0]
        for each in (arm, even):
            each.apply(np.full(1, 1.0), STEP)
        pulls.append((arm.dq[0] - before[0]) / (even.dq[0] - before[1]))
    assert max(pulls) == pytest.approx(1.03, abs=2e-3) and min(pulls) == pytest.approx(0.97, abs=2e-3)


@pytest.mark.parametrize("sensor", ["motor", "link"])
def test_an_elastic_gear_parts_what_is_measured(tmp_path: Path, sensor: str) -> None:
    arm = RealArm(bar(tmp_path, "0 -1 0"), Differences(friction=0.0, stiffness=1e3, sensor=sensor))
    arm.place([0.0])
    bent = 2.0 * 9.81 * 0.3 / 1e3
    assert arm.state().q[0] == pytest.approx(bent if sensor == "motor" else 0.0, abs=1e-9)


def test_a_seed_is_a_seed_and_everything_is_drawn_within_its_range() -> None:
    assert Differences.drawn(4) == Differences.drawn(4) != Differences.drawn(5)
    drawn = [Differences.drawn(seed) for seed in range(300)]
    friction, rotor = (np.array([getattr(one, name) for one in drawn]) for name in ("friction", "rotor"))
    assert 0.3 <= friction.min() < 0.33 and 2.7 < friction.max() <= 3.0
    assert 0.0 <= rotor.min() < 0.01 and 0.29 < rotor.max() <= 0.3
    assert 0.019 < max(one.state_delay for one in drawn) <= 0.02 and 1.9 < max(one.load for one in drawn) <= 2.0
    assert 0.5 < np.mean([one.stiffness is not None for one in drawn]) < 0.9
    assert Differences.drawn(4, load=0.0).load == 0.0
    torque, courses = np.full(6, 0.5), []
    for _ in range(2):
        arm = RealArm("ur5e", Differences.drawn(4))
        for _ in range(50):
            arm.apply(torque, STEP)
        courses.append((arm.q, arm.state().q))
    np.testing.assert_array_equal(courses[0], courses[1])


@pytest.mark.parametrize("name", sorted(KINDS), ids=lambda name: f"an_{name}")
@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_its_own_servo_holds_the_arm(name: str, seed: int | None) -> None:
    """Where a run begins and ends: within 0.05 rad/s, near its place, whatever the arm is; disabled, it sinks."""
    differences = Differences() if seed is None else Differences.drawn(seed)
    kind = KINDS[name]
    most = np.full(len(kind.ready), 9.0)
    limits = Limits(-most, most, most, most, most, most, 0.1)
    arm = BenchReal(name, limits, kind.ready, differences, rate=250.0)
    arm.advance(1.0)
    assert arm.robot.mode == int(Mode.POSITION)
    assert np.abs(arm.dq).max() < 1e-2 and np.abs(np.array(arm.q) - kind.ready).max() < 5e-3
    arm.real.gears.dq[:] = arm.real.gears.dtheta[:] = 0.5
    arm.real._viscous[:] = arm.real.gears.coulomb[:] = arm.real.gears.breakaway[:] = 0.0
    arm.advance(1.0)
    assert np.abs(arm.real.gears.dtheta).max() < 0.05, "it damps by itself"
    arm.robot.stop()
    arm.advance(0.5)
    assert np.abs(np.array(arm.q) - kind.ready).max() > 0.01
