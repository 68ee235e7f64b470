"""`diffpbd run` and `diffpbd sim-baxter` as processes: refusals, signals, a pause, a full disk."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.terminal import terminal

import diffpbd.runtime.arms.baxter.run as baxter_run
from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.records.bag import read_bag
from diffpbd.runtime.ros1.master import call

from .conftest import PATIENCE, REST, URDF, Graph, RobotProcess, wait_until
from .running import SPRING, held_after

PNG = b"\x89PNG"
CLI = [sys.executable, "-m", "diffpbd.runtime.cli"]


@pytest.fixture
def start(arm_robot: Robot, graph: Graph, robot: RobotProcess, tmp_path: Path) -> Iterator:
    """Starts `diffpbd run` on the graph; its log's lines can be waited for."""
    call(graph.uri, "setParam", "/test", "/robot_description", URDF.read_text(), timeout=2.0)
    processes = []

    def run(*options: str, shell: str = "") -> subprocess.Popen:
        line = [*CLI, "run", str(arm_robot.folder), *options]
        if shell:
            line = ["bash", "-c", f'{shell}; exec "$@"', "bash", *line]
        process = subprocess.Popen(
            line, env=graph.environment, cwd=tmp_path, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        processes.append(process)
        return process

    yield run
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def torque_mode(robot: RobotProcess) -> None:
    wait_until(lambda: robot.ask()["mode"] == 3, "the run did not begin")


def finish(process: subprocess.Popen, robot: RobotProcess) -> str:
    output, _ = process.communicate(timeout=PATIENCE)
    answer = held_after(robot)
    audit = answer["audit"]
    for fault in ("not_finite", "over_limit", "wrong_names", "while_stopped", "gravity_twice"):
        assert audit[fault] == 0, audit
    assert answer["mode"] == 1 and max(abs(a - b) for a, b in zip(answer["q"], REST, strict=True)) < 0.05
    assert "Traceback" not in output
    return str(output)


IMPEDANCE = ("--controller", "impedance", "--torque-share", "0.5")


@pytest.mark.thorough("SIGQUIT")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT], ids=lambda n: n.name)
def test_signals_end_in_a_clean_stop(start, robot: RobotProcess, number: signal.Signals) -> None:
    process = start(*IMPEDANCE)
    torque_mode(robot)
    time.sleep(0.1)
    process.send_signal(number)
    process.send_signal(number)
    output = finish(process, robot)
    assert process.returncode == 130
    assert f"interrupted in phase run: {number.name}" in output
    assert "commands to hold the measured pose" in output


@pytest.mark.thorough("model")
@pytest.mark.parametrize("owner", ["robot", "model"])
def test_a_pause_of_the_process_ends_the_run(start, robot: RobotProcess, owner: str, tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text(json.dumps(
        {"spring.stiffness.left_s1": SPRING[0], "spring.rest.left_s1": SPRING[1]}
    ))  # fmt: skip
    process = start(*IMPEDANCE, "--gravity", owner, "--params", "params.json")
    torque_mode(robot)
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.3)
    before = len(robot.ask(commands=True)["commands"])
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert re.search(r"(paused|stale state|gate) in phase run", output), output
    answer = robot.ask(commands=True)
    audit, commands = answer["audit"], answer["commands"]
    after = {mode for _, mode, _ in commands[before:]}
    assert commands[before - 1][1] == 3
    # Which of the two: whether a fresh state was read before the stop began. A torque is among them only where that state
    # moves, and then it brakes.
    braked = {3} if "braking torques, then" in output else set()
    assert after == {1} | braked if "commands to hold the measured pose" in output else not after, output
    assert answer["mode"] == 1
    assert audit["gravity_twice"] == audit["not_finite"] == audit["over_limit"] == 0


def test_a_full_disk_ends_the_run_and_the_log_can_be_read(start, robot: RobotProcess, tmp_path: Path) -> None:
    process = start(*IMPEDANCE, "--log", "run.bag", shell="ulimit -f 600")
    output = finish(process, robot)
    assert process.returncode == 1
    assert re.search(r"log failed in phase run: run.bag: the log cannot be written", output), output
    assert "commands to hold the measured pose" in output
    assert sum(1 for _ in read_bag(tmp_path / "run.bag")) > 100


def test_a_log_that_cannot_be_opened_is_refused_before_anything_is_sent(start, robot: RobotProcess) -> None:
    for log in ("nowhere/run.bag", "/dev/full/run.csv", "run.txt"):
        process = start(*IMPEDANCE, "--log", log)
        output = finish(process, robot)
        assert process.returncode == 1 and re.search("^Error: ", output, re.M) and log in output
    assert robot.ask()["audit"]["commands"] == 0


def test_a_second_program_is_refused_and_an_existing_log_is_kept(start, robot: RobotProcess, tmp_path: Path) -> None:
    first = start(*IMPEDANCE)
    torque_mode(robot)
    log = tmp_path / "run.csv"
    log.write_text("kept")
    for options, told in (
        (("--log", "new.csv"), "held by another program on this machine"),
        (("--log", "run.csv"), "is there already"),
    ):
        second = start("--controller", "gravity", *options)
        output, _ = second.communicate(timeout=PATIENCE)
        assert second.returncode == 1 and told in output and "Traceback" not in output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.csv"] and log.read_text() == "kept"
    assert first.poll() is None and robot.ask()["mode"] == 3  # the first one did not notice
    first.send_signal(signal.SIGINT)
    assert "interrupted" in finish(first, robot)


def test_gravity_without_a_spring_term_is_refused(start, robot: RobotProcess) -> None:
    process = start("--controller", "gravity", "--gravity", "model")
    assert "S1 springs" in finish(process, robot) and process.returncode == 1
    process = start("--controller", "hold", "--gravity", "model", "--without-spring")
    assert "position mode" in finish(process, robot) and process.returncode == 1
    assert robot.ask()["audit"]["commands"] == 0


def test_a_model_that_would_push_is_refused_at_the_hold(start, robot: RobotProcess) -> None:
    process = start(*IMPEDANCE, "--gravity", "model", "--without-spring")
    output = finish(process, robot)
    assert process.returncode == 1 and "refused in phase hold: holding the arm takes left_s1" in output
    assert robot.ask()["audit"]["modes"] == [1]


def test_another_robot_is_refused_unless_allowed(start, graph: Graph, robot: RobotProcess) -> None:
    other = URDF.read_text().replace('<mass value="4.31272"/>', '<mass value="4.51272"/>')
    call(graph.uri, "setParam", "/test", "/robot_description", other, timeout=2.0)
    process = start(*IMPEDANCE, "--duration", "0.3")
    output = finish(process, robot)
    assert process.returncode == 1 and "mismatch: left_upper_elbow" in output and "--allow-mismatch" in output
    assert robot.ask()["audit"]["commands"] == 0
    process = start(*IMPEDANCE, "--duration", "0.3", "--allow-mismatch")
    assert "finished in phase run" in finish(process, robot) and process.returncode == 0


def test_no_master_is_one_paragraph(arm_robot: Robot) -> None:
    done = subprocess.run(
        [*CLI, "run", str(arm_robot.folder), "--master", "http://127.0.0.1:9"], capture_output=True, text=True
    )
    assert done.returncode == 1 and done.stderr.startswith("Error: ") and "ROS_MASTER_URI" in done.stderr


def test_simulated_transport_needs_no_ros_and_replays(arm_robot: Robot, tmp_path: Path) -> None:
    pytest.importorskip("pinocchio")
    line = [*CLI, "run", str(shutil.copytree(arm_robot.folder, tmp_path / "mine"))]  # the folder's name is the user's
    env = {name: value for name, value in os.environ.items() if not name.startswith("ROS_")} | {"TERM": "xterm"}
    options = [*IMPEDANCE, "--transport", "simulated", "--duration", "1", "--log", "run.bag"]
    options += ["--plot", "run.png"]
    with terminal() as screen:
        done = subprocess.run(
            [*line, *options], stdout=subprocess.PIPE, stderr=screen.slave, text=True, cwd=tmp_path, env=env
        )
    assert done.returncode == 0, done
    assert done.stdout.endswith("written: run.bag, run.png\n") and (tmp_path / "run.png").read_bytes().startswith(PNG)
    assert "\nfinished in phase run" in done.stdout and "\x1b" not in done.stdout
    pictures = screen.pictures()
    assert pictures[-1] == "" and any("ramp-in" in p and "latency p50" in p and " left" in p for p in pictures), (
        pictures
    )
    done = subprocess.run(
        [*line, "--transport", "replay", "--from", "run.bag", "--plot", "again.png"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )  # the line on the terminal changed no command
    assert done.returncode == 0 and done.stderr == "" and "every command and status bit for bit the same" in done.stdout
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "run.png").read_bytes()


def test_a_robot_of_another_name_is_simulated_as_its_arm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    told: list[str] = []
    monkeypatch.setattr(baxter_run, "simulator", lambda words, begins: told.append(words[-1]) or nullcontext(begins))
    for name, joints, wanted in (
        ("mine", ("left_s0", "left_s1"), "baxter"), ("mine", ("right_w2",), "baxter_right"),
        ("baxter_bare", ("left_s0",), "baxter_bare"),
    ):  # fmt: skip
        with baxter_run._simulated(SimpleNamespace(name=name, joints=joints)):
            assert told[-1] == wanted
        assert ("mine is no shipped description" in capsys.readouterr().err) == (name == "mine")
    for joints in (("arm_s0",), ("left_s0", "right_s0")):
        with (
            pytest.raises(InputError, match="mine is neither .* sim-baxter FILE.urdf"),
            baxter_run._simulated(SimpleNamespace(name="mine", joints=joints)),
        ):
            pass
