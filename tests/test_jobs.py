"""docs/jobs.md: every job is at most a dozen lines or two commands, is found within two clicks, and runs as printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.imports import ROOT
from support.robots import generated, loaded

import diffpbd

PAGE = ROOT / "docs" / "jobs.md"
MOST_LINES, MOST_COMMANDS = 12, 2
JOBS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))


def block(job: str) -> tuple[str, str]:
    """Language and text of a job's block."""
    blocks = re.findall(r"```(python|sh)\n(.*?)```", JOBS[job], re.DOTALL)
    assert len(blocks) == 1, job
    return blocks[0]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a description and a recording of it, and Baxter beside."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copy(ROOT / "codegen" / "robots" / "double_pendulum.urdf", folder / "arm.urdf")
    (folder / "generated").mkdir()
    (folder / "generated" / "baxter").symlink_to(generated("baxter"), target_is_directory=True)
    robot = loaded("double_pendulum")

    def controller(time: float, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        swell = 1.0 - np.exp(-(time**2))
        goal = swell * np.array([0.6 * np.sin(2.0 * time) + 0.2 * np.sin(5.1 * time), 0.7 * np.sin(3.3 * time)])
        return np.asarray(150.0 * (goal - q) - 15.0 * dq + robot.gravity(q))

    friction = {"friction.viscous.shoulder": 0.7, "friction.viscous.elbow": 0.3}  # and no Coulomb friction
    diffpbd.simulate(robot, controller, duration=12.0, h=0.002, alpha=friction).save(folder / "run.csv")
    return folder


def test_there_are_ten_short_ones() -> None:
    assert len(JOBS) == 10
    for job in JOBS:
        language, text = block(job)
        lines = [line for line in text.splitlines() if line.strip()]
        if language == "sh":
            assert sum(len(re.split(r"&&|;", line)) for line in lines) <= MOST_COMMANDS + 1, (
                job
            )  # and what runs the result
        else:
            assert len(lines) <= MOST_LINES, (job, len(lines))


def test_they_are_found_within_two_clicks() -> None:
    assert "docs/jobs.md" in (ROOT / "README.md").read_text(encoding="utf-8").split("## Commands")[0]
    assert "(jobs.md)" in (ROOT / "docs" / "README.md").read_text(encoding="utf-8")


WRITTEN = {
    "Your own robot": ["generated/arm/manifest.json"],
    "Simulate with a controller": ["run.png"],
    "Identify a recording": ["torques.png", "params.json"],
    "Estimate torques": ["estimate.png"],
    "MPC to a goal": ["mpc.png"],
    "Export a URDF": ["new.urdf"],
}
SAID = {
    "Identify a recording": "friction.viscous.shoulder",
    "MPC to a goal": "solved",
    "Gradient of a rollout": "(100, 2)",
    "A batch on all cores": "(100000, 2) (100000, 2, 2)",
}


@pytest.mark.parametrize("job", JOBS)
def test_it_runs_as_printed(
    job: str, desk: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(desk)
    language, text = block(job)
    if language == "sh":
        if shutil.which("cmake") is None:
            pytest.skip("no CMake")
        environment = {**os.environ, "CMAKE_BUILD_TYPE": "Debug", "CFLAGS": "-O0"}
        subprocess.run(["sh", "-e", "-c", text], check=True, env=environment)
    else:
        exec(compile(text, f"{PAGE.name}: {job}", "exec"), {"__name__": "__main__"})
    for path in WRITTEN.get(job, []):
        assert (desk / path).stat().st_size > 100, path
    out = capfd.readouterr().out
    assert "nan" not in out
    assert SAID.get(job, "") in out


def test_what_was_identified_is_what_was_simulated(desk: Path) -> None:
    """The job above names what its model lacks, torques held over a step, and gives no deviations of what that shifts. With it
    fitted the parameters are within three deviations."""
    robot = diffpbd.load(str(desk / "generated" / "arm"))
    first = diffpbd.identify(robot, desk / "run.csv", "friction", split=0.7)
    assert "Try sensor.delay.elbow" in str(first)
    assert {one.std for one in first.result.estimates if one.name.startswith("friction.viscous")} == {None}
    found = diffpbd.identify(robot, desk / "run.csv", "friction,sensor.delay", split=0.7)
    true = {"friction.viscous.shoulder": (0.7, 0.03), "friction.viscous.elbow": (0.3, 0.003)}
    true |= {f"sensor.delay.{joint}": (-0.001, 2e-4) for joint in robot.joints}
    fitted = {one.name: one for one in found.result.estimates}
    for name, (value, most) in true.items():
        std = fitted[name].std
        assert std is not None and std < most and abs(fitted[name].value - value) < 3.0 * std, name
