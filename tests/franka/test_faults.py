"""The fault table on this arm: what is refused before the arm moves, and how each fault ends a run."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import franky
import numpy as np
import pytest
from support.faulty_franky import FaultyRobot, State
from support.lone_fr3 import Lone, ticking

from diffpbd.runtime.arms.franka.connection import connect
from diffpbd.runtime.controller import Mode
from diffpbd.runtime.loop.configuration import limits_of
from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.stopping import Phase, Reason
from diffpbd.runtime.ros1.errors import RefusedError

from .conftest import LAWS, Ran, drive

WAY = LAWS["impedance"] | {"goal": [1.2, *[None] * 6], "goal_speed": 0.5}
"""Half a radian a second about the first axis, so that a fault finds the arm in motion."""
AT = 0.4  # s of the run at which a fault begins
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

    def __call__(self, strike: Callable[[], None], law: dict[str, Any] = WAY, **options: Any) -> Ran:
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
            ran = drive(self.alone, law, arm=arm, duration=2.0, **options)
        finally:
            clock.before, clock.frozen = (lambda: None), False
            self.faulty.change, self.faulty.failing = (lambda raw: raw), {}
        assert self.place != 0.0, str(ran.report)
        clock.sleep(0.3)
        now = np.array(clock.positions[-50:])
        assert np.ptp(now, axis=0).max() < 1e-3, "the arm does not stand still afterwards"
        assert abs(now[-1][0] - self.place) < FURTHER, str(ran.report)
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


@pytest.mark.parametrize(("mode", "words"), [("UserStopped", "emergency stop"), ("Guiding", "guiding mode")])
def test_a_robot_that_leaves_its_mode_gets_no_more_commands(struck: Struck, mode: str, words: str) -> None:
    ran = struck(lambda: struck.faulty.in_mode(mode))
    assert ran.report.reason is Reason.ROBOT and words in ran.report.text
    assert ran.report.ending.startswith("nothing more was sent")


def test_an_old_state_ends_the_run(struck: Struck) -> None:
    """The driver says nothing where states stop coming: their age does."""

    def strike() -> None:
        struck.alone.clock.frozen = True

    ran = struck(strike)
    assert ran.report.reason is Reason.STALE_STATE
    assert "the robot's own timeout makes it hold" in ran.report.ending
    assert "stop" in struck.faulty.calls


def test_stamps_that_stand_still_are_an_old_state(struck: Struck) -> None:
    def strike() -> None:
        time = struck.alone.driver.state.time
        struck.faulty.change = lambda raw: State(raw, time=time)

    ran = struck(strike)
    assert ran.report.reason is Reason.STALE_STATE
    assert "0.10" in ran.report.text


def test_values_that_stand_still_under_new_stamps(struck: Struck) -> None:
    def strike() -> None:
        old = struck.alone.driver.state
        struck.faulty.change = lambda raw: State(raw, q=old.q, dq=old.dq, tau_J=old.tau_J)

    ran = struck(strike)
    assert ran.report.reflex is Reflex.FROZEN
    assert "nothing more was sent" in ran.report.ending


@pytest.mark.parametrize(
    ("change", "reflexes"),
    [
        (lambda raw: State(raw, q=np.full(7, np.nan)), (Reflex.STATE,)),
        (lambda raw: State(raw, q=np.array(raw.q) + [0.3, 0, 0, 0, 0, 0, 0]), (Reflex.STATE,)),
        (lambda raw: State(raw, dq=np.full(7, 6.0)), (Reflex.STATE,)),
        (lambda raw: State(raw, dq=-np.array(raw.dq)), (Reflex.MOTION, Reflex.SPEED, Reflex.CONTACT)),
        (lambda raw: State(raw, tau_J=np.full(7, np.nan)), None),
    ],
)
def test_states_that_cannot_be(
    struck: Struck, change: Callable[[Any], Any], reflexes: tuple[Reflex, ...] | None
) -> None:
    def strike() -> None:
        struck.faulty.change = change

    if reflexes is None:  # torques are not needed to stop or to run
        struck.faulty.change = change
        ran = drive(struck.alone, LAWS["impedance"], arm=struck.alone.arm(wrapped=struck.faulty), duration=0.1)
        assert ran.report.reason is Reason.FINISHED
        return
    ran = struck(strike)
    assert ran.report.reflex in reflexes


def test_a_push_that_the_model_does_not_explain(alone: Lone) -> None:
    simulator = alone.simulation.simulator
    column = int(simulator.model.joint("robot0_fr3_joint2").dofadr[0])
    held = simulator.robots[0]._torque_control

    def strike() -> None:
        def pushed(torques: np.ndarray) -> None:
            held(torques)
            simulator.data.qfrc_applied[column] += 35.0 if alone.clock.now() < due + 0.15 else 0.0

        simulator.robots[0]._torque_control = pushed

    due = alone.clock.now() + 0.9
    alone.clock.before = lambda: strike() if due <= alone.clock.now() < due + 1.5e-3 else None
    try:
        ran = drive(alone, LAWS["impedance"], duration=1.0)
    finally:
        alone.clock.before = lambda: None
        simulator.robots[0]._torque_control = held
    assert ran.report.reflex is Reflex.CONTACT
    assert "fr3_joint2 is moved by " in ran.report.text


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
