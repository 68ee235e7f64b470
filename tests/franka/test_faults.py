"""The fault table on this arm: what is refused before the arm moves, and how each fault ends a run."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import franky
import numpy as np
import pytest
from support.arms.fault_rows import BRAKED, HANDED_BACK, LIBFRANKA, NOTHING, Change, Row, rows_of
from support.arms.fault_rows import FINISHED as RUNS_ON
from support.arms.faulty_franky import FaultyRobot, State
from support.arms.lone_fr3 import Lone, ticking

from diffpbd.runtime.arms.franka.connection import connect
from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.configuration import limits_of
from diffpbd.runtime.loop.stopping import Phase, Reason, StopRequest

from .conftest import LAWS, Ran, drive

WAY = LAWS["impedance"] | {"goal": [1.2, *[None] * 6], "goal_speed": 0.5}
"""Half a radian a second about the first axis, so that a fault finds the arm in motion."""
AT = 0.4  # s of the run at which a fault begins
RATE = 500.0  # Hz
LATER = 0.01
"""s at most from a run's first tick to the state in which the robot is seen to be commanded."""
FURTHER = 0.06
"""rad that the arm may go on: v·t + v²/2a of docs/safety.md at 0.5 rad/s, and the robot's own patience after a hand-back."""


@pytest.fixture
def faulty(alone: Lone) -> FaultyRobot:
    return FaultyRobot(alone.driver)


class Struck:
    """A run with a fault in its middle, at rest again before it begins."""

    def __init__(self, alone: Lone, faulty: FaultyRobot) -> None:
        self.alone, self.faulty = alone, faulty
        self.place = 0.0

    def __call__(
        self, strike: Callable[[], None], law: dict[str, Any] = WAY, *, further: float = FURTHER, duration: float = 2.0,
        **options: Any,
    ) -> Ran:  # fmt: skip
        clock = self.alone.clock
        if clock.positions and clock.positions[-1][0] > 0.6:  # the way back, or the arm comes to its limit
            law = law | {"goal": [-1.2, *law["goal"][1:]]}
        began: list[float] = []

        def before() -> None:
            if not began and self.alone.simulation.commanded:
                began.append(clock.now())
            if began and self.place == 0.0 and clock.now() - began[0] >= AT:
                self.place = clock.positions[-1][0]
                strike()

        clock.before = before
        try:
            arm = self.alone.arm(limits_of(self.alone.robot, torque_share=0.3), wrapped=self.faulty)
            ran = drive(self.alone, law, arm=arm, rate=RATE, duration=duration, **options)
        finally:
            clock.before, clock.frozen = (lambda: None), False
            self.faulty.change, self.faulty.failing = (lambda raw: raw), {}
        assert self.place != 0.0, str(ran.report)
        clock.sleep(0.6)  # a pushed arm that was let go comes to rest
        now = np.array(clock.positions[-50:])
        assert np.ptp(now, axis=0).max() < 1e-3, "the arm does not stand still afterwards"
        assert abs(now[-1][0] - self.place) < further, str(ran.report)
        return ran


@pytest.fixture
def struck(alone: Lone, faulty: FaultyRobot) -> Struck:
    return Struck(alone, faulty)


# Before anything is sent


@pytest.mark.parametrize(
    ("mode", "errors", "words"),
    [
        ("Guiding", (), "guiding mode"),
        ("UserStopped", (), "release the emergency stop"),
        ("Other", (), "activate FCI"),
        ("Move", (), "another program commands it"),
        ("Reflex", ("joint_reflex",), "joint_reflex (a joint met more torque"),
        ("Idle", ("power_limit_violation",), "power_limit_violation (more power"),
    ],
)
def test_nothing_starts_in_another_mode_or_in_error(
    alone: Lone, faulty: FaultyRobot, mode: str, errors: tuple[str, ...], words: str
) -> None:
    faulty.in_mode(mode, *errors)
    ran = drive(alone, LAWS["impedance"], arm=alone.arm(wrapped=faulty), duration=0.1)
    assert (ran.report.reason, ran.report.phase) == (Reason.REFUSED, Phase.CHECK)
    assert words in ran.report.text
    assert ran.report.ending == "" and ran.report.sent == 0 and "move" not in faulty.calls
    assert np.isnan(ran.torques).all()


def test_nothing_starts_on_an_arm_that_moves(alone: Lone, faulty: FaultyRobot) -> None:
    faulty.change = lambda raw: State(raw, dq=np.full(7, 0.06))
    ran = drive(alone, LAWS["impedance"], arm=alone.arm(wrapped=faulty), duration=0.1)
    assert ran.report.reason is Reason.REFUSED and "a run starts at rest" in ran.report.text
    assert ran.report.sent == 0
    faulty.change = lambda raw: State(raw, dq=np.full(7, 0.04))
    ran = drive(alone, LAWS["impedance"], arm=alone.arm(wrapped=faulty), duration=0.05)
    assert ran.report.reason is Reason.FINISHED


def test_the_robot_recovers_on_request(alone: Lone, faulty: FaultyRobot) -> None:
    faulty.in_mode("Reflex", "joint_velocity_violation")

    class Recovering:
        def __call__(self) -> bool:
            faulty.change = lambda raw: raw
            return True

    faulty.__dict__["recover_from_errors"] = Recovering()
    ran = drive(alone, LAWS["impedance"], arm=alone.arm(wrapped=faulty), duration=0.1, enable=True)
    assert ran.report.reason is Reason.FINISHED, str(ran.report)


@pytest.mark.parametrize("answer", [False, franky.CommandException("libfranka: error recovery command aborted")])
def test_a_failed_recovery_is_said(alone: Lone, faulty: FaultyRobot, answer: Any) -> None:
    faulty.in_mode("Reflex", "joint_velocity_violation")
    faulty.failing = {"recover_from_errors": answer}
    ran = drive(alone, LAWS["impedance"], arm=alone.arm(wrapped=faulty), duration=0.1, enable=True)
    assert ran.report.reason in (Reason.REFUSED, Reason.ROBOT) and ran.report.sent == 0
    assert "does not recover" in ran.report.text
    assert ("error recovery command aborted" in ran.report.text) == isinstance(answer, Exception)


def test_a_motion_that_the_robot_refuses(alone: Lone, faulty: FaultyRobot) -> None:
    faulty.failing = {"move": franky.CommandException("libfranka: Move command rejected: command not possible")}
    ran = drive(alone, LAWS["impedance"], arm=alone.arm(wrapped=faulty), duration=0.1)
    assert ran.report.reason is Reason.GATE and "command not possible" in ran.report.text
    assert np.isnan(ran.torques).all()


# In motion


@pytest.mark.thorough("error1", "error2", "error4")
@pytest.mark.parametrize(
    ("error", "reason", "words"),
    [
        (
            franky.ControlException('libfranka: Move command aborted: motion aborted by reflex! ["joint_velocity_violation"]'),
            Reason.ROBOT, "joint_velocity_violation (a joint was faster",
        ),
        (
            franky.ControlException('libfranka: motion aborted by reflex! ["communication_constraints_violation"]'),
            Reason.ROBOT, "too few commands arrived in time",
        ),
        (franky.NetworkException("libfranka: UDP receive: Timeout"), Reason.LOST_ROBOT, "connection to the robot is lost"),
        (RuntimeError("Net Exception"), Reason.LOST_ROBOT, "connection to the robot is lost"),
        (franky.TorqueSignalTimeoutException("no new torque for 0.051 s"), Reason.PAUSED, "no new torque"),
    ],
)  # fmt: skip
def test_what_the_driver_raises_ends_the_run(struck: Struck, error: Exception, reason: Reason, words: str) -> None:
    ran = struck(lambda: struck.faulty.failing.update(poll_motion=error))
    assert (ran.report.reason, ran.report.phase) == (reason, Phase.RUN)
    assert words in ran.report.text
    assert ran.report.ending.startswith("nothing more was sent")


class StruckFranka:
    """The rows of the fault table on this arm."""

    def __init__(self, struck: Struck) -> None:
        self._struck, self._faulty, self._alone = struck, struck.faulty, struck.alone
        self.stop = StopRequest()
        self.silent: Callable[[], None] = lambda: None

    def change(self, change: Change) -> None:
        """At every state that the driver gives; a message has copies, so a change may write into it."""

        def changed(raw: Any) -> State:
            before = {
                "names": self._alone.robot.joints, "q": np.array(raw.q), "dq": np.array(raw.dq), "effort": np.array(raw.tau_J),
                "stamp": 1e-3 * int(raw.time.to_msec()), "source": "robot",
            }  # fmt: skip
            data = change(before)
            stamp = round(1e3 * data["stamp"])
            return State(
                raw, q=data["q"], dq=data["dq"], tau_J=data["effort"], time=SimpleNamespace(to_msec=lambda: stamp)
            )

        self._faulty.change = changed

    def silence(self) -> None:
        self._alone.clock.frozen = True

    def disable(self) -> None:
        self._faulty.in_mode("UserStopped")

    def lose(self) -> None:
        self._faulty.failing.update(poll_motion=franky.NetworkException("libfranka: UDP receive: Timeout"))

    def stall(self) -> None:
        for _ in range(80):
            self._alone.clock.tick()

    def interrupt(self) -> None:
        self.stop.ask("SIGINT")

    def push(self) -> None:
        """For a while, or the arm would not stand still afterwards."""
        simulator, clock = self._alone.simulation.simulator, self._alone.clock
        robot, column = simulator.robots[0], int(simulator.model.joint("robot0_fr3_joint1").dofadr[0])
        held, end = robot._torque_control, clock.now() + 0.1

        def pushed(torques: np.ndarray) -> None:
            held(torques)
            simulator.data.qfrc_applied[column] += 40.0 if clock.now() < end else 0.0

        robot._torque_control = pushed
        self.silent = lambda: setattr(robot, "_torque_control", held)


ENDINGS = {
    HANDED_BACK: "the robot's own timeout makes it hold", BRAKED: "commands to hold the measured pose",
    NOTHING: "nothing more was sent: ", RUNS_ON: "commands to hold the measured pose",
}  # fmt: skip


@pytest.mark.thorough(
    "a position that is",
    "a speed that",
    "absurd",
    "0.3 rad",
    "9 rad",
    "speeds",
    "frozen",
    "stamps that",
    "one bad",
    "torques that",
    "emergency",
    "program sleeps",
)
@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in rows_of(LIBFRANKA)])
def test_a_row_of_the_fault_table(struck: Struck, row: Row) -> None:
    arm = StruckFranka(struck)
    try:
        runs_on = RUNS_ON in row.endings
        further = 1.0 if runs_on or row.name == "a push" else FURTHER
        ran = struck(lambda: row.strike(arm), stop=arm.stop, further=further, duration=0.6 if runs_on else 2.0)
    finally:
        arm.silent()
    row.judge(ran.report, ran.report.ticks / RATE - AT - LATER, ENDINGS)
    assert ran.largest_step <= 1.0 + 1e-9  # N·m a millisecond


def test_a_loop_that_sleeps_too_long_is_stopped_by_the_driver(struck: Struck) -> None:
    """The real driver, and its real patience of 0.05 s."""
    clock = struck.alone.clock

    def strike() -> None:
        for _ in range(80):
            clock.tick()

    ran = struck(strike)
    assert ran.report.reason is Reason.PAUSED
    assert "no new torque" in ran.report.text and "0.05" in ran.report.text


def test_a_short_sleep_of_the_loop_is_nothing(alone: Lone) -> None:
    clock, seen = alone.clock, []

    def before() -> None:
        if alone.simulation.commanded and not seen:
            seen.append(True)
            for _ in range(30):
                clock.tick()

    clock.before = before
    try:
        ran = drive(alone, LAWS["impedance"], duration=0.3)
    finally:
        clock.before = lambda: None
    assert ran.report.reason is Reason.FINISHED and seen


# What the arm itself refuses


def test_gravity_has_one_owner(alone: Lone) -> None:
    with pytest.raises(RefusedError, match="always compensates gravity itself"):
        alone.arm().suppress()


def test_a_pose_elsewhere_is_not_commanded(alone: Lone) -> None:
    arm = alone.arm()
    arm.open(100.0)
    try:
        alone.clock.sleep(0.01)
        here = arm.state.q
        arm.transmit(Mode.POSITION, here + 0.019)
        with pytest.raises(RefusedError, match=r"within 0.02 rad"):
            arm.transmit(Mode.POSITION, here + [0.0, 0.021, 0.0, 0.0, 0.0, 0.0, 0.0])
    finally:
        arm.close()


# The connection


def test_connecting_leaves_the_scheduler_alone(alone: Lone) -> None:
    """The driver's constructor takes the highest real-time priority for its thread."""
    assert {os.sched_getscheduler(int(thread)) for thread in os.listdir("/proc/self/task")} <= {
        os.SCHED_OTHER,
        os.SCHED_IDLE,
    }


def test_a_robot_that_another_program_holds(alone: Lone) -> None:
    with ticking(alone.simulation), pytest.raises(RefusedError, match="another program holds it"):
        connect(alone.simulation.host, wait=0.3)


def test_nobody_answers() -> None:
    with pytest.raises(RefusedError, match=r"The robot at 127.200.0.1 cannot be used: .*FCI"):
        connect("127.200.0.1")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (franky.IncompatibleVersionException("libfranka: library version 10, server version 9"), "another version"),
        (franky.RealtimeException("libfranka: unable to set realtime scheduling"), "may not ask for real time"),
    ],
)
def test_why_there_is_no_connection(monkeypatch: pytest.MonkeyPatch, error: Exception, words: str) -> None:
    def refuse(*words: Any, **named: Any) -> None:
        raise error

    monkeypatch.setattr(franky, "Robot", refuse)
    with pytest.raises(RefusedError, match=words):
        connect("127.0.0.1")
