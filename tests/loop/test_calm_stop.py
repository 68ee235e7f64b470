"""A stop makes no joint faster: the seven-joint arm in motion, stopped by a request, by a clock that only the loop moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.bench_arm import STEP, Bench
from support.robots import loaded

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Reason, StopRequest
from diffpbd.runtime.loop.supervisor import Settings

pytest.importorskip("pinocchio")

from support.bench_baxter import BenchBaxter

from .bench_runs import execute

URDF = Path(__file__).parents[2] / "diffpbd" / "codegen" / "robots" / "baxter_bare.urdf"
POSES = {
    "bent": [0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0],
    "stretched": [0.1, -0.55, 0.1, 0.05, 0.0, 0.05, 0.0],
    "twisted": [0.1, -0.3, 1.2, 1.3, -1.0, 1.2, 0.5],
}
GAIN = 0.1
"""rad/s by which a joint's speed may grow once a stop begins; seen: 0.05. With torques clipped joint by joint it was 7.2."""


@pytest.mark.parametrize(
    "pose, speed, rate",
    [
        ("bent", 1.0, 100.0),
        ("bent", 0.5, 250.0),
        ("stretched", 1.0, 100.0),
        ("stretched", 1.0, 1000.0),
        ("twisted", 1.0, 250.0),
    ],
)
def test_a_stop_makes_no_joint_faster(pose: str, speed: float, rate: float) -> None:
    robot = loaded("baxter_bare")
    alpha = robot.alpha.vector({"spring.stiffness.left_s1": 24.0, "spring.rest.left_s1": -1.514})
    law = {
        "name": "impedance", "stiffness": [120.0, 120.0, 80.0, 80.0, 20.0, 20.0, 20.0], "goal_speed": speed,
        "damping": [12.0, 12.0, 6.0, 6.0, 1.0, 1.0, 1.0], "goal": [1.3, 0.6, None, None, None, None, None],
        "net_torque": None,
    }  # fmt: skip
    configuration = Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, law, GravityOwner.MODEL, alpha, limits_of(robot),
        Settings(1.0 / rate, ramp=0.2),
    )  # fmt: skip
    arm = BenchBaxter(str(URDF), configuration.limits, POSES[pose], Bench(), rate=rate)
    stop = StopRequest()
    one = Run(arm, configuration.supervisor(robot), RunOptions(duration=3.0), stop=stop)
    arm.in_run = lambda: one.phase.value == "run"
    speeds: list[np.ndarray] = []

    def watch() -> None:
        speeds.append(np.abs(arm.dq))
        arm.events.append((arm.time - arm.begun + STEP, watch))

    arm.after(0.8, lambda: (stop.ask("a request"), watch()))
    report = execute(one)
    assert report.reason is Reason.INTERRUPTED and speeds[0].max() > 0.7 * speed, (report, speeds[0])
    assert len(speeds) > 300
    gained = np.max(speeds, axis=0) - speeds[0]
    assert gained.max() <= GAIN, gained.round(3)
