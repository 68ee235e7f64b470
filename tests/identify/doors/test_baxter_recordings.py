"""A physical Baxter: inertias, friction and spring on eleven recordings, tested on a twelfth and on each left out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.judges.convex import convex_optimum
from support.robots import generated

from diffpbd.runtime import load
from diffpbd.runtime.cli import cli
from diffpbd.runtime.identify.torque import fitting

VALIDATION = (0.43, 0.57, 0.22, 0.10, 0.058, 0.018, 0.074)
"""[N·m] RMSE of s0 … w2 on the twelfth."""
LEFT_OUT = (0.28, 0.47, 0.16, 0.11, 0.040, 0.018, 0.028)
"""[N·m] Mean RMSE on each of the eleven with the parameters of the others."""


@pytest.mark.soak
def test_everything_of_the_arm(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = sorted((shared / "data" / "baxter_left_100hz").glob("train_*"))
    held = next((shared / "data" / "baxter_left_100hz").glob("test_circle_XY*"))
    robot, out = generated("baxter", symbolic=("mass", "com", "inertia")), tmp_path / "params.json"
    solved = []
    solve = fitting.solve

    def spy(*arguments: object) -> object:
        solved.append(solve(*arguments))
        return solved[-1]

    monkeypatch.setattr(fitting, "solve", spy)
    words = ["identify", robot, *logs, "--rate", 99.0099, "--fit", "inertials,friction,spring", "--validate", held,
             "--leave-one-out", "--out", out]  # fmt: skip
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    rmse = json.loads(out.read_text())["rmse"]
    assert (np.array(list(rmse["validate"].values())) <= VALIDATION).all(), rmse
    assert (np.array(list(rmse["leave_one_out"].values())) <= LEFT_OUT).all(), rmse
    problem, solution = solved[-1]  # that of all eleven comes last
    assert solution.objective == pytest.approx(convex_optimum(load(robot), problem), rel=1e-4)
