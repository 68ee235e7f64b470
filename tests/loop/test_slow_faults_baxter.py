"""Slow faults of sensors on the seven-joint arm under springs, by a clock that only the loop moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.bench_arm import Bench
from support.robots import loaded

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.reflexes import Reflex
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.supervisor import Settings

pytest.importorskip("pinocchio")

from support.bench_baxter import BenchBaxter
from support.shared.slow_faults import biased, crept, scaled, slowly

from .bench_runs import execute, stopped_after

URDF = Path(__file__).parents[2] / "diffpbd" / "codegen" / "robots" / "baxter_bare.urdf"
NAMES = ("s0", "s1", "e0", "e1", "w0", "w1", "w2")


@pytest.mark.parametrize(
    "joint, fault, latest, way",
    [
        (0, crept(0, 0.1), 0.5, 0.04), (3, crept(3, -0.1), 0.5, 0.04), (6, crept(6, 0.1), 0.5, 0.05),
        (1, biased(1, 0.2), 0.3, 0.06), (5, biased(5, -0.2), 0.3, 0.05), (3, scaled(3, 1.1, 5.0), 3.0, 0.05),
    ],
)  # fmt: skip
def test_seven_joints(joint: int, fault: Callable[[dict, float], dict], latest: float, way: float) -> None:
    report, arm, _ = seven(fault, duration=6.0)
    assert report.reflex is Reflex.MOTION and f"left_{NAMES[joint]} moved" in report.text, report
    assert stopped_after(arm) <= latest
    assert np.abs(np.array(arm.trace) - arm.marked[1]).max() <= way


def test_position_and_speed_that_are_wrong_alike_are_seen_by_what_they_load() -> None:
    fault = lambda data, t: biased(2, -0.1)(crept(2, -0.1)(data, t), t)  # noqa: E731
    report, arm, carried = seven(fault, duration=9.0)
    assert report.reflex is Reflex.CONTACT and "left_e0 was loaded" in report.text and stopped_after(arm) < 8.0
    assert carried < 0.8


def seven(fault: Callable[[dict, float], dict], *, duration: float) -> tuple:
    """Report, arm, and how far it was carried [rad] until the law ended; the seven-joint arm under springs."""
    robot = loaded("baxter_bare")
    alpha = robot.alpha.vector({"spring.stiffness.left_s1": 24.0, "spring.rest.left_s1": -1.514})
    law = {
        "name": "impedance", "stiffness": [120.0, 120.0, 80.0, 80.0, 20.0, 20.0, 5.0], "goal_speed": 0.3,
        "damping": [12.0, 12.0, 6.0, 6.0, 1.0, 1.0, 0.2], "goal": [None] * 7, "net_torque": None,
    }  # fmt: skip
    configuration = Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, law, GravityOwner.MODEL, alpha, limits_of(robot),
        Settings(0.01, ramp=0.2),
    )  # fmt: skip
    pose = [0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0]
    arm = BenchBaxter(str(URDF), configuration.limits, pose, Bench(jitter=1e-3), rate=100.0)
    one = Run(arm, configuration.supervisor(robot), RunOptions(duration=duration))
    arm.in_run = lambda: one.phase.value == "run"
    arm.after(0.5, lambda: (arm.mark(), slowly(fault)(arm)))
    report = execute(one)
    until = max(round((arm.last_law - arm.marked[0]) / 1e-3), 1)
    return report, arm, np.abs(np.array(arm.trace[:until]) - arm.marked[1]).max()
