"""The C example: built as an old control PC would, and bridged to the robot."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.control.laws.program import ProgramController
from diffpbd.runtime.loop.configuration import gravity_model
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.replay import replay

from .conftest import ROOT, Graph, RobotProcess
from .running import check_audit, configuration, execute, held_after

SOURCE = ROOT / "docs" / "examples" / "baxter_c" / "spring.c"
STIFFNESS = np.array([30.0, 30.0, 20.0, 20.0, 5.0, 5.0, 5.0])
DAMPING = np.array([3.0, 3.0, 1.5, 1.5, 0.2, 0.2, 0.2])


@pytest.fixture(scope="session")
def spring(arm_robot: Robot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("spring")
    library = str(arm_robot.folder / arm_robot.manifest.library)
    base = [compiler, "-std=c99", f"-I{arm_robot.folder}"]
    strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
    own = str(folder / "spring.o")
    subprocess.run([*base, *strict, "-c", "-o", own, str(SOURCE)], check=True)
    subprocess.run(
        [*base, "-O1", "-o", str(folder / "spring"), own, library, f"-Wl,-rpath,{arm_robot.folder}", "-lm"], check=True
    )
    return folder / "spring"


@pytest.fixture
def program(spring: Path, arm_robot: Robot) -> Iterator[ProgramController]:
    alpha = configuration(arm_robot, {}, GravityOwner.MODEL, 250.0).alpha
    controller = ProgramController([str(spring)], alpha, arm_robot.n, timeout=0.5)
    yield controller
    controller.close()


def test_the_program_computes_what_python_computes(program: ProgramController, arm_robot: Robot) -> None:
    model = gravity_model(arm_robot, configuration(arm_robot, {}, GravityOwner.MODEL, 250.0).alpha)
    random = np.random.default_rng(5)
    start = random.uniform(-1, 1, 7)
    program.start(start)
    for k in range(50):
        q, dq = random.uniform(-1, 1, (2, 7))
        law = program.output(0.004 * k, q, dq)
        np.testing.assert_array_equal(law, STIFFNESS * (start - q) - DAMPING * dq)
        np.testing.assert_allclose(program.gravity(q), model(q), rtol=0, atol=1e-12)


def test_a_program_that_does_not_answer_is_refused(arm_robot: Robot) -> None:
    for command, text in (
        (["/nowhere/program"], "cannot be run"), ([sys.executable, "-c", "pass"], "does not answer"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=text):
            ProgramController(command, arm_robot.alpha.defaults, 7, timeout=0.01)


SLOW = """
import struct, sys, time
hello = sys.stdin.buffer.read(8 + 8 * int(sys.argv[1]))
reply = lambda sequence: struct.pack("<4sIii14d", b"DPBR", sequence, 0, 0, *[1.0 * sequence] * 14)
sys.stdout.buffer.write(reply(0)); sys.stdout.flush()
while frame := sys.stdin.buffer.read(16 + 8 * 14):
    sequence = struct.unpack_from("<4sI", frame)[1]
    time.sleep(0.6 if sequence == 2 else 0)
    sys.stdout.buffer.write(reply(sequence)); sys.stdout.flush()
"""


def test_a_late_reply_is_never_taken_for_a_later_state(arm_robot: Robot) -> None:
    alpha = arm_robot.alpha.defaults
    program = ProgramController([sys.executable, "-c", SLOW, str(len(alpha))], alpha, 7, timeout=0.3)
    zero = np.zeros(7)
    program.start(zero)
    with pytest.raises(SolverError, match="did not reply"):
        program.output(0.0, zero, zero)
    time.sleep(0.5)
    np.testing.assert_array_equal(program.output(0.1, zero, zero), np.full(7, 3.0))
    program.close()


def test_the_program_controls_the_robot_and_replays(
    spring: Path, arm_robot: Robot, graph: Graph, robot: RobotProcess, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("ROS_IP", "127.0.0.1")
    log = tmp_path / "run.csv"
    controller = {
        "name": "program",
        "command": [str(spring)],
        "timeout": 0.09,
    }  # a late reply is late for the run as well
    report = execute(
        arm_robot, graph.uri, controller=controller, owner=GravityOwner.MODEL, rate=100.0, duration=0.8, log=log
    )
    check_audit(held_after(robot), report)
    assert report.reason.value == "finished" and report.counts[TickStatus.OK] > 50
    assert report.counts[TickStatus.CONTROLLER_FAILED] == 0
    with pytest.raises(InputError, match="give its command: --program"):
        replay(log, arm_robot)
    assert replay(log, arm_robot, program=[str(spring)]).difference == ""
