"""`diffpbd run` as far as it goes without a graph: refusals, and what its options make of a configuration."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated, with_table

from diffpbd.runtime import load
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.cli import cli
from diffpbd.runtime.commands.mending_options import FollowWords
from diffpbd.runtime.commands.run import command
from diffpbd.runtime.commands.run_laws import configured
from diffpbd.runtime.loop.configuration import Configuration

GOAL = (0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0)


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["run", *map(str, words)])
    return result.exit_code, result.output


def configuration(folder: Path, *words: object) -> Configuration:
    options = command.make_context("run", [str(folder), *map(str, words)]).params
    of_log = FollowWords(
        **{f.name: options[f.name] for f in fields(FollowWords) if f.name != "rate" and options.get(f.name) is not None}
    )
    return configured(load(folder), options, of_log)


def test_a_recording_without_its_configuration(tmp_path: Path) -> None:
    log = tmp_path / "first.csv"
    log.write_text("time\n0\n")
    code, output = run(generated("baxter_bare"), "--transport", "replay", "--from", log)
    assert code == 1 and "wrote beside it as first.json, is not there" in " ".join(output.split()), output


def test_what_a_replay_does_not_use(tmp_path: Path) -> None:
    words = ("--transport", "replay", "--from", tmp_path, "--no-live")
    code, output = run(generated("baxter_bare"), *words, "--goal", "{}", "--log", tmp_path / "new.csv")
    assert code == 1 and "note: --log, --goal: not used; a replay takes all from LOG" in output, output
    assert "is a folder; a log of `diffpbd run`" in output
    assert "not used" not in run(generated("baxter_bare"), *words)[1]


@pytest.mark.parametrize(
    "words", [("--degrees",), ("--time-unit", "ms"), ("--flip", "left_s0"), ("--map", "x.json"), ("--bridge-jumps",)]
)
def test_words_about_a_log_need_one(words: tuple[str, ...]) -> None:
    code, output = run(generated("baxter_bare"), *words)
    assert code == 2 and "expected --reference LOG with it" in output, output


def test_a_reference_in_degrees(tmp_path: Path) -> None:
    joints = load(generated("baxter_bare")).joints
    log = tmp_path / "log.csv"
    rows = [",".join(f"{math.degrees(angle):.9f}" for angle in GOAL) + ",0" * 7 for _ in range(50)]
    head = ",".join(["time", *(f"q_{joint}" for joint in joints), *(f"dq_{joint}" for joint in joints)])
    log.write_text("\n".join([head, *(f"{0.01 * k},{row}" for k, row in enumerate(rows))]) + "\n")
    words = ("--controller", "mpc", "--reference", log)
    made = configuration(generated("baxter_bare"), *words, "--degrees")
    np.testing.assert_allclose(made.controller["reference"]["q"], [GOAL] * 50, atol=1e-9)
    with pytest.raises(InputError, match="--degrees|beyond|limit"):
        configuration(generated("baxter_bare"), *words)


def test_the_recipes_table_is_the_default(tmp_path: Path) -> None:
    plain = generated("baxter_bare")
    high = with_table(plain, tmp_path / "high", 0.2)
    goal = ("--controller", "impedance", "--goal", list(GOAL))
    made = configuration(high, *goal)
    assert made.table == 0.2 and configuration(plain, *goal).table is None
    with pytest.raises(InputError, match="The goal cannot be reached: left_wrist comes down"):
        made.check_goals(load(high))
    lower = configuration(high, *goal, "--table", -0.3)
    assert lower.table == -0.3
    lower.check_goals(load(high))


@pytest.mark.parametrize(
    "law, words, said",
    [
        ("gravity", ("--damping", '{"left_e0": -0.1}'), "--damping: left_e0: expected from 0 to 1000 N·m·s/rad"),
        ("gravity", ("--damping", '{"left_w2": 301}'), "--damping: left_w2: expected from 0 to 300 N·m·s/rad"),
        ("impedance", ("--stiffness", '{"left_s1": 1e308}'), "--stiffness: left_s1: expected from 0 to 5000 N·m/rad"),
        ("impedance", ("--goal-speed", 5), "--goal-speed: expected above 0 to 4 rad/s"),
        ("cartesian", ("--tip-stiffness", "[200, 200, 200, 5, 0, 5]"), "--tip-stiffness: number 5: expected above 0 to 300"),
        ("cartesian", ("--tip-offset", "[0, 0, 3]"), "--tip-offset: number 3: expected from -2 to 2 m"),
        ("mpc", ("--weights", '{"du": -1}'), "--weights: du: expected from 0 to 1e+09"),
    ],
)  # fmt: skip
def test_options_of_laws_have_both_ends(law: str, words: tuple[object, ...], said: str) -> None:
    code, output = run(generated("baxter_bare"), "--controller", law, *words)
    found = " ".join(output.split())
    assert code == 1 and said in found and "Give a number in that range." in found, output


@pytest.mark.parametrize(
    "options",
    [("--transport", "replay"), ("--from", "x.bag"), ("--torque-share", 2), ("--plot", "x.png")],
    ids=lambda o: o[0],
)
def test_wrong_usage(options: tuple[object, ...]) -> None:
    result = CliRunner().invoke(cli, ["run", str(Path(__file__).parent), *map(str, options)])
    assert result.exit_code in (1, 2) and isinstance(result.exception, (SystemExit, InputError))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--controller", "cartesian", "--tip-offset", "[0, 0]"), "expected a list of 3 numbers"),
        (("--controller", "cartesian", "--tip-stiffness", "[1, 1, 1, 1, 1, true]"), "expected a list of 6 numbers"),
        (("--controller", "impedance", "--net-torque-map", "nowhere.json"), "nowhere.json"),
        (("--controller", "impedance", "--net-torque-map", "wrong.json"), "not a net torque map"),
    ],
)
def test_what_is_wrong_with_a_law_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple, told: str
) -> None:
    (tmp_path / "wrong.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, [str(generated("baxter_bare")), *options, "--transport", "simulated"])
    assert isinstance(done.exception, InputError) and told in str(done.exception)
