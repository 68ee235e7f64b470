"""A process with a slow clock, and that a failure is taken back by a second run with such a clock alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.slow_clock import slowed
from support.slower import known_as

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the slow clock is preloaded by Linux's loader")

WAITS = """
import json, queue, select, socket, struct, subprocess, threading, time
T, found = 0.1, {}

def timed(name, wait):
    begin = time.monotonic()
    try:
        wait()
    except (queue.Empty, TimeoutError, subprocess.TimeoutExpired):
        pass
    found[name] = time.monotonic() - begin

lock, files, epoll, pair = threading.Lock(), select.poll(), select.epoll(), socket.socketpair()
lock.acquire()
given_up = socket.socketpair()
given_up[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 100000))
pair[0].settimeout(T)
timed("sleep", lambda: time.sleep(T))
timed("lock", lambda: lock.acquire(timeout=T))
timed("condition", lambda: threading.Event().wait(T))
timed("queue", lambda: queue.Queue().get(timeout=T))
timed("select", lambda: select.select([], [], [], T))
timed("poll", lambda: files.poll(1e3 * T))
timed("epoll", lambda: epoll.poll(T))
timed("socket", lambda: pair[0].recv(1))
timed("process", lambda: subprocess.run(["sleep", "9"], timeout=T))

def blocking():
    try:
        given_up[0].recv(1)
    except BlockingIOError:
        pass
timed("socket that gives up", blocking)
print(json.dumps([found, time.monotonic(), time.time(), time.process_time()]))
"""
FACTOR = 4.0


def test_every_wait_lasts_longer_and_no_process_sees_it() -> None:
    found = {}
    for factor in (1.0, FACTOR):
        environment, before, wall = slowed(factor), time.monotonic(), time.time()
        done = subprocess.run(
            [sys.executable, "-c", WAITS], env=environment, capture_output=True, text=True, check=True
        )
        took = time.monotonic() - before
        waits, monotonic, epoch, _ = json.loads(done.stdout)
        assert all(0.0999 <= waited < 2.0 for waited in waits.values()), waits
        found[factor] = sum(waits.values()), took
        assert took > factor * sum(waits.values())
        assert (monotonic - before) * factor <= took + 0.05 and (epoch - wall) * factor <= took + 0.05
    told, took = found[FACTOR]
    assert told >= 1.0 and took >= FACTOR


def test_processes_of_one_environment_share_the_clock() -> None:
    environment, begun = slowed(FACTOR), time.monotonic()

    def told() -> float:
        words = [sys.executable, "-c", "import time; print(time.monotonic())"]
        return float(subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout)

    for _ in range(2):
        earliest = time.monotonic()
        shown = told()
        latest = time.monotonic()
        assert (earliest - begun) / FACTOR - 0.01 <= shown - begun <= (latest - begun) / FACTOR + 0.01
        time.sleep(0.4)


CONFTEST = """
from support.slower import Slower

def pytest_configure(config):
    config.pluginmanager.register(Slower(lambda item: "lock_step" not in item.name))
"""
TESTS = """
import os, pytest

SLOW = "DIFFPBD_SLOW_CLOCK" in os.environ

@pytest.fixture(scope="module")
def robot():
    if not SLOW:
        raise OSError("no answer")
    yield 1

@pytest.fixture
def closing():
    yield
    assert SLOW

def test_late():
    assert SLOW

def test_good():
    assert not SLOW

@pytest.mark.parametrize("words", ["two words/[x]"])
def test_setup(robot, words):
    assert robot == 1

def test_teardown(closing):
    pass

def test_failing():
    assert False, "a fault of the code"

def test_lock_step():
    assert SLOW
"""


def test_what_fails_is_run_again_with_a_slow_clock(root: Path, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(root / "tests")}, timeout=120,
    )  # fmt: skip
    assert "2 failed" in done.stdout and "error" not in done.stdout.splitlines()[-1], done.stdout
    told = done.stdout.split("passed with a slower clock")[1].split("short test summary")[0]
    named = set(re.findall(r"::(test_\w+)", told))
    assert named == {"test_late", "test_setup", "test_teardown"}, done.stdout
    told = done.stdout.split("short test summary info")[-1]
    assert set(re.findall(r"FAILED \S+::(\w+)", told)) == {"test_failing", "test_lock_step"}
    assert "with a clock " in done.stdout, "the second failure is shown"


@pytest.mark.parametrize("group", [None, "tests/some/test_file.py", "real time"])
def test_the_second_run_asks_for_the_test_without_the_group_of_its_process(group: str | None) -> None:
    """pytest-xdist names a test `file::test[row]@group`, which no other process finds."""
    name = "tests/some/test_file.py::test_a_row[0.3 rad @ 4 Hz]"
    mark = None if group is None else SimpleNamespace(args=(group,))
    item: Any = SimpleNamespace(
        nodeid=name if group is None else f"{name}@{group}", get_closest_marker=lambda wanted: mark
    )
    assert known_as(item) == name
