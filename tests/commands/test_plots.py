"""--plot: every command where a person would look has it, and its pictures are whole."""

from __future__ import annotations

import io
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.image import imread

from diffpbd.runtime import cli
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.loop.configuration import Configuration
from diffpbd.runtime.loop.supervisor import Settings
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.records.messages import Header, Tick
from diffpbd.runtime.report.ticks_plot import plot_ticks

WITHOUT = {
    "generate",
    "drive-gain",
    "check",
    "export",
    "export-acados",
    "info",
    "eval",
    "ik",
    "sim",
    "sim-baxter",
    "sim-fr3",
}
"""No motion comes out of these."""


def test_every_other_command_has_it() -> None:
    context = click.Context(cli.cli)
    commands = {name: cli.cli.get_command(context, name) for name in cli.COMMANDS}
    with_it = {name for name, c in commands.items() if c and any("--plot" in option.opts for option in c.params)}
    assert with_it == set(cli.COMMANDS) - WITHOUT


def ink(path: Path) -> tuple[int, float]:
    """Columns of a PNG, and the share of it that is not white."""
    pixels = imread(io.BytesIO(path.read_bytes()), format="png")[..., :3]
    return pixels.shape[1], float((pixels.min(axis=2) < 0.9).mean())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    time = np.arange(400) / 100.0
    q = np.column_stack([np.sin(time), 0.5 * np.cos(2.0 * time)])
    dq = np.column_stack([np.cos(time), -np.sin(2.0 * time)])
    noise = 0.05 * np.random.default_rng(0).normal(size=q.shape)
    path = tmp_path / "run.csv"
    write_log(path, Log(time, ("a", "b"), q, dq + noise, None, None))
    return path


def test_the_signals_of_a_log(log: Path, tmp_path: Path) -> None:
    words = ["log", str(log), str(log), "--plot", str(tmp_path / "seen.png")]
    done = CliRunner().invoke(cli.cli, words)
    assert done.exit_code == 0 and f"written: {tmp_path / 'seen.png'}, {tmp_path / 'seen_2.png'}" in done.output, (
        done.output
    )
    for name in ("seen.png", "seen_2.png"):
        columns, share = ink(tmp_path / name)
        assert columns == 1035 and 0.01 < share < 0.5  # position, rate, acceleration; no torque was read
    before = log.read_bytes()
    refused = CliRunner().invoke(cli.cli, [*words[:-1], str(log)])
    assert refused.exit_code == 1 and "is the same file as LOG" in refused.output and log.read_bytes() == before


def configuration(owner: GravityOwner) -> Configuration:
    one = np.ones(2)
    limits = Limits(-3.0 * one, 3.0 * one, one, 50.0 * one, 5.0 * one, 100.0 * one, 0.1)
    return Configuration("arm", "", ("a", "b"), {"name": "gravity"}, owner, np.zeros(1), limits, Settings(0.004))


def ticks() -> list[Tick]:
    two = np.array([0.1, -0.2])
    return [
        Tick(Header(), 0.004 * k, 0.002, 3, 1 if k == 7 else 0, ("a", "b"), k * two, two, k * two, two, two, 2.0 * two)
        for k in range(50)
    ]


def test_the_ticks_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "run.png"
    assert plot_ticks(path, configuration(GravityOwner.MODEL), ticks())
    columns, share = ink(path)
    assert columns == 1000 and 0.01 < share < 0.5
    path.unlink()
    start = Tick(Header(), 0.0, 0.002, 0, 0, ("a", "b"), np.zeros(2), np.zeros(2))
    assert not plot_ticks(path, configuration(GravityOwner.ROBOT), [start]) and not path.exists()
