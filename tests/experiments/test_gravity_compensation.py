from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.judges.peer import Peer
from support.robots import generated, loaded

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.runtime import InputError, Robot
from experiments.__main__ import command
from experiments.design.gravity_compensation import holding_torques, plot
from experiments.poses import draw, draw_from, find_logs

TOLERANCE = 1e-6  # N·m: that of the issue; found are 1e-11


@pytest.fixture(scope="module")
def baxter() -> Robot:
    return loaded("baxter")


def test_estimates_are_pinocchios_gravity(baxter: Robot, root: Path) -> None:
    alpha = baxter.alpha.vector({"gravity.z": -9.8})
    poses = draw(baxter, 30, seed=1)
    found = holding_torques(baxter, poses, alpha)
    peer = Peer(root / "diffpbd" / "codegen" / "robots" / "baxter.urdf", resolve("baxter")[1])
    peer.model.gravity.linear = np.array([0.0, 0.0, -9.8])
    independent = np.array([peer.gravity(p) for p in poses])
    assert np.abs(found.estimate - independent).max() < TOLERANCE
    assert np.abs(found.reference - independent).max() < TOLERANCE
    assert np.abs(independent[:, 1]).max() > 10.0
    assert found.iterations < 10


def test_poses_of_recordings(baxter: Robot, shared: Path) -> None:
    logs = find_logs(shared / "data" / "baxter_left_100hz")[:1]
    poses = draw_from(baxter, logs, 30, 99.0099)
    found = holding_torques(baxter, poses, baxter.alpha.vector({"gravity.z": -9.8}))
    assert found.statistics["MAE"].max() < TOLERANCE and len(np.unique(poses[:, 0])) == 30
    with pytest.raises(InputError, match="expected at least"):
        draw_from(baxter, logs, 10**6, 99.0099)


@pytest.mark.thorough
def test_the_command_says_where_poses_come_from(tmp_path: Path) -> None:
    picture = tmp_path / "g.png"
    words = ["gravity-compensation", str(generated("baxter")), "--poses", "5", "--out", str(picture)]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    assert "no recordings were given" in done.output and "0.669" in done.output
    assert picture.stat().st_size > 10_000
    head, *rows = (tmp_path / "g.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith("step,q_left_s0") and len(rows) == 5 * 4
    assert all(word in done.output for word in ("Gauss–Seidel × 30", "Jacobi × 30", "direct × ", "ours"))


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no logs"):
        find_logs(tmp_path)


def test_other_robots_have_no_paper_line(tmp_path: Path) -> None:
    pendulum = loaded("double_pendulum")
    found = holding_torques(pendulum, draw(pendulum, 4, 0), pendulum.alpha.defaults)
    plot(tmp_path / "p.png", {"ours": found})
    assert found.statistics["MAE"].max() < TOLERANCE
