"""Deadlines, and no stop without a reason: long quiet runs with encoder steps, friction, noise and jitter."""

from __future__ import annotations

import signal
import sys
import time

import numpy as np
import pytest
from support.bench_arm import Bench, BenchArm
from support.sensors import Filtered

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.control.program import ProgramController
from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.stopping import Phase, Reason

from .bench_runs import check, impedance, run


def normal() -> Bench:
    """Sensors, link and friction of an arm in which nothing is wrong."""
    return Bench(jitter=1e-3, noise=0.05, fault=Filtered())


class SlowArm(BenchArm):
    """Takes time for what it sends: `slow` [s] by the number of the command in the run phase."""

    def __init__(self, slow) -> None:
        super().__init__()
        self.slow, self.count = slow, 0

    def transmit(self, mode, values) -> None:
        super().transmit(mode, values)
        if self.in_run():
            self.count += 1
            self.advance(self.slow(self.count))


@pytest.mark.parametrize("work, late", [(0.0045, True), (0.0035, False)])
def test_a_loop_that_misses_its_deadlines_ends(work: float, late: bool) -> None:
    report, arm = run("impedance", arm=SlowArm(lambda k: work), duration=2.0)
    check(arm)
    assert (report.reflex is Reflex.LATENESS) == late and report.exit_code == (29 if late else 0)
    if late:  # every second period is missed: 0.3 of the time beyond the allowed fifth
        assert arm.last_law - arm.begun == pytest.approx(0.2 / 0.3, abs=0.02)
        assert report.overruns == pytest.approx(0.5 * (0.2 / 0.3) / 0.004, abs=3)


def test_a_fifth_of_the_deadlines_may_be_missed() -> None:
    report, arm = run("impedance", arm=SlowArm(lambda k: 0.0045 if k % 5 == 0 else 0.0), duration=2.0)
    assert report.reason is Reason.FINISHED and report.overruns > 50


@pytest.mark.parametrize("pause, paused", [(0.096, False), (0.108, True)])
def test_a_pause_ends_the_run(pause: float, paused: bool) -> None:
    report, arm = run("impedance", arm=SlowArm(lambda k: pause if k == 100 else 0.0))
    check(arm)
    assert (report.reason is Reason.PAUSED) == paused and report.phase is Phase.RUN


@pytest.mark.thorough("impedance")
@pytest.mark.parametrize("states, rate", [(100.0, 100.0), (1000.0, 1000.0)])
@pytest.mark.parametrize("law", ["gravity", "impedance"])
def test_no_stop_without_a_reason(law: str, states: float, rate: float, request: pytest.FixtureRequest) -> None:
    seconds = 600.0 if request.config.getoption("--soak") else 10.0
    turning = impedance((-0.9, 1.9), 0.7)
    expected = turning.expected
    turning.expected = lambda t: expected(1.0 - np.cos(1.5 * t))  # there and back with up to 1.05 rad/s
    arm = BenchArm(bench=normal(), rate=states)
    arm.step = 10 * np.array([50.0, 15.0]) / rate
    report, arm = run(
        turning if law == "impedance" else law, arm=arm, rate=rate, owner=GravityOwner.MODEL, duration=seconds
    )
    check(arm)
    assert report.reason is Reason.FINISHED, report
    assert all(status.good for status in report.counts)
    assert max(arm.fastest) > 0.5 or law == "gravity"


def test_a_gap_of_messages_is_no_jump() -> None:
    def gap(data: dict) -> dict | None:
        return None if 0.0 < (data["stamp"] % 0.5) < 0.06 else data

    report, arm = run("moving", fault=lambda arm: setattr(arm.bench, "fault", gap), rate=1000.0, duration=2.5)
    assert report.reason is Reason.FINISHED and all(status.good for status in report.counts), report


STUBBORN = """
import signal, struct, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdin.buffer.read(8 + 8 * 3)
sys.stdout.buffer.write(struct.pack("<4sIii4d", b"DPBR", 0, 0, 0, *[0.0] * 4)); sys.stdout.flush()
time.sleep(60)
"""


def test_a_program_that_ignores_the_request_to_end_is_killed() -> None:
    program = ProgramController([sys.executable, "-c", STUBBORN], np.zeros(3), 2, timeout=0.1)
    begin = time.monotonic()
    program.close()
    assert time.monotonic() - begin < 30.0 and program._process.returncode == -signal.SIGKILL
