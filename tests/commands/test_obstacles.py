"""Obstacles of a command line and of files: what is read, what is refused, and that plans and runs keep away from them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.planning.around_a_ball import BALL, CURVED, GOAL, LEAST, START, STEPS, WIDTH, H, apart, planar

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.cli import cli
from diffpbd.runtime.commands.options.obstacles import ObstacleWords, of_words, read_obstacles
from diffpbd.runtime.logs.csv import read_log

ROWS = {
    "spheres": [[0.4, 0.0, 0.3, 0.1], [1.0, 2.0, 3.0, 0.0]],
    "capsules": [[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.05]],
    "boxes": [[1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.2, 0.3, 0.4]],
    "planes": [[0.0, 0.0, 1.0, -0.5]],
}
SINGLE = {"spheres": "sphere", "capsules": "capsule", "boxes": "box", "planes": "plane"}


def words_of(rows: dict[str, list[list[float]]]) -> list[str]:
    return [f"{SINGLE[kind]}={','.join(map(str, row))}" for kind in rows for row in rows[kind]]


def test_words_and_files_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(ROWS))
    np.savez(tmp_path / "a.npz", **{kind: np.array(rows) for kind, rows in ROWS.items()})
    lines = ["# kind, numbers", *(word.replace("=", ", ").replace(",", ", ") for word in words_of(ROWS)), ""]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    assert of_words(words_of(ROWS)) == ROWS
    for name in ("a.json", "a.npz", "a.csv"):
        assert read_obstacles(tmp_path / name) == ROWS, name
    both = ObstacleWords(of_words(["sphere=1,1,1,1"]), str(tmp_path / "a.csv")).placed()
    assert both == {**ROWS, "spheres": [[1.0, 1.0, 1.0, 1.0], *ROWS["spheres"]]}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.txt", "", r"a\.txt: obstacles are read from \.json, \.npz or \.csv; found \.txt"),
        ("a.json", "[1]", "expected an object such as"),
        ("a.json", '{"sphere": [[0, 0, 0, 1]]}', "there is no kind 'sphere' of obstacles. Did you mean spheres"),
        ("a.json", '{"spheres": [[0, 0, 0]]}', r"a\.json: spheres: expected a row of 4 numbers each"),
        ("a.json", '{"spheres": "x"}', r"a\.json: .*expected numbers"),
        ("a.json", '{"boxes": [[0,0,0,0,0,0,0,1,1,1]]}', "has no direction"),
        (
            "a.csv",
            "sphere,0,0,0,1\nball,0,0,0,1",
            "line 2: expected KIND=X,Y,… with a KIND of sphere, capsule, box, plane",
        ),
        ("a.csv", "sphere,0,0,0,-1", "line 1: .*a length below 0 m"),
        ("a.csv", "sphere,0,0,1e300,1", r"line 1: spheres: row 0: expected numbers of at most 10000, found .*1e\+300"),
        ("a.csv", "# nothing\n", "no obstacle in it; expected lines KIND,X,Y"),
        ("a.npz", "no archive", r"a\.npz is no NPZ of numbers"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=words):
        read_obstacles(tmp_path / name)


def test_a_table_of_a_spreadsheet_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("sphere,1,2,3,0.5\n", encoding="utf-8-sig")
    assert read_obstacles(tmp_path / "a.csv") == {"spheres": [[1.0, 2.0, 3.0, 0.5]]}


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planar(tmp_path_factory.mktemp("planar"), ("mpc", "ik"))


def mpc(arm: Path, out: Path, *more: object) -> tuple[int, str]:
    goal = ("--q0", START.tolist(), "--goal", GOAL.tolist(), "--goal-speed", 1.4, "--h", H, "--horizon", STEPS)
    found = CliRunner().invoke(cli, ["mpc", str(arm), *map(str, (*goal, "--out", out / "run.csv", "--no-live", *more))])
    return found.exit_code, found.output


BALL_WORD = f"sphere={','.join(map(str, BALL))}"


@pytest.mark.parametrize("of_file", [False, True])
def test_a_plan_goes_around_what_the_command_line_places(arm: Path, tmp_path: Path, of_file: bool) -> None:
    (tmp_path / "ball.json").write_text(json.dumps({"spheres": [BALL.tolist()]}))
    placed = ("--obstacles", tmp_path / "ball.json") if of_file else ("--obstacle", BALL_WORD)
    code, said = mpc(arm, tmp_path, "--clearance", LEAST, "--clearance-hard", *placed)
    assert code == 0, said
    least = min(map(apart, read_log(tmp_path / "run.csv").q))
    assert LEAST - CURVED < least < LEAST + CURVED
    told = next(line for line in said.splitlines() if line.startswith("nearest: "))
    assert " and spheres 0 are " in told and float(told.split(" are ")[1].split()[0]) == pytest.approx(least, abs=6e-5)


def test_without_obstacles_it_goes_through_and_none_is_named(arm: Path, tmp_path: Path) -> None:
    code, said = mpc(arm, tmp_path, "--clearance", LEAST)
    assert code == 0 and "nearest" not in said
    assert min(map(apart, read_log(tmp_path / "run.csv").q)) < -0.02


def test_programs_are_told_what_came_nearest(arm: Path, tmp_path: Path) -> None:
    found = CliRunner(mix_stderr=False) if "mix_stderr" in CliRunner.__init__.__code__.co_varnames else CliRunner()
    words = [
        "mpc",
        str(arm),
        "--q0",
        str(START.tolist()),
        "--goal",
        str(GOAL.tolist()),
        "--goal-speed",
        "1.4",
        "--h",
        str(H),
    ]
    more = [
        "--clearance",
        str(LEAST),
        "--obstacle",
        BALL_WORD,
        "--out",
        str(tmp_path / "run.csv"),
        "--json",
        "--no-live",
    ]
    done = found.invoke(cli, [*words, *more])
    near = json.loads(done.stdout)["nearest"]
    assert near["between"][1] == "spheres 0" and near["touching_samples"] == 0
    assert near["distance"] == pytest.approx(min(map(apart, read_log(tmp_path / "run.csv").q)), abs=1e-9)


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (("--obstacle", BALL_WORD), 2, "--obstacle: a plan keeps away from obstacles by --clearance M"),
        (("--clearance", 0.02, "--obstacle", "ball=0,0,0,1"), 2, "expected KIND=X,Y,…"),
        (("--clearance", 0.02, "--obstacle", "sphere=0,0,1"), 2, "expected a row of 4 numbers"),
        (
            ("--clearance", 0.02, *("--obstacle", BALL_WORD) * 2),
            1,
            "2 are given, planar was generated with 1; `diffpbd generate",
        ),
        (("--clearance", 0.02, "--obstacle", "plane=0,0,1,-1"), 1, "--clearance --obstacles planes=1` has them"),
        (("--clearance", 0.02, "--obstacle", "sphere=0.2,0,0,0.3"), 1, "cannot be reached: upper and spheres 0 are"),
        (("--clearance", 0.02, "--obstacles", "nowhere.json"), 1, "nowhere.json cannot be read"),
    ],
)
def test_what_is_refused(arm: Path, tmp_path: Path, more: tuple[object, ...], code: int, words: str) -> None:
    found, said = mpc(arm, tmp_path, *more)
    assert found == code and words in " ".join(said.split()), said
    assert not (tmp_path / "run.csv").exists()


def test_inverse_kinematics_keeps_away_too(arm: Path) -> None:
    """The frame is at the elbow; the link beyond it points at a ball until it has to turn away."""
    way = np.array([np.cos(0.8), np.sin(0.8)])
    x, y = 0.6 * way
    words = ["ik", str(arm), "--position", json.dumps([*(0.4 * way), 0.0]), "--q0", "[0.7, 0.0]", "--json"]
    for more in ([], ["--obstacle", f"sphere={x},{y},0,0.05"]):
        done = CliRunner().invoke(cli, [*words, *more])
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        shoulder, elbow = (found["positions"][name] for name in ("shoulder", "elbow"))
        assert shoulder == pytest.approx(0.8, abs=1e-5)
        to_axis = 0.2 * abs(np.sin(elbow)) if np.cos(elbow) > 0.0 else 0.2
        assert (to_axis - 0.05 - WIDTH > -1e-6) == bool(more) == ("clearance" in found)
