"""Goals near collision: MuJoCo moves the arm, coal measures distances, two trees say what can be reached at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.planning import guarded
from support.robots import generated

from diffpbd.runtime import load
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc

LEAST, MISSED, THERE = 0.02, 0.002, 0.02  # m, m, rad
SHARE = 0.95
"""[1] Of what the trees reach."""


@pytest.mark.parametrize("hard", [False, True])
def test_goals_near_collision(
    tmp_path_factory: pytest.TempPathFactory, count: Callable[[int, int], int], hard: bool
) -> None:
    folder = tmp_path_factory.getbasetemp()
    robot = load(generated(str(guarded.recipe(folder)), functions=("mpc", "ik"), quick=False))
    clearance = robot.manifest.clearance
    assert clearance is not None and len(clearance.rows) == 20
    judge, plant = guarded.Judge(clearance.shapes, clearance.rows), guarded.Plant()
    mpc = Mpc(robot, 20, h=guarded.H, options=MpcOptions(clearance=LEAST, clearance_hard=hard))
    reached = possible = 0
    for k, (start, goal) in enumerate(guarded.goals(robot, LEAST, count(2, 200), np.random.default_rng(7))):
        least, miss = guarded.driven(mpc, plant, judge, start, goal)
        assert least > LEAST - MISSED, k
        reached += miss < THERE
        possible += miss < THERE or guarded.connected(robot, LEAST, start, goal, np.random.default_rng(k))
    assert possible and reached >= SHARE * possible
