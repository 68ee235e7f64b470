"""The clean stop never uses a pose that the guard refused."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.control.holding import HoldController
from diffpbd.runtime.controller import Mode
from diffpbd.runtime.limits import Limits
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Phase
from diffpbd.runtime.loop.supervisor import Settings, Supervisor
from diffpbd.runtime.ros1.joint_states import LimbState

TWO = np.ones(2)
LIMITS = Limits(
    lower=-2 * TWO, upper=2 * TWO, speed=2 * TWO, effort=30 * TWO, law_effort=30 * TWO, torque_rate=300 * TWO,
    position_margin=0.1,
)  # fmt: skip


class FakeArm:
    """Fresh states at a pose, and a list of what was sent."""

    def __init__(self) -> None:
        self.joints, self.limits, self.stale_after = ("j1", "j2"), LIMITS, 0.1
        self.pose = np.zeros(2)
        self.commands: list[tuple[Mode, np.ndarray]] = []
        self.robot = SimpleNamespace(trouble="")
        self.command = SimpleNamespace(subscribers={"robot"})
        self.timeouts: list[float] = []

    @property
    def sent(self) -> int:
        return len(self.commands) + 1

    @property
    def state(self) -> LimbState:
        return LimbState(self.pose, np.zeros(2), None, 0.0, time.monotonic(), 0.0, "robot")

    def send(self, mode: Mode, values: np.ndarray, state: LimbState, *, model_gravity: bool) -> float:
        self.commands.append((mode, values))
        return time.monotonic()

    def set_timeout(self, seconds: float = 0.2) -> None:
        self.timeouts.append(seconds)


def stopped(tick_pose: float, pose: float) -> tuple[FakeArm, str]:
    arm = FakeArm()
    supervisor = Supervisor(HoldController(), LIMITS, Settings(0.01), owner=GravityOwner.ROBOT, gravity=None)
    supervisor.start(np.zeros(2))
    for k in range(12):
        supervisor.tick(0.01 * k, tick_pose * (k > 0) * np.array([1.0, 0.0]), np.zeros(2))
    arm.pose = np.array([pose, 0.0])
    run = Run(arm, supervisor, RunOptions(timeout=0.05))
    run.phase = Phase.RUN
    run._clean_stop()
    return arm, run.report.ending


@pytest.mark.parametrize("offset", [1.2, -0.5])
def test_a_stop_sends_nothing_towards_a_refused_pose(offset: float) -> None:
    arm, ending = stopped(offset, offset)
    assert arm.commands == [] and arm.timeouts == [0.2]
    assert "in dispute" in ending and "the robot's own timeout" in ending


def test_a_stop_holds_the_accepted_pose_while_states_agree() -> None:
    arm, ending = stopped(0.0, 0.049)
    assert arm.commands and "position commands at the measured pose" in ending
    for mode, values in arm.commands:
        assert mode is Mode.POSITION
        np.testing.assert_array_equal(values, [0.0, 0.0])


@pytest.mark.parametrize("pose", [0.051, -0.051, np.nan])
def test_a_stop_sends_nothing_when_states_disagree(pose: float) -> None:
    arm, ending = stopped(0.0, pose)
    assert arm.commands == [] and "not within 0.05 rad" in ending
