"""The predictive controller on seven joints, and its log replayed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.robots import loaded

from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.replay import read_run, replay
from diffpbd.runtime.loop.stopping import Reason

pytest.importorskip("pinocchio")

from support.reality import Differences

from .baxter_runs import PLANTS, REST, check_account, executed, run_of

MPC = {
    "name": "mpc", "horizon": 15, "goal": [REST[0] + 0.15, *[None] * 6], "goal_speed": 0.4, "reference": None, "delay": 1,
    "weights": {"p": 1.0, "pd": 0.02, "du": 1e-6},
}  # fmt: skip


@pytest.mark.thorough("seed 1")
@PLANTS
@pytest.mark.parametrize(("owner", "disturbance"), [(GravityOwner.ROBOT, None), (GravityOwner.MODEL, 0.02)])
def test_the_arm_goes_to_its_goal_and_replays(
    tmp_path: Path, owner: GravityOwner, disturbance: float | None, differences: Differences | None
) -> None:
    log = tmp_path / "mpc.csv"
    run, arm, recorder = run_of(
        {**MPC, "disturbance": disturbance}, 100.0, 1.2, owner=owner, log=log, differences=differences
    )
    report = executed(run, recorder)
    assert report.reason is Reason.FINISHED, report
    assert report.counts[TickStatus.CONTROLLER_FAILED] == 0
    check_account(arm)
    _, ticks = read_run(log)
    moved = [tick.position[0] for tick in ticks if tick.mode]
    assert abs(moved[-1] - moved[0] - 0.15) < 0.03, (moved[0], moved[-1])
    assert replay(log, loaded("baxter_bare")).difference == ""
