"""The driver's states and answers as the arm takes them: ages, troubles and ends, without a robot."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import franky
import numpy as np
import pytest
from support.arms.faulty_franky import Errors

from diffpbd.runtime import Robot
from diffpbd.runtime.arms.franka.arm import FrankaArm
from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.configuration import limits_of
from diffpbd.runtime.loop.stopping import Reason


class Clock:
    time = 50.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


class Silent:
    """A driver whose next state and answers the test sets."""

    def __init__(self) -> None:
        self.stamp, self.mode, self.errors, self.tau = 7000, "Move", Errors(), np.zeros(7)
        self.over: Any = False
        self.reads = self.stops = 0
        self.raising: Exception | None = None

    @property
    def state(self) -> Any:
        self.reads += 1
        if self.raising is not None:
            raise self.raising
        stamp = SimpleNamespace(to_msec=lambda: self.stamp)
        return SimpleNamespace(
            time=stamp, robot_mode=SimpleNamespace(name=self.mode), current_errors=self.errors, q=np.zeros(7), dq=np.zeros(7),
            tau_J=self.tau,
        )  # fmt: skip

    def move(self, motion: Any, **options: Any) -> None:
        pass

    def stop(self) -> None:
        self.stops += 1

    def poll_motion(self) -> bool:
        if isinstance(self.over, Exception):
            raise self.over
        return bool(self.over)


@pytest.fixture
def moving(fr3: Robot) -> tuple[FrankaArm, Silent, Clock]:
    """An arm in the middle of a motion; the reading thread is not started."""
    robot, clock = Silent(), Clock()
    arm = FrankaArm(robot, "nowhere", fr3.joints, limits_of(fr3), clock=clock)
    arm.transmit(Mode.TORQUE, np.zeros(7))
    assert arm.state is not None
    return arm, robot, clock


def later(robot: Silent, clock: Clock, ours: float, its: float) -> None:
    clock.time += ours
    robot.stamp += round(1e3 * its)


def test_a_state_that_lay_there_while_we_slept_is_old(moving: tuple[FrankaArm, Silent, Clock]) -> None:
    arm, robot, clock = moving
    later(robot, clock, 0.060, 0.010)  # one state came 10 ms after the last, none since: both clocks say so
    assert arm.state.age(clock.now()) == pytest.approx(0.050, abs=1e-9)
    later(robot, clock, 0.001, 0.051)  # and now the newest there is
    assert arm.state.age(clock.now()) == pytest.approx(0.0, abs=1e-9)


def test_a_slow_clock_of_the_robot_adds_nothing_up(moving: tuple[FrankaArm, Silent, Clock]) -> None:
    arm, robot, clock = moving
    for _ in range(2000):
        later(robot, clock, 1.25e-3, 1e-3)
        assert arm.state.age(clock.now()) <= 1.25e-3
    stamp = arm.state.stamp
    clock.time += 0.2
    assert (arm.state.stamp, arm.state.age(clock.now())) == (stamp, pytest.approx(0.2, abs=2e-3))


def test_an_older_stamp_is_no_state(moving: tuple[FrankaArm, Silent, Clock]) -> None:
    arm, robot, clock = moving
    later(robot, clock, 0.001, -0.004)
    assert arm.state.stamp == 7.0
    assert arm.rejected == {"stamp not newer than the last one": 1}
    assert "the stamps of the joint states went back by 0.004 s" in arm.trouble()


def test_two_readers_that_meet_out_of_order_are_no_clock_that_went_back(
    moving: tuple[FrankaArm, Silent, Clock],
) -> None:
    arm, robot, clock = moving
    its_own = robot.state
    later(robot, clock, 0.002, 0.002)
    assert arm.state.stamp == 7.002
    arm._note(its_own, waited=True)  # the other thread's, which it had before
    assert "went back" not in arm.trouble() and arm.state.stamp == 7.002


def test_torques_that_are_no_numbers_are_none(moving: tuple[FrankaArm, Silent, Clock]) -> None:
    arm, robot, clock = moving
    robot.tau = np.full(7, np.nan)
    later(robot, clock, 0.001, 0.001)
    assert arm.state.effort is None
    robot.tau = np.arange(7.0)
    later(robot, clock, 0.001, 0.001)
    np.testing.assert_array_equal(arm.state.effort, np.arange(7.0))


def test_a_short_trouble_is_remembered(moving: tuple[FrankaArm, Silent, Clock]) -> None:
    arm, robot, clock = moving
    assert arm.trouble() == ""
    robot.mode = "UserStopped"
    later(robot, clock, 0.001, 0.001)
    assert arm.state is not None
    robot.mode = "Move"
    later(robot, clock, 0.001, 0.001)
    assert arm.state is not None and arm.unable() == ""
    assert "emergency stop" in arm.trouble()
    arm.forget_trouble()
    assert arm.trouble() == ""


def test_a_motion_that_ends_by_itself(moving: tuple[FrankaArm, Silent, Clock]) -> None:
    arm, robot, _ = moving
    assert arm.fault() is None
    robot.over = True
    fault = arm.fault()
    assert fault is not None and fault.reason is Reason.ROBOT and "without a reason" in fault.text
    with pytest.raises(RefusedError, match="without a reason"):
        arm.transmit(Mode.TORQUE, np.zeros(7))


def test_a_motion_that_was_ended_ends(moving: tuple[FrankaArm, Silent, Clock]) -> None:
    arm, robot, _ = moving
    arm.transmit(Mode.POSITION, np.zeros(7))
    with pytest.raises(RefusedError, match="was ended"):
        arm.transmit(Mode.TORQUE, np.zeros(7))
    robot.over = True
    assert arm.fault() is None
    arm.transmit(Mode.TORQUE, np.zeros(7))  # a new one


def test_a_connection_that_is_lost_is_asked_nothing_more(moving: tuple[FrankaArm, Silent, Clock]) -> None:
    arm, robot, _ = moving
    robot.raising = franky.NetworkException("libfranka: UDP receive: Timeout")
    assert arm.state.stamp == 7.0
    reads = robot.reads
    assert arm.fault().reason is Reason.LOST_ROBOT
    assert arm._driver.read() is None and robot.reads == reads
    arm.open(1000.0)  # the thread ends by itself
    arm._reader.join(30.0)
    assert not arm._reader.is_alive() and robot.reads == reads


def test_a_hand_back_halts_and_a_closed_arm_too(moving: tuple[FrankaArm, Silent, Clock]) -> None:
    arm, robot, _ = moving
    arm.set_timeout(0.2)
    arm.set_timeout(None)
    assert robot.stops == 0
    arm.set_timeout(0.02)
    assert robot.stops == 1
    arm.transmit(Mode.TORQUE, np.zeros(7))
    arm.close()
    assert robot.stops == 2
