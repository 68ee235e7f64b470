"""A physical Panda: trained on the first half of a recording, tested on the second."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated

from diffpbd.runtime.cli import cli

BARS = (0.15, 0.25, 0.15, 0.18, 0.08, 0.06, 0.065)
"""[N·m] Validation RMSE of joints 1 to 7."""


@pytest.mark.soak
def test_first_half_to_second(shared: Path, tmp_path: Path) -> None:
    log = shared / "data" / "panda_gaz2019_exciting_1khz.csv.gz"
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    urdf = next(Path(str(f.locate())) for f in files if f.name == "panda.urdf")
    robot = generated(str(urdf), tip=("panda_hand",), symbolic=("mass", "com", "inertia"))
    out = tmp_path / "params.json"
    words = [
        "identify",
        robot,
        log,
        "--split",
        0.5,
        "--trim",
        0.2,
        "--fit",
        "inertials,friction,rotor_inertia",
        "--out",
        out,
    ]
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    assert "warning" not in result.output  # a sound recording raises no alarm, its torques included
    assert "resampled at" in result.output and "43 base parameters" in result.output
    data = json.loads(out.read_text())
    rmse = np.array(list(data["rmse"]["validate"].values()))
    assert (rmse <= BARS).all(), rmse
    assert len(data["base_parameters"]) == 43
