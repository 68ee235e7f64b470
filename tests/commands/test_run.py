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
from diffpbd.runtime.commands.options.laws import configured
from diffpbd.runtime.commands.options.mending import FollowWords
from diffpbd.runtime.commands.run import command
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
