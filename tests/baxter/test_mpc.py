"""The predictive controller on the simulated Baxter, no ROS anywhere, and its log replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from diffpbd.runtime import Robot
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.replay import read_run, replay
from diffpbd.runtime.loop.stopping import Reason

from .conftest import REST
from .running import execute

pytest.importorskip("pinocchio")

from .test_simulated import SimulatedNode, node

__all__ = ["node"]

MPC = {
    "name": "mpc", "horizon": 15, "goal": [REST[0] + 0.15, None, None, None, None, None, None], "goal_speed": 0.4,
    "reference": None, "delay": 1, "weights": {"p": 1.0, "pd": 0.02, "du": 1e-6},
}  # fmt: skip


@pytest.mark.parametrize(("owner", "disturbance"), [(GravityOwner.ROBOT, None), (GravityOwner.MODEL, 0.02)])
def test_the_simulated_arm_goes_to_its_goal(
    node: SimulatedNode, arm_robot: Robot, tmp_path: Path, owner: GravityOwner, disturbance: float | None
) -> None:
    log = tmp_path / "mpc.csv"
    report = execute(
        arm_robot,
        node.node.master.uri,
        controller={**MPC, "disturbance": disturbance},
        owner=owner,
        rate=100.0,
        duration=1.2,
        enable=True,
        log=log,
    )
    assert report.reason is Reason.FINISHED, report
    assert node.robot.audit.over_limit == node.robot.audit.gravity_twice == node.robot.audit.not_finite == 0
    assert report.counts[TickStatus.CONTROLLER_FAILED] == 0
    _, ticks = read_run(log)
    moved = [tick.position[0] for tick in ticks if tick.mode]
    assert abs(moved[-1] - moved[0] - 0.15) < 0.03, (moved[0], moved[-1])
    assert replay(log, arm_robot).difference == ""
