"""No stop without a reason: long quiet runs with encoder steps, friction, noise and jitter."""

from __future__ import annotations

import signal
import sys
import time

import numpy as np
import pytest
from support.bench_arm import BenchArm
from support.shared.sentences import normal

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.control.laws.program import ProgramController
from diffpbd.runtime.loop.stopping import Reason

from .bench_runs import check, impedance, run


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
