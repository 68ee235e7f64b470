"""Mistakes of users: refused in one line, and nothing is written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from diffpbd.codegen.description.front.resolve import ROBOTS
from diffpbd.runtime import InputError, Robot, SolverError, cli
from diffpbd.runtime.base.files import distinct, parse_json, write_atomic
from diffpbd.runtime.identify.doors.torque_form import _failures
from experiments.method.convergence import converge


@pytest.fixture
def here(tmp_path: Path, twin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(twin_folder, tmp_path / "generated" / "twin")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(cli.cli, arguments)
    assert result.exit_code == 1 and isinstance(result.exception, SystemExit), result.output
    return result.stderr


def test_writing_keeps_links_modes_and_nodes(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o640)
    link.symlink_to(target)
    write_atomic(link, "new")
    assert link.is_symlink() and target.read_text(encoding="utf-8") == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="not a regular file"):
        write_atomic(pipe, "new")
    assert pipe.is_fifo()
    write_atomic("/dev/null", "new")
    assert Path("/dev/null").is_char_device()
    write_atomic(tmp_path / ("n" * 255), "a name as long as may be")
    with pytest.raises(InputError, match="empty"):
        write_atomic("", "new")


def test_outputs_are_distinct_and_writable(tmp_path: Path) -> None:
    a, link = tmp_path / "a", tmp_path / "link"
    link.symlink_to(a)
    distinct([("--out", a), ("--plot", None), ("--x", "/dev/null"), ("--y", "/dev/null")], [("LOG", tmp_path / "b")])
    for outputs, inputs, words in (
        ([("--out", a), ("--plot", link)], [], "--plot .* is the same file as --out"),
        ([("--out", link)], [("LOG", a)], "is the same file as LOG"),
        ([("--out", "")], [], "empty string"),
        ([("--out", tmp_path)], [], "it is a folder"),
        ([("--out", tmp_path / "none" / "a")], [], "there is no folder"),
        ([("--out", tmp_path / ("n" * 300))], [], "name too long"),
    ):
        with pytest.raises(InputError, match=words):
            distinct(outputs, inputs)


def test_integers_of_many_digits() -> None:
    if hasattr(sys, "get_int_max_str_digits"):
        with pytest.raises(InputError, match="is not JSON"):
            parse_json("1" * 5000, "x")


def test_a_failed_decomposition_is_a_solver_error() -> None:
    with pytest.raises(SolverError, match="did not converge"), _failures():
        raise np.linalg.LinAlgError("SVD did not converge")


@pytest.mark.parametrize("bad", [{"shift": np.inf}, {"turn": np.nan}, {"shift": -1.0}, {"turn": 2.0}])
def test_detachments(bad: dict[str, float]) -> None:
    with pytest.raises(InputError, match="expected a number from 0"):
        converge("double_pendulum", sweeps=1, **bad)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_standard_output_is_one_line(twin_folder: Path) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "diffpbd.runtime.cli", "info", str(twin_folder)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and done.stderr.startswith("Error: standard output") and done.stderr.count("\n") == 1


def test_alpha_in_order_is_taken_as_it_is(twin: Robot) -> None:
    p = np.zeros(2)
    below = twin.alpha.vector({}) - 1e-9
    twin.gravity(p, alpha=below)


def test_no_command_overwrites_what_it_reads(here: Path) -> None:
    """Each of these destroyed its own input; a refusal leaves every byte."""
    urdf = Path("arm.urdf")
    urdf.write_bytes((ROBOTS / "double_pendulum.urdf").read_bytes())
    recipe = Path("arm.toml")
    recipe.write_text((ROBOTS / "double_pendulum.toml").read_text(encoding="utf-8").replace(
        "double_pendulum.urdf", "arm.urdf"), encoding="utf-8")  # fmt: skip
    Path("p.json").write_text("{}", encoding="utf-8")
    Path("link.urdf").symlink_to(urdf)
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    for words in (
        ("export", "arm.urdf", "--out", "arm.urdf"),
        ("export", "arm.urdf", "--out", "link.urdf"),
        ("export", "arm.toml", "--out", "arm.toml"),
        ("export", "arm.toml", "--out", "./arm.urdf"),
        ("export", "arm.urdf", "--params", "p.json", "--out", "p.json"),
        ("log", "arm.urdf", "--robot", "twin", "--out", "generated/twin/manifest.json"),
        ("run", "twin", "--params", "p.json", "--log", "p.csv"),
        ("run", "twin", "--reference", "r.csv", "--log", "r.csv"),
    ):
        assert "is the same file as" in refused(*words), words
    assert "folder" in refused("export", "arm.urdf", "--out", "none/arm.urdf")
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


def test_numbers_and_names_of_many_digits(here: Path) -> None:
    assert "joint a: expected a finite number" in refused(
        "simulate", "twin", "--q0", f"[1{'0' * 400}, 0]", "--out", "a.csv"
    )
    for command in ("info", "generate", "check"):
        assert "too long" in refused(command, "n" * 300)
    assert "same file as ROBOT" in refused("simulate", "twin", "--out", "generated/twin/manifest.json")
