"""The cartesian law of the command line on seven joints, and its log replayed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime.commands.mending_options import FollowWords
from diffpbd.runtime.commands.run import command
from diffpbd.runtime.commands.run_laws import configured
from diffpbd.runtime.loop.replay import read_run, replay
from diffpbd.runtime.loop.stopping import Reason

pytest.importorskip("pinocchio")

from support.reality import Differences

from .baxter_runs import PLANTS, check_account, executed, run_of

TIP = ("--controller", "cartesian", "--tip-offset", "[0, 0, 0.05]", "--goal-speed", "0.1")


@pytest.mark.thorough("seed 1")
@PLANTS
def test_the_tip_moves_and_the_log_replays_bit_for_bit(tmp_path: Path, differences: Differences | None) -> None:
    robot, log = loaded("baxter_bare"), tmp_path / "run.bag"
    law = configured(robot, command.make_context("run", [str(robot.folder), *TIP]).params, FollowWords()).controller
    run, arm, recorder = run_of(law, 250.0, 2.5, log=log, differences=differences)
    report = executed(run, recorder)
    assert report.reason is Reason.FINISHED, report
    check_account(arm)
    ticks = list(read_run(log)[1])
    first, last = (robot.tip_pose(np.array(ticks[k].position)).position for k in (0, -1))
    # Friction may hold the tip short of its goal: 0.8 N·m at the shoulder, some 0.7 m away, over 200 N/m.
    np.testing.assert_allclose(last - first, [0.0, 0.0, 0.05], atol=0.015)
    assert replay(log, robot).difference == ""
