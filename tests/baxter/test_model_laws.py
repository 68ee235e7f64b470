"""`diffpbd run` with the laws that need the model: cartesian impedance and a net torque map, and their replay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from diffpbd.runtime import Robot
from diffpbd.runtime.commands.run import command
from diffpbd.runtime.control.net_torque import NetTorqueMap
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.loop.replay import read_run

CLI = [sys.executable, "-m", "diffpbd.runtime.cli"]
TIP = ("--controller", "cartesian", "--tip-offset", "[0, 0, 0.05]", "--goal-speed", "0.1", "--torque-share", "0.6")


def run(robot: Robot, folder: Path, *options: str) -> subprocess.CompletedProcess:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ROS_")}
    return subprocess.run(
        [*CLI, "run", str(robot.folder), *options], capture_output=True, text=True, cwd=folder, env=env
    )


def test_cartesian_moves_the_tip_and_replays_bit_for_bit(arm_robot: Robot, tmp_path: Path) -> None:
    pytest.importorskip("pinocchio")
    done = run(arm_robot, tmp_path, *TIP, "--transport", "simulated", "--duration", "2.5", "--log", "run.bag")
    assert done.returncode == 0, done
    ticks = list(read_run(tmp_path / "run.bag")[1])
    first, last = (arm_robot.tip_pose(np.array(ticks[k].position)).position for k in (0, -1))
    # Friction may hold the tip short of its goal: 0.8 N·m at the shoulder, some 0.7 m away, over 200 N/m.
    np.testing.assert_allclose(last - first, [0.0, 0.0, 0.05], atol=0.015)
    done = run(arm_robot, tmp_path, "--transport", "replay", "--from", "run.bag")
    assert done.returncode == 0 and "every command and status bit for bit the same" in done.stdout


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


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--controller", "cartesian", "--tip-offset", "[0, 0]"), "expected a list of 3 numbers"),
        (("--controller", "cartesian", "--tip-stiffness", "[1, 1, 1, 1, 1, true]"), "expected a list of 6 numbers"),
        (("--controller", "impedance", "--net-torque-map", "nowhere.json"), "nowhere.json"),
        (("--controller", "impedance", "--net-torque-map", "wrong.json"), "not a net torque map"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    arm_robot: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple, told: str
) -> None:
    (tmp_path / "wrong.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, [str(arm_robot.folder), *options, "--transport", "simulated"])
    assert isinstance(done.exception, InputError) and told in str(done.exception)
