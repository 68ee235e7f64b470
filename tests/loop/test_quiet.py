"""No stop without a reason: long quiet runs with encoder steps, friction, filtered speeds, noise and jitter, in lock-step.

Over ROS 1 and ROS 2; of libfranka: tests/franka/test_quiet.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.arms.bench import Bench, BenchArm
from support.arms.bench_runs import check, impedance, run
from support.arms.fault_rows import ROS1, ROS2
from support.arms.sensors import Filtered
from support.shared.sentences import normal

from diffpbd.runtime.arms.ros2.said import Said
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.configuration import gravity_model
from diffpbd.runtime.loop.stopping import Reason, Report
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.model.statics import inertial_model

pytest.importorskip("pinocchio")

from support.arms.bench_baxter import BenchBaxter
from support.reality.baxter_runs import SPRING, check_account, executed, loaded, run_of

CARTESIAN: dict[str, Any] = {
    "name": "cartesian", "stiffness": [200.0] * 3 + [10.0] * 3, "damping_ratio": 0.7, "offset": [0.0, 0.05, 0.05], "speed": 0.1,
    "posture": [30.0, 30.0, 20.0, 20.0, 5.0, 5.0, 5.0], "damping": [4.0, 4.0, 2.0, 2.0, 0.3, 0.3, 0.3],
}  # fmt: skip
MPC: dict[str, Any] = {
    "name": "mpc", "horizon": 10, "goal": [0.4, -0.3, None, 1.2, None, None, None], "goal_speed": 0.4, "reference": None,
    "delay": 1, "weights": {"p": 1.0, "pd": 0.02, "du": 1e-6}, "disturbance": None,
}  # fmt: skip
QUICK_MPC = {**MPC, "horizon": 3, "weights": {"p": 1.0, "pd": 0.02, "du": 1e-4}}
"""At 1 kHz: with the weights of 100 Hz an encoder step is worth every torque rate that there is, at each tick."""


def quiet(report: Report) -> bool:
    return report.reason is Reason.FINISHED and all(status.good for status in report.counts)


def seconds(request: pytest.FixtureRequest, few: float) -> float:
    return 600.0 if request.config.getoption("--soak") else few


@pytest.mark.thorough("ros1-impedance")
@pytest.mark.parametrize("rate", [100.0, 1000.0])
@pytest.mark.parametrize("law", ["gravity", "impedance"])
@pytest.mark.parametrize("transport", [ROS1, ROS2])
def test_two_joints(transport: str, law: str, rate: float, request: pytest.FixtureRequest) -> None:
    turning = impedance((-0.9, 1.9), 0.7)
    expected = turning.expected
    turning.expected = lambda t: expected(1.0 - np.cos(1.5 * t))  # there and back with up to 1.05 rad/s
    if transport == ROS1:
        arm = BenchArm(bench=normal(), rate=rate)
    else:
        pytest.importorskip("cyclonedds")
        from support.arms.bench_ros2 import BenchRos2

        arm = BenchRos2(bench=normal(), rate=rate, owner=GravityOwner.MODEL)
    arm.step = 10 * np.array([50.0, 15.0]) / rate
    report, arm = run(
        turning if law == "impedance" else law, arm=arm, rate=rate, owner=GravityOwner.MODEL,
        duration=seconds(request, 10.0 if transport == ROS1 else 3.0 if rate == 100.0 else 1.0),
    )  # fmt: skip
    check(arm)
    assert quiet(report), report
    assert transport == ROS2 or max(arm.fastest) > 0.5 or law == "gravity"


def over_ros2(urdf: str, limits: Limits, q: Sequence[float], bench: Bench, *, rate: float) -> BenchBaxter:
    """Baxter's arm by pinocchio behind the topics; its own gravity compensation stays off."""
    pytest.importorskip("cyclonedds")
    from support.arms.bench_ros2 import OverRos2

    class SevenJoints(OverRos2, BenchBaxter):
        def __init__(self) -> None:
            BenchBaxter.__init__(self, urdf, limits, q, bench, rate=rate)

        def _move(self) -> None:
            self.robot.suppress(self.time)
            BenchBaxter._move(self)

    robot, arm = loaded("baxter_bare"), SevenJoints()
    alpha = robot.alpha.vector(SPRING)
    arm.attach(gravity_model(robot, alpha), inertial_model(robot, alpha), Said(models=True))
    return arm


@pytest.mark.thorough("ros1-100")
@pytest.mark.parametrize(
    "law, transport, rate, few",
    [
        (CARTESIAN, ROS1, 100.0, 10.0), (CARTESIAN, ROS1, 1000.0, 3.0), (CARTESIAN, ROS2, 100.0, 2.0),
        (MPC, ROS1, 100.0, 10.0), (QUICK_MPC, ROS1, 1000.0, 3.0), (MPC, ROS2, 100.0, 2.0),
    ],
    ids=lambda value: value["name"] if isinstance(value, dict) else f"{value:g}" if isinstance(value, float) else value,
)  # fmt: skip
def test_seven_joints_with_laws_that_need_the_model(
    law: dict[str, Any], transport: str, rate: float, few: float, request: pytest.FixtureRequest
) -> None:
    sensors = Filtered() if law is CARTESIAN else Filtered(lag=2e-3, noise=1e-3)  # mpc shakes by 12 ms
    bench, make = Bench(jitter=1e-3, fault=sensors), BenchBaxter if transport == ROS1 else over_ros2
    under, arm, _ = run_of(law, rate, seconds(request, few), bench=bench, make=make)
    report = executed(under)
    assert quiet(report), report
    check_account(arm)
    assert 0.02 < arm.robot.account["fastest"] <= 1.0 and arm.robot.account["beyond"] < 0.0


def test_a_gap_of_messages_is_no_jump() -> None:
    def gap(data: dict) -> dict | None:
        return None if 0.0 < (data["stamp"] % 0.5) < 0.06 else data

    report, _ = run("moving", fault=lambda arm: setattr(arm.bench, "fault", gap), rate=1000.0, duration=2.5)
    assert quiet(report), report
