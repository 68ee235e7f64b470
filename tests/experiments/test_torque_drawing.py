"""Pictures of torque estimates: one line a name, nothing cut off, and joints that do not follow named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime.report import figures, torque_plots
from experiments.torques.torque_drawing import _astray

TIME = np.linspace(0.0, 1.0, 50)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are drawn, kept."""
    kept: list[Any] = []

    def new_figure(width: float, height: float) -> Any:
        kept.append(figures.new_figure(width, height))
        return kept[-1]

    monkeypatch.setattr(torque_plots, "new_figure", new_figure)
    return kept


def test_joints_that_do_not_follow_are_named() -> None:
    robot: Any = loaded("double_pendulum")
    recorded = np.column_stack([np.sin(TIME), np.cos(5.0 * TIME)])
    near, far = recorded + 0.01, recorded + np.array([0.0, 0.5])
    words = _astray(
        robot, [0, 1], {"recorded": (TIME, recorded), "a": (TIME, far), "b": (TIME, far), "c": (TIME, near)}
    )
    assert "elbow (" in words and "shoulder" not in words and "%" in words
    assert _astray(robot, [0, 1], {"recorded": (TIME, recorded), "a": (TIME, near)}) == ""
    assert _astray(robot, [0, 1], {"recorded": (TIME, recorded)}) == ""
    short = (TIME[:5], near[:5])
    assert "elbow (" in _astray(robot, [0, 1], {"recorded": (TIME, recorded), "a": (TIME, far), "b": short, "c": short})


def test_a_name_has_one_line_in_all_columns(made: list[Any], tmp_path: Path) -> None:
    robot: Any = loaded("double_pendulum")
    one = (TIME, np.ones((50, 2)))
    groups = {"left": {"gravity": one, "windows": one}, "right": {"windows": one, "nodes": one}}
    torque_plots.plot_groups(tmp_path / "g.png", robot, [0, 1], one, groups, "t")
    left, right = made[0].axes[:2]
    looks = [
        (line.get_color(), line.get_linestyle())
        for panel in (left, right)
        for line in panel.lines
        if len(line.get_xdata())
    ]
    gray, gravity, windows, gray_again, again, nodes = looks
    assert gray == gray_again and windows == again and len({gray, gravity, windows, nodes}) == 4
    names = [text.get_text() for text in made[0].legends[0].get_texts()]
    assert names == ["recorded, filtered", "gravity", "windows", "nodes"]


def test_violins_show_every_error_and_its_name(made: list[Any], tmp_path: Path) -> None:
    robot: Any = loaded("double_pendulum")
    rng = np.random.default_rng(1)
    errors = {
        "calm": 0.1 * rng.standard_normal((300, 2)),
        "wild": 40.0 * rng.standard_normal((300, 2)),
        "none": np.zeros((300, 2)),
    }
    torque_plots.plot_violins(tmp_path / "v.png", robot, [0, 1], errors, "t")
    for j, panel in enumerate(made[0].axes):
        low, high = panel.get_xlim()
        assert low < errors["wild"][:, j].min() and errors["wild"][:, j].max() < high
        drawn = [float(np.max(line.get_xdata())) for line in panel.lines]
        assert max(errors["wild"][:, j]) == pytest.approx(max(drawn))
    assert [text.get_text() for text in made[0].axes[0].get_yticklabels()] == list(errors)
