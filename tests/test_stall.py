"""What is said of the machine, and that a failure is excused by a measured stall alone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import stall
from support.stall import LATE, PAUSE, Pulse, Span, Watch

STALLED = 3 * LATE
FOREVER = float("inf")


@pytest.fixture(scope="module")
def watch() -> Iterator[Watch]:
    watch = Watch()
    yield watch
    watch.close()


def pause(watch: Watch, seconds: float) -> None:
    os.kill(watch.process.pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(watch.process.pid, signal.SIGCONT)


def test_a_stall_is_measured_in_its_own_span_alone(watch: Watch) -> None:
    span = Span(watch)
    pause(watch, STALLED)
    said = span.stall(LATE, FOREVER)
    assert said.startswith("this machine stalled: a sleep of 2 ms took ")
    assert 1e3 * (STALLED - LATE) < float(said.split("took ")[1].split()[0])
    assert span.stall(60.0, FOREVER) == ""  # no stall of a minute
    assert Span(watch).stall(STALLED, FOREVER) == ""  # what was before is no excuse


def test_pauses_of_a_robot_of_the_tests(watch: Watch) -> None:
    span, pulse = Span(watch), Pulse()
    pulse.beat()
    assert span.stall(60.0, FOREVER) == "" and watch.paused(0.0) == 0.0
    time.sleep(1.2 * PAUSE)
    pulse.beat()
    assert span.stall(60.0, FOREVER) == ""  # where a minute is allowed
    span._watch.latest = lambda since: 0.0  # the machine itself was in time
    try:
        said = span.stall(LATE, FOREVER)
        assert said.startswith("this machine stalled: a robot of the tests did not run for ") and "(allowed 50)" in said
        assert Span(watch).stall(LATE, FOREVER) == ""
    finally:
        del span._watch.latest


def test_processors_that_others_use(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = [10.0]
    monkeypatch.setattr(stall, "waited", lambda: counted[0])
    span = Span(watch)
    counted[0] += 1.0  # a second in this instant
    assert "waited for a processor" in span.stall(60.0)
    span = Span(watch)
    assert span.stall(60.0) == ""
    monkeypatch.undo()
    before = stall.waited()
    monkeypatch.setattr(stall, "PRESSURE", Path("/nowhere"))
    assert stall.waited() == 0.0 <= before


CONFTEST = """
from support.excuses import Excuses
from support.stall import LATE

def pytest_configure(config):
    config.excuses = Excuses(lambda item: None if "unexcused" in item.name else (LATE, float("inf")))
    config.pluginmanager.register(config.excuses)
"""
TESTS = """
import os, signal, time, pytest

def stop(request, seconds=0.3):
    pid = request.config.excuses.watch.process.pid
    os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(pid, signal.SIGCONT)

@pytest.fixture(scope="module")
def broken(request):
    stop(request)
    raise OSError("no answer")

def test_excused(request):
    stop(request)
    assert False

def test_good(request):
    stop(request)

def test_first(broken):
    pass

def test_second(broken):
    pass

def test_failing():
    assert False, "a fault of the code"

def test_unexcused(request):
    stop(request)
    assert False, "a fault of the code"
"""


def test_a_failure_in_a_stall_is_a_skip_with_its_measure(root: Path, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(root / "tests")}, timeout=120,
    )  # fmt: skip
    told = done.stdout.split("short test summary info")[1]
    assert "2 failed, 1 passed, 3 skipped" in told, done.stdout
    assert told.count("this machine stalled: a sleep of 2 ms took ") >= 2  # pytest counts skips of one reason together
    outcomes = {name: outcome for outcome, name in re.findall(r"(\w+) \S+::(\w+)", told)}
    assert outcomes == {"test_good": "PASSED", "test_failing": "FAILED", "test_unexcused": "FAILED"}
