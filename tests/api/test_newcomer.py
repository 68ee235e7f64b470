"""Obstacles that a newcomer ran into: each is said, refused or possible now."""

from __future__ import annotations

import dataclasses
import datetime
import io
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated, loaded

import diffpbd
from diffpbd.codegen.description.front.resolve import find_recipe, resolve
from diffpbd.codegen.description.recipe.options import option_words
from diffpbd.codegen.description.recipe.recipe import default_recipe, with_options
from diffpbd.runtime import cli
from diffpbd.runtime.api.progress import terminal
from diffpbd.runtime.base.names import hint
from diffpbd.runtime.folder.manifest import Loop
from diffpbd.runtime.loop.recorder import csv_columns
from diffpbd.runtime.report.movie import sticks
from diffpbd.runtime.report.svg import Curve, lines

ROOT = Path(__file__).resolve().parents[2]
FOUR_BAR = ROOT / "docs" / "examples" / "four_bar" / "four_bar.urdf"
PENDULUM = generated("double_pendulum")


def said(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(cli.cli, [str(word) for word in words])
    return done.exit_code, done.output


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_base_on_the_floor_is_not_one_in_a_vertical_plane() -> None:
    urdf = str(find_recipe("double_pendulum").urdf)
    names = {kind: [j.name for j in resolve(urdf, base_joint=kind)[1].joints[:3]] for kind in ("planar", "floor")}
    assert names == {"planar": ["base_x", "base_z", "base_turn"], "floor": ["base_x", "base_y", "base_turn"]}
    assert resolve(urdf, base_joint="floor")[1].base_joint == "planar"


def test_a_loop_and_a_ground_without_a_recipe() -> None:
    plain = default_recipe(FOUR_BAR)
    recipe = with_options(plain, close="coupler=rocker:hinge", ground=0.25, passive=["j2", "j3"])
    (loop,), (plane,) = recipe.loops, recipe.touching.planes
    assert (loop.type, loop.parent, loop.child, loop.axis) == ("hinge", "coupler", "rocker", (0.0, 0.0, 1.0))
    assert (plane.name, plane.point, plane.normal) == ("ground", (0.0, 0.0, 0.25), (0.0, 0.0, 1.0))
    words = "--passive j2 --passive j3 --close coupler=rocker:hinge --ground 0.25"
    assert option_words(recipe, plain) == words.split()
    assert with_options(plain, close="a=b").loops[0].type == "ball"
    for wrong in ("coupler", "coupler=", "a=b:rope"):
        with pytest.raises(diffpbd.InputError, match="expected LINK=LINK or LINK=LINK:TYPE"):
            with_options(plain, close=wrong)


def test_a_loop_is_closed_by_a_ball_where_two_frames_meet(here: Path) -> None:
    """Two links whose frames are the ends of a four-bar's chains: the same rows as those of its recipe."""
    text = FOUR_BAR.read_text(encoding="utf-8")
    ends = "".join(
        f'<link name="{link}_end"/><joint name="{link}_at" type="fixed"><parent link="{link}"/>'
        f'<child link="{link}_end"/><origin xyz="{x} 0 0"/></joint>'
        for link, x in (("coupler", 0.42), ("rocker", 0.48))
    )
    Path("bar.urdf").write_text(text.replace("</robot>", f"{ends}</robot>"), encoding="utf-8")
    tips = ("--tip", "pen", "--tip", "rocker_end", "--tip", "coupler_end")
    code, words = said("check", "bar.urdf", "--close", "coupler_end=rocker_end", *tips)
    assert code == 0 and "ball between coupler" in words and "rows kept gap_x, gap_z" in words, words


def test_hints_can_be_followed() -> None:
    code, words = said("generate", "double_pendulm")
    assert code == 1 and "Did you mean double_pendulum?" in words
    again = loaded("double_pendulum").manifest.again("--cuda")
    assert again.startswith("diffpbd generate ") and again.endswith(" --cuda")
    with pytest.raises(diffpbd.InputError, match="neither a policy nor a log 'gravty'. Did you mean gravity"):
        diffpbd.simulate(loaded("double_pendulum"), "gravty")
    code, words = said("simulate", PENDULUM, "--torque", "gravty", "--out", "none.csv")
    assert code == 1 and "neither a policy nor a log 'gravty'. Did you mean gravity?" in words


def test_no_name_is_meant_twice() -> None:
    assert hint("frction", ["friction", "friction"]) == "Did you mean friction?"


def test_a_start_outside_limits_is_refused_on_the_command_line_too(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the start at zero that nobody gave."""
    code, words = said("mpc", PENDULUM, "--goal", '{"elbow": 0.1}', "--q0", '{"elbow": 9}', "--out", "run.csv")
    assert code == 1 and "--q0: joint elbow: 9 rad is outside" in words
    monkeypatch.setattr(diffpbd.Robot, "neutral", property(lambda _robot: np.array([0.0, 9.0])))
    code, words = said("mpc", PENDULUM, "--goal", '{"elbow": 0.1}', "--out", "run.csv")
    assert code == 1 and "the start, which is zero without --q0: joint elbow: 9 rad is outside" in words


def test_a_recording_of_a_run_is_not_overwritten(here: Path) -> None:
    Path("run.csv").write_text(",".join(csv_columns(("shoulder", "elbow"))) + "\n", encoding="utf-8")
    code, words = said("simulate", PENDULUM, "--duration", "0.1", "--out", "run.csv")
    assert code == 1 and "run.csv is a recording by `diffpbd run`" in words
    assert said("simulate", PENDULUM, "--duration", "0.1", "--out", "sim.csv")[0] == 0
    assert said("simulate", PENDULUM, "--duration", "0.1", "--out", "sim.csv")[0] == 0  # its own may be made again


def test_torques_beyond_effort_limits_are_said() -> None:
    robot = loaded("double_pendulum")
    most = robot.limits.effort
    run = diffpbd.simulate(robot, np.array([0.0, 2.0 * most[1]]), duration=0.05)
    assert len(run.notes) == 1 and run.notes[0].startswith(f"elbow was driven with up to {2 * most[1]:.4g} N·m")
    assert "beyond its effort limit" in repr(run)
    assert diffpbd.simulate(robot, most, duration=0.05).notes == []


def test_a_change_of_energy_by_torques_is_no_share(here: Path) -> None:
    code, words = said("simulate", PENDULUM, "--torque", "gravity", "--q0", '{"elbow": 0.3}', "--out", "a.csv")
    assert code == 0 and "work of torques, friction and contact included" in words and "% of the kinetic" not in words
    code, words = said("simulate", PENDULUM, "--q0", '{"elbow": 0.3}', "--out", "a.csv")
    assert code == 0 and "% of the kinetic energy's range" in words


def test_a_report_says_command_and_date(here: Path) -> None:
    assert said("simulate", PENDULUM, "--duration", "0.1", "--out", "a.csv", "--report", "a.html")[0] == 0
    page = Path("a.html").read_text(encoding="utf-8")
    assert f"diffpbd simulate {PENDULUM} --duration 0.1" in page and f"{datetime.datetime.now():%Y-%m-%d}" in page


def test_a_loop_is_drawn_in_a_movie() -> None:
    robot = diffpbd.load(PENDULUM)
    facts, poses = robot.manifest.robot, np.zeros((2, 2))
    open_tree = sticks(robot, poses)
    loop = Loop("rod", "ball", robot.links[0], robot.links[1], (), ())
    robot.manifest = dataclasses.replace(robot.manifest, robot=dataclasses.replace(facts, loops=(loop,)))
    drawn = sticks(robot, poses)
    assert drawn.shape[1] == open_tree.shape[1] + 1
    ends = {tuple(np.round(end, 9)) for end in open_tree[0].reshape(-1, 3)}
    assert all(tuple(np.round(end, 9)) in ends for end in drawn[0].reshape(-1, 3))


def test_rounding_is_drawn_as_a_straight_line() -> None:
    time = np.linspace(0.0, 1.0, 20)
    drawn = lines([Curve(time, 1e-16 * np.sin(9.0 * time), "#000")], "time [s]", "[rad]")
    assert "e-1" not in drawn
    assert "e-05" in lines([Curve(time, 1e-4 * np.sin(9.0 * time), "#000")], "time [s]", "[rad]")


def test_python_shows_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with terminal(None) as say:
        assert say is not None
        say("deriving")
        say("warning [gyration] stays")
    assert screen.getvalue() == "\r\x1b[Kderiving\r\x1b[Kwarning [gyration] stays\n\r\x1b[K"
    with terminal(print) as say:
        assert say is print
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with terminal(None) as say:
        assert say is None
