"""No stop without a reason over ROS 2: four laws with friction, encoder steps, filtered speeds and jitter, in lock-step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from loop.bench_runs import check, execute, impedance, run
from support.bench_arm import Bench
from support.bench_baxter import BenchBaxter
from support.bench_ros2 import BenchRos2, OverRos2
from support.robots import loaded
from support.sensors import Filtered
from support.shared.quiet import CARTESIAN, MPC, REST
from support.shared.sentences import normal

from diffpbd.runtime.arms.ros2.said import Said
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.folder.locate import find_description
from diffpbd.runtime.loop.configuration import Configuration, gravity_model, limits_of
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.model.statics import inertial_model

LONG = 600.0  # s


class SevenJoints(OverRos2, BenchBaxter):
    """Baxter's arm by pinocchio behind the topics; its own gravity compensation stays off."""

    def __init__(self, urdf: str, limits: Limits, q: Sequence[float], bench: Bench, *, rate: float) -> None:
        BenchBaxter.__init__(self, urdf, limits, q, bench, rate=rate)

    def _move(self) -> None:
        self.robot.suppress(self.time)
        BenchBaxter._move(self)


@pytest.mark.parametrize("rate", [100.0, 1000.0])
@pytest.mark.parametrize("law", ["gravity", "impedance"])
def test_no_stop_without_a_reason(law: str, rate: float, request: pytest.FixtureRequest) -> None:
    turning = impedance((-0.9, 1.9), 0.7)
    expected = turning.expected
    turning.expected = lambda t: expected(1.0 - np.cos(1.5 * t))  # there and back with up to 1.05 rad/s
    arm = BenchRos2(bench=normal(), rate=rate, owner=GravityOwner.MODEL)
    arm.step = 10 * np.array([50.0, 15.0]) / rate
    report, arm = run(
        turning if law == "impedance" else law, arm=arm, rate=rate, owner=GravityOwner.MODEL,
        duration=LONG if request.config.getoption("--soak") else 3.0 if rate == 100.0 else 1.0,
    )  # fmt: skip
    check(arm)
    assert report.reason is Reason.FINISHED and all(status.good for status in report.counts), report


@pytest.mark.parametrize("law", [CARTESIAN, MPC], ids=["cartesian", "mpc"])
def test_no_stop_on_seven_joints(law: dict[str, Any], request: pytest.FixtureRequest) -> None:
    robot, rate = loaded("baxter_bare"), 100.0
    alpha = robot.alpha.vector({"spring.stiffness.left_s1": 24.0, "spring.rest.left_s1": -1.514})
    configuration = Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, law, GravityOwner.MODEL, alpha, limits_of(robot),
        Settings(1.0 / rate, ramp=0.2),
    )  # fmt: skip
    sensors = Filtered() if law is CARTESIAN else Filtered(lag=2e-3, noise=1e-3)
    urdf = find_description("baxter_bare")
    arm = SevenJoints(str(urdf), configuration.limits, REST, Bench(jitter=1e-3, fault=sensors), rate=rate)
    arm.attach(gravity_model(robot, alpha), inertial_model(robot, alpha), Said(models=True))
    options = RunOptions(duration=LONG if request.config.getoption("--soak") else 2.0)
    report = execute(Run(arm, configuration.supervisor(robot), options))
    assert report.reason is Reason.FINISHED and all(status.good for status in report.counts), report
    account = arm.robot.account
    assert account["over_limit"] == account["not_finite"] == account["gravity_twice"] == account["while_stopped"] == 0
    assert 0.02 < account["fastest"] <= 1.0 and account["beyond"] < 0.0
