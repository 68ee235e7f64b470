"""Q01, Q04, Q05, Q07, Q19 by the commands that their authors would type: intake and export lose nothing in silence."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pinocchio
import pytest
from click.testing import CliRunner, Result
from support.robots import generated

from diffpbd.runtime import cli


@pytest.fixture(scope="module")
def cases(shared: Path) -> Path:
    return shared / "cases"


def folder_of(cases: Path, name: str) -> tuple[Path, Any]:
    folder = next(cases.glob(f"{name}-*"))
    return folder, json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def run(*words: Any) -> Result:
    return CliRunner().invoke(cli.cli, [str(word) for word in words])


def test_an_arm_beside_a_loose_cube(cases: Path) -> None:
    folder, expected = folder_of(cases, "Q01")
    for option, key in (("--base pedestal", "base_pedestal"), ("--hold cube_free", "hold_cube_free")):
        found = run("check", folder / "scene.xml", *option.split())
        assert found.exit_code == expected[key]["exit"] == 0, found.output
        assert "joints: shoulder, elbow" in found.output and "moving mass: 1.2 kg" in found.output
        assert "0 errors, 0 warnings" in found.output
    refused = run("check", folder / "scene.xml")
    assert refused.exit_code == 1 and "--hold cube_free" in refused.output and "--base" in refused.output


def test_gears_and_ranges_of_motors(cases: Path) -> None:
    folder, expected = folder_of(cases, "Q04")
    low, high = expected["effort"]["d"]
    found = run("check", folder / "arm.xml")
    assert found.exit_code == 0
    assert f'joint "d": its motors give from {low} to {high}; an effort is one bound for both' in found.output


def test_an_exported_urdf_is_taken_by_others(cases: Path, tmp_path: Path) -> None:
    folder, expected = folder_of(cases, "Q05")
    found = run("export", folder / "arm.xml", "--out", tmp_path / "arm.urdf")
    assert found.exit_code == 0, found.output
    assert pinocchio.buildModelFromUrdf(str(tmp_path / "arm.urdf")).nv in expected["nv"]
    said = r"joints without a bound have 1e\+12 in <limit (effort|velocity)>, which readers demand: \"a\""
    assert len(re.findall(said, found.output)) == 2


def test_an_exported_urdf_says_what_it_lacks(cases: Path, tmp_path: Path) -> None:
    folder, expected = folder_of(cases, "Q07")
    found = run("export", folder / "arm.xml", "--out", tmp_path / "arm.urdf")
    numbers = " ".join(f"{x:g}" for x in expected["gravity_in_mjcf"])
    assert f"a URDF cannot hold gravity: here {numbers} m/s², readers take 0 0 -9.81" in found.output
    for word in ("rotor inertia", "a joint spring"):
        assert f"a URDF cannot hold {word}" in found.output


def test_the_friction_of_a_file(cases: Path) -> None:
    folder, expected = folder_of(cases, "Q19")
    found = run("check", folder / "puck.toml")
    assert found.exit_code == 0
    assert found.output.count(f"friction {expected['friction']}\n") == 8 and "gyration" not in found.output


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_options_that_take_a_nan_for_impossible(cases: Path, tmp_path: Path) -> None:
    """Q10: every source that computes refuses them."""
    folder, _ = folder_of(cases, "Q10")
    made = generated(str(folder / "arm.urdf"), symbolic=("mass", "com", "inertia"))
    for options in ("-O3 -ffast-math", "-Ofast", "-O2 -ffinite-math-only"):
        words = [
            "gcc",
            *options.split(),
            "-I",
            str(made),
            "-c",
            str(made / "src" / "joint_step.c"),
            "-o",
            str(tmp_path / "o"),
        ]
        refused = subprocess.run(words, capture_output=True, text=True)
        assert refused.returncode != 0 and "take away the checks for NaN" in refused.stderr


def test_an_exported_urdf_says_what_other_readers_leave_out(cases: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.urdf"
    looped = run("export", next(cases.glob("C02-*")) / "triple.toml", "--out", out)
    assert 'closed loops are <loop_joint>, which most readers leave open: "pin1", "pin2"' in looped.output
    led = run("export", next(cases.glob("Q05-*")) / "arm.xml", "--out", out)
    assert 'joints that follow others have <mimic>, which some readers leave free: "c"' in led.output
    (tmp_path / "values.json").write_text('{"limit.lower.j1": -0.5, "limit.slip": 0.001}', encoding="utf-8")
    stops = next(cases.glob("C04-*")) / "stops.toml"
    found = run("export", stops, "--params", tmp_path / "values.json", "--out", out)
    assert "a URDF cannot hold how a joint's stop gives way: limit.slip = 0.001" in found.output
    assert out.read_text(encoding="utf-8").count('lower="-0.5"') == 1
