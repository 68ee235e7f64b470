"""`run --ros2` against a robot in another process that shares no line with it, and `sim`, in real time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.robots import generated

from diffpbd.runtime.folder.locate import find_description

TESTS = Path(__file__).resolve().parent.parent
IDLE_BEFORE, IDLE_AFTER = 0.3, 0.7  # processes a core; with more, figures of latency are the machine's
ENDS = 40.0  # s for a process to end by itself
POSE = [0.1, -0.55, 0.2, 0.9, 0.0, 1.26, 0.1]  # rad
JOINTS = [f"left_{joint}" for joint in ("s0", "s1", "e0", "e1", "w0", "w1", "w2")]
GENTLE = ("--rate", 100, "--torque-share", 0.5, "--no-live", "--json", "--release", 0.3)


@pytest.fixture(scope="module")
def baxter() -> Path:
    return generated("baxter")


def start(*words: object) -> subprocess.Popen:
    environment = os.environ | {"PYTHONPATH": f"{TESTS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    return subprocess.Popen(
        [sys.executable, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment,
    )  # fmt: skip


def diffpbd(*words: object) -> subprocess.Popen:
    return start("-m", "diffpbd.command", *words)


class Robot:
    """The independent robot."""

    def __init__(self, gravity: str, *period: float) -> None:
        urdf = find_description("baxter")
        self.process = start("-m", "support.arms.lone_ros2", urdf, gravity, json.dumps(POSE), *period)
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()

    def account(self) -> dict:
        return json.loads(self.process.communicate("end\n", ENDS)[0].splitlines()[-1])

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def robot(request: pytest.FixtureRequest) -> Iterator[Robot]:
    one = Robot(getattr(request, "param", "model"))
    yield one
    one.end()


def ended(process: subprocess.Popen) -> tuple[int, dict]:
    out, err = process.communicate(timeout=ENDS)
    assert out, err
    return process.returncode, json.loads(out)


@pytest.mark.thorough("model")
@pytest.mark.parametrize("robot", ["model", "robot"], indirect=True)
def test_a_run_leads_the_arm_to_its_goal(baxter: Path, robot: Robot, request: pytest.FixtureRequest) -> None:
    owner = request.node.callspec.params["robot"]
    goal = {"left_s0": 0.4, "left_e1": 0.7}
    code, report = ended(diffpbd(
        "run", baxter, "--ros2", "--gravity", owner, "--controller", "impedance", "--goal", json.dumps(goal),
        "--goal-speed", 0.4, "--duration", 2, *GENTLE,
    ))  # fmt: skip
    assert (code, report["reason"]) == (0, "finished"), report
    assert "hold the measured pose" in report["ending"] and report["dropped"] == 0
    told = robot.account()
    assert told["commands"] >= 150 and told["label"] == "joints: " + " ".join(reversed(JOINTS))
    assert [told[key] for key in ("not_finite", "over_limit", "wrong_length", "wrong_names")] == [0, 0, 0, 0]
    assert told["rate"] <= 0.1 + 1e-9  # of the effort limit, between two messages a hundredth of a second apart
    wanted = np.array([goal.get(joint, angle) for joint, angle in zip(JOINTS, POSE, strict=True)])
    assert np.abs(np.array(told["q"]) - wanted).max() < 0.12 and told["fastest"] < 0.8
    left = np.array(told["left"]) - (told["gravity"] if owner == "model" else 0.0)
    assert np.abs(left).max() < 0.5  # N·m beside what holds the arm


def test_a_robot_that_dies(baxter: Path) -> None:
    robot = Robot("robot")
    try:
        run = diffpbd("run", baxter, "--ros2", "--gravity", "robot", "--controller", "gravity", *GENTLE)
        assert robot.process.stdout.readline() == "commanded\n"
        time.sleep(0.8)
        robot.process.send_signal(signal.SIGKILL)
        code, report = ended(run)
    finally:
        robot.end()
    assert (
        code == 1 and report["reason"] in ("stale state", "gate") and "left with what holds it" in report["ending"]
    ), report


@pytest.mark.thorough
def test_a_simulated_arm_that_falls_without_its_gravity(baxter: Path) -> None:
    """`sim` in a process of its own, told who holds gravity; a run that says otherwise ends before its law begins."""
    names = ("--command-joints", ",".join(reversed(JOINTS)))
    sim = diffpbd("sim", "baxter", "--gravity", "model", "--no-live", "--coulomb", json.dumps([0.5] * 7), *names)
    try:
        assert sim.stdout.readline() == f"ROS_DOMAIN_ID={os.environ['ROS_DOMAIN_ID']}\n"
        code, report = ended(
            diffpbd(
                "run", baxter, "--ros2", "--gravity", "model", "--controller", "gravity", "--duration", 0.5, *GENTLE
            )
        )
        assert (code, report["reason"]) == (0, "finished"), report
        code, report = ended(diffpbd("run", baxter, "--ros2", "--gravity", "robot", "--controller", "gravity", *GENTLE))
        assert code == 1 and report["phase"] == "hold" and "another owner" in report["text"], report
        sim.send_signal(signal.SIGTERM)
        account = json.loads(sim.communicate(timeout=ENDS)[0])
    finally:
        sim.kill()
        sim.communicate()
    assert account["commands"] > 60
    assert [account[key] for key in ("not_finite", "over_limit", "wrong_length")] == [0, 0, 0]


@pytest.mark.soak
def test_commands_arrive_in_time(baxter: Path) -> None:
    """A minute at 500 Hz, with states as often."""
    robot = Robot("model", 0.002)
    cores = os.cpu_count() or 1
    idle = os.getloadavg()[0] < IDLE_BEFORE * cores
    try:
        words = [word if word != GENTLE[1] else 500 for word in GENTLE]
        run = diffpbd(
            "run", baxter, "--ros2", "--gravity", "model", "--controller", "impedance", "--duration", 60, *words
        )
        out, err = run.communicate(timeout=60.0 + ENDS)
        idle = idle and os.getloadavg()[0] < IDLE_AFTER * cores
        report, told = json.loads(out), robot.account()
    finally:
        robot.end()
    print(
        {
            name: {k: round(1e3 * v, 3) for k, v in report[name].items()}
            for name in ("latency", "lateness", "work", "age")
        }
    )
    print(report["ticks"], "ticks,", told["commands"], "of", report["sent"], "commands arrived; idle machine:", idle)
    assert (run.returncode, report["reason"]) == (0, "finished"), report
    assert told["commands"] >= 0.99 * report["sent"]
    if idle:
        assert report["ticks"] >= 0.995 * 500.0 * 60.0
        assert report["latency"]["p99"] < 2e-3
