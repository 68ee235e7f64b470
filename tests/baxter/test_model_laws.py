"""`diffpbd run` with a net torque map and its replay; the cartesian law is in tests/loop/seven_joints/test_runs.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from diffpbd.runtime import Robot
from diffpbd.runtime.control.net_torque import NetTorqueMap
from diffpbd.runtime.loop.replay import read_run

CLI = [sys.executable, "-m", "diffpbd.runtime.cli"]


def run(robot: Robot, folder: Path, *options: str) -> subprocess.CompletedProcess:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ROS_")}
    return subprocess.run(
        [*CLI, "run", str(robot.folder), *options], capture_output=True, text=True, cwd=folder, env=env
    )


@pytest.mark.thorough
def test_a_net_torque_map_is_added_and_replays(arm_robot: Robot, tmp_path: Path) -> None:
    pytest.importorskip("pinocchio")
    torque = np.outer(np.linspace(-1, 1, 3), np.ones(3)) - np.outer(np.ones(3), np.linspace(-1, 1, 3))
    table = NetTorqueMap(arm_robot.name, "left_s1", "closed", 0.01, np.zeros(7), 0.05, 0.5, 4.0 * torque)
    (tmp_path / "map.json").write_text(json.dumps(table.to_json()))
    words = ["--controller", "impedance", "--net-torque-map", "map.json", "--goal", '{"left_s1": -0.45}',
             "--torque-share", "0.5"]  # fmt: skip
    done = run(arm_robot, tmp_path, *words, "--transport", "simulated", "--duration", "0.6", "--log", "run.bag")
    assert done.returncode == 0, done
    configuration, _ = read_run(tmp_path / "run.bag")
    assert configuration.controller["scaling"] == 0.1
    done = run(arm_robot, tmp_path, "--transport", "replay", "--from", "run.bag")
    assert done.returncode == 0 and "bit for bit the same" in done.stdout
