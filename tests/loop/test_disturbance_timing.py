"""The observer of disturbances where states come at any phase of the control tick, on an arm with friction that no model
knows: half a torque change in the wrong interval, or a wrist's friction balanced too late, once turned the wrist at
twice its speed limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.bench_arm import Bench
from support.robots import loaded

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.mpc.disturbance import TIME_CONSTANT

pytest.importorskip("pinocchio")

from support.bench_baxter import BenchBaxter

URDF = Path(__file__).parents[2] / "diffpbd" / "codegen" / "robots" / "baxter_bare.urdf"
REST = [0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0]


@pytest.mark.thorough("9 ms", "2 ms", "8 ms")
@pytest.mark.parametrize(
    "phase, jitter",
    [(0.0, 1e-3), (3e-3, 1e-3), (6e-3, 1e-3), (9e-3, 1e-3), (0.0, 1e-2)],
    ids=["8 ms old", "5 ms", "2 ms", "9 ms", "8 to 18 ms"],
)
def test_the_wrist_stays_calm(phase: float, jitter: float) -> None:
    robot = loaded("baxter_bare")
    law = {
        "name": "mpc", "horizon": 6, "goal": [REST[0] + 0.15, *[None] * 6], "goal_speed": 0.4, "reference": None,
        "delay": 1, "weights": {"p": 1.0, "pd": 0.02, "du": 1e-6}, "disturbance": TIME_CONSTANT,
    }  # fmt: skip
    alpha = robot.alpha.vector({"spring.stiffness.left_s1": 24.0, "spring.rest.left_s1": -1.514})
    configuration = Configuration(
        robot.name, robot.manifest.abi_hash, robot.joints, law, GravityOwner.MODEL, alpha, limits_of(robot),
        Settings(0.01, ramp=0.2),
    )  # fmt: skip
    arm = BenchBaxter(str(URDF), configuration.limits, REST, Bench(jitter=jitter), rate=100.0)
    arm.shift(phase)
    report = Run(arm, configuration.supervisor(robot), RunOptions(duration=1.2)).execute()
    assert report.reason is Reason.FINISHED and all(status.good for status in report.counts), report
    assert arm.robot.account["fastest"] < 0.5  # 0.41 is s0 on its way
    assert abs(arm.q[0] - REST[0] - 0.15) < 0.03
