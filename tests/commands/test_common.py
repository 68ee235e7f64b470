"""Options of every command: --json, --config, --robots, completion of names; one way to say what was written; progress."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from support.robots import generated

import diffpbd.runtime.commands.results.progress as showing
from diffpbd.codegen import heartbeat
from diffpbd.runtime.base.live import Loop, Share
from diffpbd.runtime.cli import COMMANDS, LazyGroup, cli

INTERACTIVE = {"run", "sim", "sim-baxter", "sim-fr3", "eval"}
"""They end when somebody stops them, or print JSON anyway."""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a robot among others."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "swing").symlink_to(generated("double_pendulum"), target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DIFFPBD_ROBOTS", raising=False)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def commands() -> dict[str, click.Command]:
    assert isinstance(cli, LazyGroup)
    return {name: cli.get_command(click.Context(cli), name) for name in COMMANDS}  # type: ignore[misc]


def test_every_command_that_prints_a_result_prints_json() -> None:
    options = {name: {word for p in command.params for word in p.opts} for name, command in commands().items()}
    assert {name for name, own in options.items() if "--json" not in own} <= INTERACTIVE
    assert all("--config" in own for own in options.values())


ROBOT = ("--robots", "mine", "swing")
LONG = ("--duration", "0.2")


def in_json(*words: str) -> dict[str, object]:
    done = run(*words, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_results_as_json(desk: Path) -> None:
    simulated = in_json("simulate", *ROBOT, *LONG, "--torque", "gravity", "--out", "run.csv")
    assert simulated["written"] == ["run.csv"] and simulated["steps"] == 20
    assert set(simulated["joints"]) == {"shoulder", "elbow"} and simulated["joints"]["elbow"]["unit"] == "rad"
    controlled = in_json("mpc", *ROBOT, *LONG, "--goal", "[0.9, 0]", "--horizon", "5", "--out", "mpc.csv")
    assert controlled["sources"] == {"solved": 20} and controlled["joints"]["shoulder"]["away"] > 0.05  # with a note
    estimated = in_json("estimate-torque", *ROBOT, "run.csv", "--cutoff", "0", "--out", "torques.csv")
    assert estimated["torques"] == 20 and estimated["joints"]["shoulder"]["rmse"] < 1e-6
    logged = in_json("log", "run.csv", "--cutoff", "0")
    assert logged["parts"][0]["samples"] == 21 and logged["written"] == []
    mapped = in_json("net-torque-map", *ROBOT, "--joint", "elbow", "--grid", "3", "3", "--out", "map")
    assert mapped["grid"] == [3, 3] and len(mapped["written"]) == 3
    exported = in_json("export", "double_pendulum", "--out", "new.urdf")
    assert exported["mass"] == exported["mass_before"] and exported["written"] == ["new.urdf"]


def test_words_end_with_what_was_written(desk: Path) -> None:
    for words in (
        ("simulate", *ROBOT, *LONG, "--out", "run.csv"),
        ("mpc", *ROBOT, *LONG, "--goal", "[0.001, 0]", "--horizon", "5", "--out", "run.csv"),
        ("export", "double_pendulum", "--out", "run.csv"),
        ("log", "run_.csv", "--cutoff", "0", "--out", "run.csv"),
    ):
        run("simulate", *ROBOT, *LONG, "--out", "run_.csv")
        done = run(*words)
        assert done.exit_code == 0, done.output
        assert done.output.splitlines()[-1] == "written: run.csv", words


def test_units_stand_beside_rates_and_torques(desk: Path) -> None:
    table = run("simulate", *ROBOT, *LONG, "--out", "run.csv").output
    row = next(line.split() for line in table.splitlines() if line.startswith("elbow"))
    assert row[2::2] == ["rad", "rad/s", "N·m"]
    slide = run("simulate", str(generated("prismatic_skew")), *LONG, "--out", "run.csv").output
    assert any(line.split()[2::2] == ["m", "m/s", "N"] for line in slide.splitlines())


def test_a_file_of_options(desk: Path) -> None:
    Path("mpc.toml").write_text(
        'robot = "mine/swing"\nhorizon = 7\ngoal = { elbow = 0.05 }\nduration = 0.05\n'
        'bounds = { u = [30, 20] }\ndisturbance = true\nout = "run.csv"\n'
    )
    data = in_json("mpc", "--config", "mpc.toml")
    assert data["ticks"] == 5 and data["written"] == ["run.csv"]
    assert in_json("mpc", "--config", "mpc.toml", "--duration", "0.03", "mine/swing")["ticks"] == 3, (
        "the command line wins"
    )
    Path("fit.toml").write_text(
        'fit = ["friction.viscous", "payload.mass"]\nvalidate = ["run.csv"]\ncutoff = 0\nfix = { "payload.mass" = 0 }\n'
    )
    run("simulate", *ROBOT, "--duration", "2", "--q0", "[1, 1]", "--out", "run.csv")
    fitted = in_json("identify", *ROBOT, "run.csv", "--config", "fit.toml", "--accept", "constant")  # a free swing
    assert set(fitted["parameters"]) == {"friction.viscous.shoulder", "friction.viscous.elbow"}
    assert fitted["rmse"]["validate"]


def test_tables_by_joint_in_a_file_of_options(desk: Path) -> None:
    Path("fit.toml").write_text(
        "drive_gain = { elbow = 2.5, shoulder = 2 }\ngains = { elbow = [400, 40] }\nfix = { 'payload.mass' = 0.5 }\n"
    )
    words = ["swing", "run.csv", "--config", "fit.toml", "--form", "didim"]
    given = commands()["identify"].make_context("identify", words).params
    assert given["drive_gain"] == {"elbow": 2.5, "shoulder": 2.0} and given["gains"] == {"elbow": (400.0, 40.0)}
    assert given["fix"] == {"payload.mass": 0.5}


@pytest.mark.parametrize(("text", "words"), [
    ("horizon = ", "is not TOML"),
    (f"horizon = {'[' * 100_000}", "--config wrong.toml is nested too deep to be read."),
    (f"horizon.{'.'.join('a' * 3000)} = 1", "--config wrong.toml is nested too deep to be read."),
], ids=lambda value: value[:30])  # fmt: skip
def test_a_file_of_options_that_cannot_be_read(desk: Path, text: str, words: str) -> None:
    Path("wrong.toml").write_text(text)
    done = run("mpc", *ROBOT, "--goal", "[0, 0]", "--out", "run.csv", "--config", "wrong.toml")
    assert done.exit_code == 1 and words in done.output and not Path("run.csv").exists()


def test_robots_are_found_from_anywhere(desk: Path) -> None:
    assert "no generated robot 'swing'" in run("info", "swing").output
    assert "double_pendulum: 2 joints" in run("info", *ROBOT).output
    assert "DIFFPBD_ROBOTS" not in os.environ, "the option is for one command"
    assert (
        "double_pendulum: 2 joints"
        in CliRunner(env={"DIFFPBD_ROBOTS": "none:mine"}).invoke(cli, ["info", "swing"]).output
    )


@pytest.mark.thorough
def test_names_are_completed(desk: Path) -> None:
    def offered(words: str) -> list[str]:
        environment = {
            **os.environ, "_DIFFPBD_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split())),
            "DIFFPBD_ROBOTS": "mine",
        }  # fmt: skip
        code = [sys.executable, "-c", "from diffpbd.command import main; main()"]
        done = subprocess.run(code, env=environment, capture_output=True, text=True, check=False)
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert offered("diffpbd simulate ")[:1] == ["baxter"] and "swing" in offered("diffpbd simulate ")
    assert "simulate" in offered("diffpbd ")


def test_a_run_without_a_single_plan_is_a_failure(desk: Path) -> None:
    words = ("mpc", *ROBOT, "--goal", "[0.1, 0]", "--duration", "0.05", "--out", "run.csv", "--weights")
    failed = run(*words, '{"p": 1e308}')
    assert failed.exit_code == 1 and "5 fall back" in failed.output and "No tick had a plan" in failed.output
    assert run(*words, '{"p": 1}').exit_code == 0


def test_progress_in_a_file_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(heartbeat, "PERIOD", 0.2)
    monkeypatch.setattr(heartbeat.Heartbeat.__init__, "__defaults__", (10.0,))
    with showing.progress() as say:
        say("Reading logs")
        for k in range(1, 61):
            say(Share(f"iteration {k}", k / 60))
            time.sleep(0.01)
    said = capsys.readouterr()
    lines = said.err.splitlines()
    assert not said.out and lines[0] == "Reading logs" and lines[1].startswith("iteration ") and " %, " in lines[1]
    assert 3 <= len(lines) <= 6 and all(line.endswith(" left") for line in lines[1:])


def test_a_watched_loop_says_how_far_it_is_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(heartbeat, "PERIOD", 0.1)
    loop = Loop(40, "tick")
    with showing.watched(loop, wanted=True):
        for _ in range(20):
            loop.add(1e-3)
            time.sleep(0.02)
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 5
    assert "of 40 ticks" in lines[-1] and "left" in lines[-1] and float(lines[-1].split(" %")[0].split()[-1]) > 20
    with showing.watched(loop, wanted=False):
        time.sleep(0.15)
    assert capsys.readouterr().err == ""


def test_help_is_quick() -> None:
    best = np.inf
    for _ in range(2):
        begin = sum(os.times()[2:4])
        subprocess.run(
            [sys.executable, "-c", "from diffpbd.command import main; main(['--help'])"],
            check=True,
            capture_output=True,
        )
        best = min(best, sum(os.times()[2:4]) - begin)
    assert best < 0.4  # s of CPU
