"""What users give by mistake: refused in one line, and nothing is written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from diffpbd.codegen.convergence import converge
from diffpbd.codegen.description.resolve import ROBOTS
from diffpbd.runtime import InputError, Robot, SolverError, cli
from diffpbd.runtime.base.files import distinct, parse_json, write_atomic
from diffpbd.runtime.identify import Settings, identify
from diffpbd.runtime.identify.torque_form import _failures
from diffpbd.runtime.logs.csv import read_log
from diffpbd.runtime.logs.processing import Processing
from diffpbd.runtime.simulate.simulation import simulate


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


def test_absurd_logs_and_options(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("q_a,dq_a\n0,0\n0,2e12\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"sample 2, column dq_a: expected a number within"):
        read_log(path, rate=10)
    path.write_text("q_a,dq_a\n0,0\n", encoding="utf-8")
    for rate in (1e-300, 1e300, np.inf, np.nan):
        with pytest.raises(InputError, match="--rate"):
            read_log(path, rate=rate)
    for value in (1e-300, 1e300, np.inf, np.nan):
        with pytest.raises(InputError, match="--cutoff"):
            Processing(cutoff=value)
    for value in (1e300, np.inf, np.nan):
        with pytest.raises(InputError, match="--trim"):
            Processing(trim=value)


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


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2", None])
def test_threads(twin: Robot, threads: Any) -> None:
    for call in (lambda: twin.gravity([0, 0], threads=threads), lambda: twin.gravity([[0, 0]], threads=threads)):
        with pytest.raises(InputError, match="threads: expected a whole number"):
            call()
    with pytest.raises(InputError, match="threads"):
        twin.rollout([0, 0], [0, 0], [[0, 0]], threads=threads)


def test_alpha_in_order_is_taken_as_it_is_but_for_booleans(twin: Robot) -> None:
    p = np.zeros(2)
    below = twin.alpha.vector({}) - 1e-9
    twin.gravity(p, alpha=below)
    with pytest.raises(InputError, match="found a boolean"):
        twin.gravity(p, alpha=[True] * len(below))


def test_simulate_refuses_infinite_energy(twin: Robot) -> None:
    with pytest.raises(SolverError, match="not finite"):
        simulate(twin, duration=0.1, start=(None, [1e200, 0]))


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
        ("reproduce", "gravity-compensation", "twin", "--out", "a.png", "--table", "generated/twin/manifest.json"),
        ("reproduce", "gravity-compensation", "twin", "--data", ".", "--out", "p.json"),
        ("reproduce", "circle", "twin", "--description", "arm.urdf", "--out", "a.png", "--table", "arm.urdf"),
    ):
        assert "is the same file as" in refused(*words), words
    assert "folder" in refused("export", "arm.urdf", "--out", "none/arm.urdf")
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("prior", [0.0, -1.0, np.nan, np.inf, 1e300])
def test_priors(twin: Robot, prior: float) -> None:
    with pytest.raises(InputError, match="--prior: expected a weight from 1e-09 to 1e"):
        identify(twin, [], ["friction"], settings=Settings(prior=prior))


def test_numbers_and_names_of_many_digits(here: Path) -> None:
    assert "joint a: expected a finite number" in refused(
        "simulate", "twin", "--q0", f"[1{'0' * 400}, 0]", "--out", "a.csv"
    )
    for command in ("info", "generate", "check"):
        assert "too long" in refused(command, "n" * 300)
    assert "same file as ROBOT" in refused("simulate", "twin", "--out", "generated/twin/manifest.json")
