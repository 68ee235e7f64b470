"""Parts of pictures of runs: names at curves, bands for long recordings, limits that were reached; movies."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image
from support.robots import generated, loaded

import diffpbd
from diffpbd.runtime.arms import playback
from diffpbd.runtime.cli import cli
from diffpbd.runtime.records.messages import Tick
from diffpbd.runtime.report.figures import MOST_POINTS, beside, curve, new_figure, reached_limits
from diffpbd.runtime.report.motion import Signal, motion_page
from diffpbd.runtime.report.movie import MOST_FRAMES, movie, sticks

INCHES = 2.0


@pytest.fixture
def axes() -> object:
    made = new_figure(6.0, INCHES).add_subplot()
    made.set_xlim(0.0, 1.0)
    made.set_ylim(-1.0, 1.0)
    return made


def test_names_stand_at_their_curves_and_apart(axes: object) -> None:
    ends = np.array([0.5, -0.9, 0.51, 0.52, 3.0])
    beside(axes, list("abcde"), ends, ["C0", "C1", "C2", "C3", "C4"])  # type: ignore[arg-type]
    texts = axes.texts  # type: ignore[attr-defined]
    heights = {text.get_text(): text.xy[1] for text in texts}
    assert [text.get_color() for text in texts if text.get_text() == "c"] == ["C2"]
    assert heights["b"] == pytest.approx(0.05, abs=0.01), "where its curve ends"
    order = ["b", "a", "c", "d", "e"]
    places = [heights[name] for name in order]
    assert places == sorted(places) and min(np.diff(places)) > 0.05
    middle = new_figure(6.0, INCHES).add_subplot()
    middle.set_ylim(-1.0, 1.0)
    beside(middle, list("abc"), np.array([-1.0, -1.0, -1.0]), ["C0", "C1", "C2"])
    low = [text.xy[1] for text in middle.texts]
    assert min(low) >= 0.0 and min(np.diff(low)) > 0.05, "at the bottom they go up"
    assert max(places) <= 1.0 + 1e-9, "one beyond the panel stays at its edge"


@pytest.mark.parametrize("count", [MOST_POINTS, MOST_POINTS + 1, 50 * MOST_POINTS])
def test_a_long_recording_is_a_band_that_keeps_its_peaks(axes: object, count: int) -> None:
    y = 0.1 * np.sin(np.linspace(0.0, 2e4, count))
    y[count // 3] = 0.9
    curve(axes, np.linspace(0.0, 1.0, count), y, color="C0")
    bands = axes.collections  # type: ignore[attr-defined]
    assert bool(bands) is (count > MOST_POINTS)
    (line,) = axes.lines  # type: ignore[attr-defined]
    assert len(line.get_xdata()) <= MOST_POINTS
    highest = max(bands[0].get_paths()[0].vertices[:, 1]) if bands else max(line.get_ydata())
    assert highest == pytest.approx(0.9)


@pytest.mark.parametrize(("values", "drawn"), [
    ([0.0, 0.5], []), ([0.0, 0.91], [1.0]), ([0.0, 0.89], []), ([-0.91, 0.0], [-1.0]), ([-2.0, 2.0], [-1.0, 1.0]),
])  # fmt: skip
def test_a_limit_is_drawn_where_a_joint_comes_near(axes: object, values: list[float], drawn: list[float]) -> None:
    reached_limits(axes, np.array(values), -1.0, 1.0, "C0")
    assert [line.get_ydata()[0] for line in axes.lines] == drawn  # type: ignore[attr-defined]
    reached_limits(axes, np.array(values), None, None, "C0")
    assert len(axes.lines) == len(drawn)  # type: ignore[attr-defined]


def test_sticks_are_the_robot() -> None:
    robot = loaded("double_pendulum")
    q = np.random.default_rng(0).uniform(-3.0, 3.0, (5, 2))
    found = sticks(robot, q)
    assert found.shape == (5, 3, 2, 3)
    assert (found[:, 0, 0] == 0.0).all(), "from the root"
    np.testing.assert_allclose(found[:, -1, 1], robot.tip_pose(q).position, atol=1e-12)
    np.testing.assert_array_equal(found[:, 1:, 0], found[:, :-1, 1])
    lengths = np.linalg.norm(found[:, :, 1] - found[:, :, 0], axis=-1)
    np.testing.assert_allclose(lengths[:, 2], lengths[0, 2], atol=1e-12, err_msg="a link is rigid")
    branched = sticks(loaded("prismatic_skew"), np.zeros((1, loaded("prismatic_skew").n)))
    assert np.isfinite(branched).all()


@pytest.mark.thorough
@pytest.mark.parametrize(("duration", "frames"), [(0.1, 3), (1.0, 21)])
def test_a_movie_has_twenty_frames_a_second(duration: float, frames: int) -> None:
    robot = loaded("double_pendulum")
    run = diffpbd.simulate(robot, duration=duration, q0=[1.0, 0.5])
    content = io.BytesIO()
    movie(robot, run.time, run.q, content, title="swing")
    made = Image.open(io.BytesIO(content.getvalue()))
    assert made.format == "GIF" and made.n_frames == frames and made.info["duration"] == 50
    first = np.array(made.convert("RGB"), dtype=int)
    made.seek(frames - 1)
    assert np.abs(np.array(made.convert("RGB"), dtype=int) - first).max() > 100, "it moves"
    assert MOST_FRAMES >= 100


def test_a_motion_is_played_in_real_time_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Tick] = []

    class Page:
        url = "http://127.0.0.1:1"

        def __init__(self, robot: object, meshes: object = None) -> None:
            del robot, meshes

        def __enter__(self) -> Page:
            return self

        def __exit__(self, *_: object) -> None:
            shown.append(Tick(playback.Header(), time=-1.0))

        def tick(self, tick: Tick) -> None:
            shown.append(tick)

    monkeypatch.setattr(playback, "Viewer", Page)
    monkeypatch.setattr(playback, "PAUSE", 0.0)
    robot, told = loaded("double_pendulum"), []
    run = diffpbd.simulate(robot, "gravity", duration=0.2, q0=[1.0, 0.5], dq0=[1.0, 0.0])
    playback.play(robot, run.time, run.q, run.dq, run.tau, told.append, rounds=2)
    assert told == ["view: http://127.0.0.1:1 (Ctrl-C ends it)"]
    times = [tick.time for tick in shown]
    assert times.count(run.time[-1]) == 2 and times[-1] == -1.0
    assert times.count(0.0) >= 2
    last = next(tick for tick in shown if tick.time == run.time[-1])
    assert (last.position == run.q[-1]).all() and (last.command == run.tau[-1]).all()


def test_a_report_of_a_motion_holds_words_and_a_figure_a_signal(tmp_path: Path) -> None:
    robot, page = str(generated("double_pendulum")), tmp_path / "run.html"
    words = [
        "--goal",
        "[0.1, 0]",
        "--duration",
        "0.4",
        "--horizon",
        "5",
        "--out",
        str(tmp_path / "run.csv"),
        "--report",
        str(page),
    ]
    for command in (["mpc", robot, *words], ["simulate", robot, "--torque", "gravity", *words[2:4], *words[6:]]):
        done = CliRunner().invoke(cli, command)
        assert done.exit_code == 0 and f"written: {tmp_path / 'run.csv'}, {page}" in done.output, done.output
        text = page.read_text(encoding="utf-8")
        assert text.count("<svg") == 4 and text.count("shoulder</figcaption>") == 2
        assert "http" not in text, "nothing is loaded from elsewhere"
        assert done.output.splitlines()[0].split(";")[0] in text
        assert ("reference</span>" in text) is (command[0] == "mpc")


def test_bounds_are_drawn_where_they_are_near() -> None:
    time = np.linspace(0.0, 1.0, 5)

    def bounds(highest: float) -> int:
        signal = Signal("a<b", "N·m", np.linspace(0.0, highest, 5), None, (-1.0, 1.0))
        text = motion_page("<x>", "a & b", time, [signal], [])
        assert "a&lt;b" in text and "&lt;x&gt;" in text and "a &amp; b" in text
        return text.count("#bbb")

    assert [bounds(x) for x in (0.79, 0.81)] == [0, 1]
