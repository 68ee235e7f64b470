"""Long runs on loopback: what arrives, how late the loop is, and whether memory stays flat (make soak)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from diffpbd.runtime import Robot
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.stopping import Reason

from .conftest import Graph, RobotProcess
from .running import check_audit, execute

PAGE = os.sysconf("SC_PAGE_SIZE")
IDLE_BEFORE, IDLE_AFTER = 0.3, 0.7  # processes a core; with more, figures of latency are the machine's
LEAST_SENT = 200_000  # of the 300 000 commands of ten minutes
GROWTH = 3e6  # bytes; buffers and histograms that are touched for the first time


@pytest.fixture(autouse=True)
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_IP", "127.0.0.1")


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


class Memory:
    """Resident memory sampled once a second; the first seconds warm up."""

    def __init__(self) -> None:
        self.samples: list[int] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def _sample(self) -> None:
        while not self._end.wait(1.0):
            self.samples.append(memory())

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        self._thread.join()

    def growth(self) -> int:
        third = len(self.samples) // 3
        return max(self.samples[-third:]) - max(self.samples[third : 2 * third])


@pytest.mark.soak
@pytest.mark.parametrize("rate, duration, share", [(1000.0, 60.0, 0.995), (100.0, 60.0, 1.0)])
def test_commands_arrive_in_time(
    arm_robot: Robot, graph: Graph, robot: RobotProcess, rate: float, duration: float, share: float,
    record_property: Callable[[str, object], None],
) -> None:  # fmt: skip
    cores = os.cpu_count() or 1
    idle = os.getloadavg()[0] < IDLE_BEFORE * cores
    with Memory() as used:
        report = execute(arm_robot, graph.uri, owner=GravityOwner.MODEL, rate=rate, duration=duration)
    idle = idle and os.getloadavg()[0] < IDLE_AFTER * cores
    time.sleep(0.3)
    answer = robot.ask()
    arrived = answer["audit"]["commands"]
    print(report, f"\n{arrived} of {report.sent} commands arrived; idle machine: {idle}")
    record_property("report", str(report))
    check_audit(answer, report)
    assert report.reason is Reason.FINISHED
    assert arrived >= share * report.sent
    assert used.growth() < GROWTH
    if idle:
        assert report.ticks >= share * rate * duration
        assert report.latency.percentile(0.99) < 1e-3


@pytest.mark.soak
def test_memory_is_flat_over_ten_minutes(arm_robot: Robot, graph: Graph, robot: RobotProcess, tmp_path: Path) -> None:
    """Ten runs of a minute in one process. A machine that stalls the robot for 0.1 s ends a run, as it must, not the test."""
    reasons, sent = [], 0  # not the reports: each holds histograms
    with Memory() as used:
        begin = time.monotonic()
        while time.monotonic() - begin < 600.0:
            log = tmp_path / f"run{len(reasons)}.bag"
            report = execute(arm_robot, graph.uri, rate=500.0, duration=60.0, log=log)
            check_audit(robot.ask(), report)
            reasons.append(report.reason)
            sent += report.sent
    print(f"{len(reasons)} runs, {sent} commands, memory grew by {used.growth()} bytes")
    assert set(reasons) <= {Reason.FINISHED, Reason.STALE_STATE, Reason.GATE, Reason.PAUSED}  # a stall of the machine
    assert sent > LEAST_SENT
    assert used.growth() < GROWTH
