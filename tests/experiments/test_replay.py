"""Recordings beside their simulation: a made one, whose torques are known, and the physical arm's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated, loaded

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.logs.csv import Log, write_log
from experiments.__main__ import command
from experiments.torques.replay import BACK, FORWARD, MEASURED, read_recording, replay

PERIOD, SUBSTEPS = 0.01, 10
FACTS = {"friction.viscous.shoulder": 0.3, "friction.viscous.elbow": 0.2, "torque_offset.elbow": 0.4,
         "spring.stiffness.shoulder": 4.0, "spring.rest.shoulder": 0.2}  # fmt: skip


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pendulum led by slow torques, simulated ten times as finely as it is recorded; the sensor has an offset."""
    robot, path = loaded("double_pendulum"), tmp_path_factory.mktemp("log") / "made.csv"
    alpha = robot.alpha.vector(FACTS)
    time = PERIOD / SUBSTEPS * np.arange(400 * SUBSTEPS + 1)
    torque = np.stack([3.0 * np.sin(2.0 * time), 1.5 * np.sin(3.1 * time)], axis=1)
    found = robot.rollout([0.3, -0.2], np.zeros(2), torque[:-1], h=PERIOD / SUBSTEPS, alpha=alpha)
    offset = np.array([0.0, FACTS["torque_offset.elbow"]])
    parts = (values[::SUBSTEPS] for values in (time, found.P, found.PD, torque + offset))
    write_log(path, Log(*[next(parts), robot.joints, next(parts), next(parts), None, next(parts)]))
    return path


def test_poses_and_measured_torques_lead_along_the_recorded_path(recording: Path) -> None:
    robot = loaded("double_pendulum")
    samples = read_recording(recording, robot, None)
    found = replay(robot, samples, alpha=robot.alpha.vector(FACTS), window=0.5, measured=True)
    error = {name: np.linalg.norm(tip - found.measured, axis=1)[60:-60] for name, tip in found.simulated.items()}
    assert error[FORWARD].max() < 1e-3 and error[BACK].max() < 1e-3 and error[MEASURED].max() < 3e-3
    other = replay(robot, samples, alpha=robot.alpha.defaults, window=0.5, measured=True)
    worse = np.linalg.norm(other.simulated[MEASURED] - other.measured, axis=1)[60:-60]
    assert worse.max() > 0.01  # the measured torques need the friction, spring and offset; the poses' do not
    assert np.linalg.norm(other.simulated[FORWARD] - other.measured, axis=1)[60:-60].max() < 1e-3
    with pytest.raises(InputError, match="window"):
        replay(robot, samples, alpha=robot.alpha.defaults, window=100.0, measured=False)


def test_command_writes_paths_and_picture(recording: Path, tmp_path: Path) -> None:
    out = tmp_path / "replay.png"
    words = ["replay", str(generated("double_pendulum")), "--data", str(recording.parent), "--log", recording.name]
    done = CliRunner().invoke(command, [*words, "--out", str(out)])
    assert done.exit_code == 0, (done.output, done.exception)
    assert "tip error RMS" in done.output and out.read_bytes().startswith(b"\x89PNG")
    assert out.with_suffix(".csv").read_text().startswith("time_s,measured x [m]")
    done = CliRunner().invoke(command, [*words[:-1], "nothing.csv"])
    assert done.exit_code == 1 and "nothing.csv" in done.output


@pytest.mark.soak
def test_the_physical_arms_circle_is_followed(shared: Path) -> None:
    robot = loaded("baxter")
    path = shared / "data" / "baxter_left_100hz" / "test_circle_XY_T2_r10.csv.gz"
    found = replay(robot, read_recording(path, robot, 99.0099), alpha=robot.alpha.defaults, window=1.0, measured=False)
    for name, bound in ((FORWARD, 0.5e-3), (BACK, 0.1e-3)):
        assert np.linalg.norm(found.simulated[name] - found.measured, axis=1).max() < bound, name
