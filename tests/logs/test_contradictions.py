"""Cases N02 to N04 through every command that takes recordings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.command import run
from support.robots import generated

from diffpbd.runtime.logs.csv import read_log


def case(shared: Path, name: str) -> Path:
    return next((shared / "cases").glob(f"{name}-*"))


@pytest.fixture(scope="module")
def arm2(shared: Path) -> Path:
    return generated(str(case(shared, "N02") / "arm2.urdf"))


@pytest.mark.parametrize("name", ["wrapped.csv", "wrapped_no_rates.csv"])
def test_n02_turns_of_a_joint_without_ends(shared: Path, tmp_path: Path, arm2: Path, name: str) -> None:
    log, out = case(shared, "N02") / name, tmp_path / "params.json"
    wanted = json.loads((case(shared, "N02") / "expected.json").read_text())
    code, text = run("identify", arm2, log, "--fit", "friction", "--out", out)
    assert code == 0 and "turn was recorded within a turn: 2 steps of 2π are taken out" in text, text
    found = json.loads(out.read_text())["parameters"]
    for parameter, value in wanted.items():
        if parameter != "tolerance":
            assert found[parameter]["value"] == pytest.approx(value, abs=wanted["tolerance"])
    code, text = run("log", log, "--robot", arm2)
    assert code == 0 and "2 steps of 2π" in text
    for words in (
        ("log", log),
        ("log", log, "--robot", arm2, "--no-unwrap"),
        ("identify", arm2, log, "--fit", "friction", "--no-unwrap"),
    ):
        code, text = run(*words)
        assert code == 1 and "turn: 2 jumps of up to 6.2" in text and "2 of them of a turn of 2π" in text, text
    assert run("log", log, "--unwrap")[0] == 0


def test_n02_estimated_torques_take_the_turns_out(shared: Path, tmp_path: Path, arm2: Path) -> None:
    log, out = case(shared, "N02") / "wrapped.csv", tmp_path / "torques.csv"
    code, text = run("estimate-torque", arm2, log, "--loss", "nodes", "--out", out)
    assert code == 0 and "2 steps of 2π are taken out" in text, text
    q = read_log(out).q[:, 0]
    assert np.abs(np.diff(q)).max() < 0.1 and q.max() > 10.0
    code, text = run("estimate-torque", arm2, log, "--loss", "nodes", "--no-unwrap", "--out", tmp_path / "none.csv")
    assert code == 1 and "turn: 2 jumps" in text and not (tmp_path / "none.csv").exists()


@pytest.mark.parametrize("name", ["zero", "reversed", "degrees"])
def test_n03_rates_that_are_not_those_of_the_positions(shared: Path, tmp_path: Path, arm2: Path, name: str) -> None:
    log, out = case(shared, "N03") / f"{name}.csv", tmp_path / "out"
    ratio = json.loads((case(shared, "N03") / "expected.json").read_text())["ratio"][f"{name}.csv"]
    said = "ratio 0" if ratio == 0.0 else f"dq is {ratio:.3g} times the slope of q"
    commands = {
        "log": ("log", log, "--out", out),
        "identify": ("identify", arm2, log, "--fit", "friction", "--out", out),
        "estimate-torque": ("estimate-torque", arm2, log, "--loss", "nodes", "--out", out),
    }
    for words in commands.values():
        code, text = run(*words)
        assert code == 1 and not out.exists(), text
        for joint in ("turn", "elbow"):
            line = next(line for line in text.splitlines() if line.startswith(f"  {joint}: "))
            assert said in line.replace("57.29", "57.3") and "--rates positions" in line, text
    code, text = run(*commands["identify"], "--rates", "positions")
    found = json.loads(out.read_text())["parameters"]
    assert code == 0 and found["friction.viscous.turn"]["value"] == pytest.approx(0.8, abs=0.02)
    assert run(*commands["estimate-torque"], "--rates", "positions")[0] == 0
    assert run(*commands["log"], "--accept", "rates,speed")[0] == 0


def test_n04_a_log_in_degrees(shared: Path, tmp_path: Path, arm2: Path) -> None:
    log, out = case(shared, "N04") / "degrees.csv", tmp_path / "out.csv"
    for words in (
        ("log", log, "--robot", arm2, "--out", out),
        ("identify", arm2, log, "--fit", "friction", "--out", out),
        ("estimate-torque", arm2, log, "--loss", "nodes", "--out", out),
    ):
        code, text = run(*words)
        assert code == 1 and not out.exists(), text
        assert "elbow: q is 83.2 rad outside of -2.5 to 2.5" in text and "(--degrees)" in text
        assert "turn: its speed of 116" in text
        code, text = run(*words, "--degrees")
        assert code == 0 and out.exists(), text
        out.unlink()
