"""No stop without a reason, with the laws that need the model: the generated arm on seven joints with friction,
encoder steps and jitter, by a clock that only the loop moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.bench_arm import Bench
from support.robots import loaded
from support.sensors import Filtered

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.loop.supervisor import Settings

pytest.importorskip("pinocchio")

from support.bench_baxter import BenchBaxter
from support.shared.quiet import CARTESIAN, MPC, REST

from .bench_runs import execute

URDF = Path(__file__).parents[2] / "diffpbd" / "codegen" / "robots" / "baxter_bare.urdf"
QUICK_MPC: dict[str, Any] = {**MPC, "horizon": 3, "weights": {"p": 1.0, "pd": 0.02, "du": 1e-4}}
"""At 1 kHz: with the weights of 100 Hz an encoder step is worth every torque rate that there is, at each tick."""


@pytest.mark.thorough("-100")
@pytest.mark.parametrize(
    "law, rate",
    [(CARTESIAN, 100.0), (CARTESIAN, 1000.0), (MPC, 100.0), (QUICK_MPC, 1000.0)],
    ids=lambda value: value["name"] if isinstance(value, dict) else f"{value:g}",
)
def test_no_stop_without_a_reason(law: dict[str, Any], rate: float, request: pytest.FixtureRequest) -> None:
    robot = loaded("baxter_bare")
    alpha = robot.alpha.vector({"spring.stiffness.left_s1": 24.0, "spring.rest.left_s1": -1.514})
    configuration = Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, law, GravityOwner.MODEL, alpha, limits_of(robot),
        Settings(1.0 / rate, ramp=0.2),
    )  # fmt: skip
    sensors = Filtered() if law is CARTESIAN else Filtered(lag=2e-3, noise=1e-3)  # mpc shakes by 12 ms
    arm = BenchBaxter(str(URDF), configuration.limits, REST, Bench(jitter=1e-3, fault=sensors), rate=rate)
    under = configuration.supervisor(robot)
    options = RunOptions(duration=600.0 if request.config.getoption("--soak") else 10.0 if rate == 100.0 else 3.0)
    report = execute(Run(arm, under, options))
    assert report.reason is Reason.FINISHED and all(status.good for status in report.counts), report
    account = arm.robot.account
    assert account["over_limit"] == account["not_finite"] == account["gravity_twice"] == account["while_stopped"] == 0
    assert 0.02 < account["fastest"] <= 1.0 and account["beyond"] < 0.0
