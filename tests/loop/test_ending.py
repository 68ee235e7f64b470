"""The clean stop alone: what it sends, for how long, and why it gives up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.arms.bench import BenchArm
from support.arms.bench_runs import supervisor

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.loop import ending
from diffpbd.runtime.loop.arm import Fault
from diffpbd.runtime.loop.ending import CleanStop
from diffpbd.runtime.loop.gate import GatedArm
from diffpbd.runtime.loop.stopping import Reason

POSE = np.array([0.0, 0.5])
ZERO = np.zeros(2)
HANDED_BACK = ": the robot's own timeout makes it hold"


class Told(BenchArm):
    """Shows the states that a test tells it: q, dq and age by seconds since the start, or none."""

    def __init__(self, told: Callable[[float], tuple[np.ndarray, np.ndarray, float] | None]) -> None:
        super().__init__(tuple(POSE.tolist()))
        self.told, self.begin = told, self.time

    @property
    def state(self) -> LimbState | None:
        since = self.time - self.begin
        shown = self.told(since)
        return (
            None if shown is None else LimbState(shown[0], shown[1], None, since + 7.0, self.time, shown[2], "/robot")
        )


def stop(
    arm: Told, *, torque: bool = False, hold: float = 0.2, held: np.ndarray | None = POSE, period: float = 0.004
) -> tuple[str, int, int]:
    """The ending's message, and how many torques and positions it sent."""
    under = supervisor("impedance", GravityOwner.ROBOT, 1.0 / period)
    under.start(POSE)
    under.accepted = held
    notes: list[float] = []
    said = CleanStop(GatedArm(arm, under.step), under, torque=torque, hold=hold).execute(
        lambda: arm.time - arm.begin, 7.0, arm.suppress, lambda time, state, decision: notes.append(time)
    )
    modes = [mode for _, mode, *_ in arm.commands]
    assert len(notes) == modes.count(Mode.TORQUE) and modes == sorted(modes, key=lambda mode: mode is Mode.POSITION)
    return said, modes.count(Mode.TORQUE), modes.count(Mode.POSITION)


def resting(since: float) -> tuple[np.ndarray, np.ndarray, float]:
    return POSE, ZERO, 0.0


def creeping(since: float) -> tuple[np.ndarray, np.ndarray, float]:
    return POSE + np.array([0.1 * since, 0.0]), np.array([0.1, 0.0]), 0.0


@pytest.mark.parametrize("hold, count", [(0.0, 0), (0.095, 10), (0.195, 20)])
def test_the_accepted_pose_is_held_for_its_time(hold: float, count: int) -> None:
    arm = Told(resting)
    assert stop(arm, hold=hold) == (f"{count} commands to hold the measured pose", 0, count)
    assert all((values == POSE).all() for _, _, values, *_ in arm.commands)
    assert arm.timeouts == [0.2] and arm.time == pytest.approx(arm.begin + 0.01 * count)


@pytest.mark.parametrize("away, held", [(0.049, True), (0.05, True), (-0.05, True), (0.051, False), (np.nan, False)])
def test_a_state_that_differs_ends_the_holding(away: float, held: bool) -> None:
    arm = Told(lambda since: (POSE + np.array([away if since > 0.025 else 0.0, 0.0]), ZERO, 0.0))
    said, _, count = stop(arm, hold=0.095)
    if held:
        assert said == "10 commands to hold the measured pose"
    else:
        told = "3 commands to hold, the measured pose is not within 0.05 rad of the held one"
        assert said == f"nothing more was sent after {told}{HANDED_BACK}" and count == 3
        assert arm.timeouts == [0.2, 0.02, 0.2] and arm.time - arm.begin == pytest.approx(0.03 + 0.06)


@pytest.mark.parametrize("torque", [False, True])
@pytest.mark.parametrize("age, fresh", [(0.1, True), (0.1 + 1e-9, False), (None, False)])
def test_nothing_follows_from_an_old_state(torque: bool, age: float | None, fresh: bool) -> None:
    arm = Told(
        lambda since: None if age is None and since > 0.025 else (POSE, ZERO, age if age and since > 0.025 else 0.0)
    )
    said, torques, positions = stop(arm, torque=torque, hold=0.095)
    if fresh:
        assert "commands to hold the measured pose" in said
    elif torque:  # four states show that it rests, and then it is held for what is left
        assert f"commands to hold, no fresh pose{HANDED_BACK}" in said and torques > 0
    else:
        assert said == f"nothing more was sent after 3 commands to hold, no fresh pose{HANDED_BACK}" and positions == 3


def test_a_state_that_gets_old_ends_the_braking() -> None:
    arm = Told(lambda since: (*creeping(since)[:2], 0.0 if since < 0.05 else 0.2))
    said, torques, positions = stop(arm, torque=True)
    assert said == f"nothing more was sent after {torques} braking torques, no fresh pose{HANDED_BACK}"
    assert torques == 13 and positions == 0


@pytest.mark.parametrize("reason, ended", [(Reason.LOST_ROBOT, True), (Reason.LOST_MASTER, False)])
def test_a_robot_that_is_lost_is_sent_nothing(reason: Reason, ended: bool) -> None:
    arm = Told(resting)
    arm.lost = Fault(reason, "the connection is closed")
    said, _, count = stop(arm)
    assert (f"0 commands to hold, the connection is closed{HANDED_BACK}" in said) == ended and bool(count) != ended


def test_an_arm_that_cannot_move_is_sent_nothing() -> None:
    arm = Told(resting)
    arm.disable("the e-stop is pressed")
    assert stop(arm) == ("nothing more was sent: the e-stop is pressed", 0, 0) and arm.timeouts == [0.2]


def test_what_the_gate_refuses_ends_the_holding() -> None:
    far = np.array([1.7 + 0.2, 0.5])  # led back by more than 0.1 rad at once
    said, _, count = stop(Told(lambda since: (far, ZERO, 0.0)), held=far)
    assert (
        "nothing more was sent after 0 commands to hold, Not sent: a position more than 0.1 rad" in said and count == 0
    )


def test_a_disputed_pose_is_not_held() -> None:
    for torque in (False, True):
        said, *counts = stop(Told(resting), torque=torque, held=None)
        assert said == f"nothing more was sent after 0 braking torques, the measured pose is in dispute{HANDED_BACK}"
        assert counts == [0, 0]


def test_an_arm_at_rest_is_braked_until_that_is_seen() -> None:
    """Four states: 0.03 s back there is none yet, so the oldest counts."""
    assert stop(Told(resting), torque=True, hold=0.095) == (
        "3 braking torques, then 10 commands to hold the measured pose", 3, 10
    )  # fmt: skip


def test_braking_ends_after_its_time() -> None:
    said, torques, positions = stop(Told(creeping), torque=True)
    assert torques == 100 and said == f"100 braking torques, then {positions} commands to hold the measured pose"


def test_braking_ends_at_exactly_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "BRAKE_LIMIT", 0.1875)
    assert stop(Told(creeping), torque=True, period=0.0625)[1] == 3
