"""Rows of loops give no energy: a step in which they would is status 17, one that is short enough is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from support.small.violent import robot_of

from diffpbd.runtime.base.errors import SolverError

POSE = [-3.079957157329482, 3.0393493853883453, 0.012547214422729736, 0.028060557518407227]
RATES = [-3.3825179858092405, 17.871780352335552, -35.12610487803086, 20.636842511504543]
"""Of a weld whose loop is about to turn over: a step of 4.9 ms has an end with 24 times its kinetic energy."""
GAINED = 0.01
"""Share of its kinetic energy that a step may gain, beside a quarter of its squared turns."""


def test_no_step_gains_what_rows_gave(shared: Path) -> None:
    robot = robot_of("weld4", shared)
    p, pd = np.array(POSE), np.array(RATES)
    still, before, ended = np.zeros(4), robot.energy(p, pd), []
    for h in np.geomspace(1e-4, 6e-3, 40):
        try:
            q, qd = robot.joint_step(p, pd, still, h=h)
        except SolverError as error:
            assert "energy came from nothing" in str(error) or "(status 13)" in str(error)
            ended += [h] if "(status 17)" in str(error) else []
            continue
        after = robot.energy(q, qd)
        most, turned = max(before[0], after[0]), ((q - p) ** 2).sum()
        assert sum(after) - sum(before) < (GAINED + turned / 4) * most
    assert ended
    assert ended[0] > 2e-3
