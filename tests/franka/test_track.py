"""The law that follows a motion, and what is identified from its own recording: a payload and frictions that were set."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.arms.lone_fr3 import Lone, lone

from diffpbd.runtime import Robot
from diffpbd.runtime.arms.franka.arm import STATES_TOPIC
from diffpbd.runtime.arms.franka.connection import HOST_LINE
from diffpbd.runtime.arms.franka.simulator import READY_POSE, Payload
from diffpbd.runtime.loop.replay import replay
from diffpbd.runtime.loop.stopping import Reason

from .conftest import DAMPING, STIFFNESS, Ran, drive

PAYLOAD = 1.0  # kg
HAND = 0.73 + 2 * 0.015  # kg; of MuJoCo's hand and its two fingers
COULOMB = [1.4, 1.0, 1.2, 0.8, 0.5, 0.7, 0.4]  # N·m
VISCOUS = [0.6, 0.5, 0.4, 0.5, 0.3, 0.3, 0.2]  # N·m·s/rad
LENGTH = 8.0  # s


def motion(length: float = LENGTH, h: float = 0.01) -> dict[str, list]:
    """From rest to rest about the ready pose, each joint with its own two frequencies; of random ones, one that tells much."""
    time = np.arange(0.0, length + h / 2, h)
    wide = np.array(
        [[0.38, 0.8], [0.04, 0.4], [-0.21, 0.95], [0.63, -0.66], [-1.19, 0.7], [0.36, -0.81], [-1.48, -0.34]]
    )
    turns = np.array([[1, 4], [1, 6], [1, 4], [2, 4], [1, 3], [1, 2], [1, 3]])
    waves = 0.5 * wide * (1.0 - np.cos(2 * np.pi * time[:, None, None] / length * turns))
    q = np.array(READY_POSE) + waves.sum(axis=2)
    dq = np.gradient(q, time, axis=0)
    dq[[0, -1]] = 0.0
    return {"time": time.tolist(), "q": q.tolist(), "dq": dq.tolist()}


@pytest.fixture(scope="module")
def loaded(fr3: Robot) -> Iterator[Lone]:
    with lone(fr3, payload=Payload(PAYLOAD), coulomb=COULOMB, viscous=VISCOUS) as robot:
        yield robot


@pytest.fixture(scope="module")
def tracked(loaded: Lone, tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Path]:
    log = tmp_path_factory.mktemp("track") / "track.bag"
    law = {
        "name": "track", "reference": motion(), "stiffness": [2 * k for k in STIFFNESS], "damping": DAMPING, "goal_speed": 0.5,
        "reach": 0.2,
    }  # fmt: skip
    return drive(loaded, law, rate=250.0, share=0.6, log=log), log


@pytest.mark.thorough
def test_the_motion_is_followed_to_its_end(tracked: tuple[Ran, Path], fr3: Robot) -> None:
    ran, log = tracked
    assert ran.report.reason is Reason.FINISHED, str(ran.report)
    assert ran.report.ticks > 0.9 * 250 * LENGTH  # without --duration it ends by itself, at its end
    assert "commands to hold the measured pose" in ran.report.ending  # the robot does not know of the payload either
    expected = ran.supervisor.controller.expected
    apart = np.abs([q - expected(time) for time, q in zip(ran.times, ran.q, strict=True)])
    assert np.ptp(ran.q, axis=0).min() > 0.3
    assert apart[200:].max() < 0.12  # a kilogram that nobody knows of, by springs of 400 N·m/rad
    assert ran.largest_step < 1.0
    assert replay(log, fr3).difference == ""


@pytest.mark.thorough
def test_payload_and_friction_are_found_in_its_recording(
    tracked: tuple[Ran, Path], fr3_folder: Path, tmp_path: Path
) -> None:
    _, log = tracked
    found = identified(fr3_folder, log, tmp_path / "params.json")
    assert found["payload.mass"] - HAND == pytest.approx(PAYLOAD, rel=0.03)
    for kind, values in (("coulomb", COULOMB), ("viscous", VISCOUS)):
        names = [f"friction.{kind}.fr3_joint{k}" for k in range(1, 8)]
        apart = np.abs(np.array([found[name] for name in names]) - values)
        assert (apart < 0.15).all(), dict(zip(names, apart, strict=True))
    assert found["friction.coulomb.fr3_joint1"] > found["friction.coulomb.fr3_joint7"] + 0.6


def identified(folder: Path, log: Path, out: Path) -> dict[str, float]:
    words = ("identify", folder, log, "--topic", STATES_TOPIC, "--fit", "friction,payload,rotor_inertia", "--out", out)
    subprocess.run([sys.executable, "-m", "diffpbd.command", *map(str, words)], check=True, capture_output=True)
    parameters = json.loads(out.read_text(encoding="utf-8"))["parameters"]
    return {name: entry["value"] for name, entry in parameters.items()}


@pytest.mark.soak
def test_excite_run_identify_by_the_commands(fr3_folder: Path, tmp_path: Path) -> None:
    """The page's own way, in real time."""
    diffpbd = (sys.executable, "-m", "diffpbd.command")
    way, log = tmp_path / "way.csv", tmp_path / "track.bag"
    wishes = ("--duration", "10", "--table", "0.1", "--max-acceleration", "4", "--margin", "0.5", "--out", str(way))
    subprocess.run([*diffpbd, "excite", str(fr3_folder), *wishes], check=True, capture_output=True)
    robot = subprocess.Popen(
        [*diffpbd, "sim-fr3", "--no-live", "--payload", str(PAYLOAD)], stdout=subprocess.PIPE, text=True
    )
    try:
        host = robot.stdout.readline().strip().removeprefix(HOST_LINE)
        words = (
            "run",
            str(fr3_folder),
            "--host",
            host,
            "--controller",
            "track",
            "--reference",
            str(way),
            "--bridge-jumps",
        )
        more = ("--torque-share", "0.6", "--contact", "0.6", "--rate", "100", "--log", str(log), "--no-live")
        done = subprocess.run([*diffpbd, *words, *more], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        robot.terminate()
        robot.wait(10.0)
        robot.stdout.close()
    found = identified(fr3_folder, log, tmp_path / "params.json")
    assert found["payload.mass"] - HAND == pytest.approx(PAYLOAD, rel=0.03)
