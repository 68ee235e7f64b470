"""The fault table on ROS 1 and ROS 2: the bench robot behind each, in lock-step; the third transport is in tests/franka."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from support.arms.bench import EFFORT, BenchArm
from support.arms.bench_runs import check, run, stopped_after
from support.arms.fault_rows import (
    BRAKED,
    FINISHED,
    HANDED_BACK,
    NOTHING,
    ROS1,
    ROS2,
    ROWS,
    TRANSPORTS,
    Change,
    Row,
    copied,
    rows_of,
)

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.arm import Fault
from diffpbd.runtime.loop.stopping import Reason, StopRequest

RATE = 250.0
HELD, UNABLE = "commands to hold the measured pose", "nothing more was sent: "
WORDS = {BRAKED: HELD, NOTHING: UNABLE, FINISHED: HELD}
ENDINGS = {
    ROS1: WORDS | {HANDED_BACK: "the robot's own timeout makes it hold"},
    ROS2: WORDS | {HANDED_BACK: "braked by what was believed of it and left with what holds it"},
}
FOREVER = 1e3  # s
MOVING = ("speeds of zero", "speeds of the other sign", "frozen values")
"""What is no fault of an arm at rest."""
UNSEEN = 0.05
"""s that an arm goes on longer where nobody sees how it is braked."""


class StruckBench:
    """The bench robot under one of the two."""

    def __init__(self, arm: BenchArm, transport: str) -> None:
        self.arm, self.transport, self.stop = arm, transport, StopRequest()

    def change(self, change: Change) -> None:
        self.arm.bench.fault = lambda data: change(copied(data))

    def silence(self) -> None:
        self.arm.bench.fault = lambda data: None

    def disable(self) -> None:
        self.arm.disable("the e-stop is pressed")

    def lose(self) -> None:
        if self.transport == ROS1:
            self.arm.lost = Fault(Reason.LOST_ROBOT, "the robot does not listen")
        else:
            self.arm.connected = False

    def command_by_another(self) -> None:
        self.arm.commanders = ("/other",)

    def push(self) -> None:
        self.arm.bench.push = (25.0, 0.0)

    def stall(self) -> None:
        self.arm.stall = 0.15

    def interrupt(self) -> None:
        self.stop.ask("SIGINT")


def bench(transport: str, owner: GravityOwner) -> BenchArm:
    if transport == ROS1:
        return BenchArm()
    pytest.importorskip("cyclonedds")
    from support.arms.bench_ros2 import BenchRos2

    return BenchRos2(owner=owner)


CASES = [pytest.param(one, row, id=f"{one}: {row.name}") for one in (ROS1, ROS2) for row in rows_of(one)]


@pytest.mark.parametrize("owner", list(GravityOwner))
@pytest.mark.parametrize(("transport", "row"), CASES)
def test_a_row_of_the_fault_table(transport: str, row: Row, owner: GravityOwner) -> None:
    arm = bench(transport, owner)
    struck = StruckBench(arm, transport)
    report, arm = run("moving", arm=arm, owner=owner, rate=RATE, fault=lambda arm: row.strike(struck), stop=struck.stop)
    ending = row.judge(report, stopped_after(arm), ENDINGS[transport])
    pushed = row.name == "a push"
    unseen = transport == ROS2 and ending == HANDED_BACK
    detection = max(row.within, 0.1) + (UNSEEN if unseen else 0.0)
    check(arm, pushed=pushed, detection=FOREVER if FINISHED in row.endings else detection)
    if transport == ROS2:
        judge_wire(arm)
    if not (pushed or ending == NOTHING):
        assert np.abs(arm.dq).max() < 1e-3, "the arm does not come to rest"


@pytest.mark.parametrize("law", ["hold", "gravity", "impedance"])
@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in rows_of(ROS1) if row.name not in MOVING])
def test_a_row_under_every_law(row: Row, law: str) -> None:
    """At rest, at the robot's own timeouts; one that holds is refused by the gate before its states are."""
    arm = BenchArm()
    struck, owner = StruckBench(arm, ROS1), GravityOwner.ROBOT if law == "hold" else GravityOwner.MODEL
    report, arm = run(law, arm=arm, owner=owner, rate=RATE, fault=lambda arm: row.strike(struck), stop=struck.stop)
    if law == "hold" and report.reason is Reason.GATE:
        assert "more than 0.1 rad from the measured one" in report.text and stopped_after(arm) <= row.within
        assert arm.timeouts == [0.2, 0.02, 0.2] and arm.mode is Mode.POSITION
    elif not (law == "hold" and row.name == "a push"):  # which the robot itself holds against
        row.judge(report, stopped_after(arm), ENDINGS[ROS1])
        if row.name != "an emergency stop":  # after which the arm sinks
            detection = FOREVER if FINISHED in row.endings else max(row.within, 0.1)
            check(arm, pushed=row.name == "a push", detection=detection)


class StruckReal(StruckBench):
    """An arm of the reality bench."""

    def push(self) -> None:
        self.arm.real.push([0.0, 80.0, 0.0])


@pytest.mark.thorough("an_fr3", "an_ur5e", "-1]")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["baxter", "fr3", "ur5e"], ids=lambda name: f"an_{name}")
@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in rows_of(ROS1)])
def test_a_row_on_an_arm_that_is_not_its_model(row: Row, name: str, seed: int) -> None:
    """Seven joints under way: the fault ends the run as it does where the model is right, or a reflex has ended it before."""
    pytest.importorskip("mujoco")
    from support.reality import BenchReal
    from support.reality.runs import run_real

    stop = StopRequest()
    struck: list[StruckReal] = []

    def strike(arm: BenchReal) -> None:
        struck.append(StruckReal(arm, ROS1))
        struck[0].stop = stop
        arm.mark()
        row.strike(struck[0])

    ran = run_real(name, "impedance", seed, event=strike, stop=stop)
    ran.check(pushed=row.name in ("a push", "an emergency stop"))
    assert struck, ran.report
    assert ran.report.reason in (*row.reasons, Reason.REFLEX), ran.report
    if ran.report.reason is not Reason.REFLEX and row.endings != (FINISHED,):
        assert stopped_after(ran.arm) <= row.within + 0.05, ran.report


def judge_wire(arm: BenchArm) -> None:
    """Judge what the robot was told, to the last message."""
    times, told = (np.array(values) for values in zip(*arm.obeyed(), strict=True))
    assert np.isfinite(told).all() and (np.abs(told) <= np.array(EFFORT) + 1e-9).all()
    steps = np.abs(np.diff(told, axis=0)) / (10.0 * np.array(EFFORT) * np.maximum(np.diff(times), 1.0 / RATE)[:, None])
    assert steps.max() <= 1.0 + 1e-9


def test_every_row_is_on_every_transport_or_says_why_not() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert set(row.absent) < set(TRANSPORTS) and all(len(why) > 20 for why in row.absent.values())
    assert all(importlib.util.find_spec(f"support.arms.{name}") for name in ("bench", "bench_ros2", "lone_fr3"))
