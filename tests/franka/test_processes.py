"""The commands against each other in real time: signals, a robot that falls silent, and a second program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from diffpbd.runtime.arms.franka.approach import APPROACH
from diffpbd.runtime.arms.franka.connection import HOST_LINE
from diffpbd.runtime.loop.ownership import sole_program

ENDS = 20.0  # s for a process to end by itself
STARTS = 40.0  # s for a run to begin, on a machine with other work


def diffpbd(*words: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "diffpbd.command", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )  # fmt: skip


class Simulated:
    def __init__(self) -> None:
        self.process = diffpbd("sim-fr3", "--no-live")
        line = self.process.stdout.readline()
        assert line.startswith(HOST_LINE), line
        self.host = line.strip().removeprefix(HOST_LINE)

    def signal(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def end(self) -> None:
        self.process.kill()
        self.process.wait(ENDS)
        self.process.stdout.close()


@pytest.fixture
def simulated() -> Iterator[Simulated]:
    robot = Simulated()
    try:
        yield robot
    finally:
        robot.end()


class Started:
    """A run that has sent torques; slow enough that a busy machine keeps up."""

    def __init__(self, folder: Path, host: str, log: Path, *words: object) -> None:
        self.process = diffpbd(
            "run", folder, "--host", host, "--controller", "impedance", "--rate", 100, "--log", log, "--no-live", *words
        )  # fmt: skip
        end = time.monotonic() + STARTS
        while not (log.exists() and log.stat().st_size > 20_000):
            if self.process.poll() is not None or time.monotonic() > end:
                pytest.fail(f"the run did not begin: {self.end()}")
            time.sleep(0.02)

    def end(self) -> tuple[int, str]:
        """Exit code and what was said."""
        try:
            text, _ = self.process.communicate(timeout=ENDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            text, _ = self.process.communicate()
        return self.process.returncode, text


@pytest.mark.thorough
def test_signals_and_a_second_program(simulated: Simulated, fr3_folder: Path, tmp_path: Path) -> None:
    with sole_program(f"franka {simulated.host}"):
        second = diffpbd("run", fr3_folder, "--host", simulated.host, "--controller", "impedance", "--no-live")
        text, _ = second.communicate(timeout=STARTS)
    assert second.returncode == 1 and "is held by another program on this machine" in text
    run = Started(fr3_folder, simulated.host, tmp_path / "a.csv")
    run.process.send_signal(signal.SIGTERM)
    code, text = run.end()
    assert code == 130 and "interrupted in phase run: SIGTERM" in text, text
    assert "commands to hold the measured pose" in text
    killed = Started(fr3_folder, simulated.host, tmp_path / "b.csv")
    killed.process.kill()  # nobody tells the robot: it holds by itself, and takes the next program
    killed.end()
    again = Started(fr3_folder, simulated.host, tmp_path / "c.csv", "--duration", 0.5)
    code, text = again.end()
    assert code == 0, text
    replayed = diffpbd("run", fr3_folder, "--transport", "replay", "--from", tmp_path / "c.csv", "--no-live")
    text, _ = replayed.communicate(timeout=STARTS)
    assert replayed.returncode == 0 and "bit for bit the same" in text
    limits = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["limits"]
    assert limits["approach"]["deceleration"] == APPROACH.deceleration.tolist()  # the run knew them


def test_a_robot_that_falls_silent(simulated: Simulated, fr3_folder: Path, tmp_path: Path) -> None:
    run = Started(fr3_folder, simulated.host, tmp_path / "a.csv", "--duration", 60)
    simulated.signal(signal.SIGSTOP)
    time.sleep(0.05)
    simulated.signal(signal.SIGCONT)
    time.sleep(0.3)
    assert run.process.poll() is None, run.end()  # 0.05 s are nothing
    simulated.signal(signal.SIGSTOP)
    time.sleep(1.0)
    simulated.signal(signal.SIGCONT)
    code, text = run.end()
    assert code == 1 and ("the arm's state is 0.1" in text or "a command from a state 0.1" in text), text
    assert "the robot's own timeout makes it hold" in text
    lost = Started(fr3_folder, simulated.host, tmp_path / "b.csv", "--duration", 60)
    simulated.signal(signal.SIGKILL)
    code, text = lost.end()
    assert code == 1 and ("connection to the robot is lost" in text or "state" in text), text
