from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import experiment, run
from support.robots import generated, loaded

from diffpbd.runtime.logs.csv import Log, read_log, write_log
from diffpbd.runtime.report.torque_plots import plot_groups
from diffpbd.runtime.torques.settings import LOSSES, STARTS

H = 0.01
OFFSET = 0.7


def recording(samples: int = 150) -> Log:
    """A rollout under slowly varying torques; the sensor of the shoulder reads `OFFSET` too much."""
    robot = loaded("double_pendulum")
    t = np.arange(samples) * H
    U = np.column_stack([np.sin(3.0 * t), 0.2 * np.cos(2.0 * t)])[:-1]
    P, PD = robot.rollout(np.array([0.1, -0.2]), np.zeros(2), U, H)
    tau = np.concatenate([U, U[-1:]]) + [OFFSET, 0.0]
    return Log(t, robot.joints, P, PD, None, tau)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "run.csv"
    write_log(path, recording())
    return path


@pytest.fixture
def params(tmp_path: Path) -> Path:
    path = tmp_path / "params.json"
    path.write_text(f'{{"torque_offset.shoulder": {OFFSET}}}')
    return path


@pytest.mark.parametrize("torque", ["sensor", "joint"])
def test_the_torques_of_a_rollout_are_written(tmp_path: Path, log: Path, params: Path, torque: str) -> None:
    out, picture = tmp_path / "torques.csv", tmp_path / "torques.png"
    words = ("--cutoff", 0, "--params", params, "--torque", torque, "--out", out, "--plot", picture, "--horizon", 2)
    code, text = run("estimate-torque", generated("double_pendulum"), log, *words)
    assert code == 0, text
    found, recorded = read_log(out), recording()
    offset = np.zeros(2) if torque == "sensor" else np.array([OFFSET, 0.0])
    assert recorded.tau is not None and found.tau is not None
    np.testing.assert_allclose(found.tau, recorded.tau[:-1] - offset, atol=1e-8)
    np.testing.assert_allclose(found.time, recorded.time[:-1])
    np.testing.assert_allclose(found.q, recorded.q[:-1])
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "149 torques by angle+omega (gauss-newton, windows of 2)" in text and "RMSE, filtered" in text
    again = tmp_path / "again.csv"
    if torque == "joint":
        code, text = run("simulate", generated("double_pendulum"), "--torque", out, "--out", again)
        assert code == 0, text
        np.testing.assert_allclose(read_log(again).q, recorded.q[: len(read_log(again))], atol=1e-6)


def test_every_loss_and_start_and_nodes_without_recorded_torques(tmp_path: Path) -> None:
    whole, path, out = recording(60), tmp_path / "motion.csv.gz", tmp_path / "out.csv"
    write_log(path, Log(whole.time, whole.joints, whole.q, whole.dq))
    for loss in (*LOSSES, "nodes"):
        for start in STARTS if loss != "nodes" else ("zero",):
            words = ("--loss", loss, "--start", start, "--cutoff", 0, "--out", out)
            code, text = run("estimate-torque", generated("double_pendulum"), path, *words)
            assert code == 0 and "RMSE" not in text, text
            found = read_log(out)
            assert found.tau is not None and whole.tau is not None and np.isfinite(found.tau).all()
            if loss == "nodes":
                np.testing.assert_allclose(found.time, whole.time[1:-1])
                expected = 0.5 * (whole.tau[:-2] + whole.tau[1:-1]) - [OFFSET, 0.0]
                assert np.abs(found.tau - expected).max() < 1e-8
            else:
                np.testing.assert_allclose(found.tau, whole.tau[:-1] - [OFFSET, 0.0], atol=1e-8)


def test_the_published_descent(tmp_path: Path, log: Path) -> None:
    path, out = tmp_path / "short.csv", tmp_path / "out.csv"
    write_log(path, recording(12))
    words = ("--optimizer", "adam", "--start", "gravity", "--loss", "omega", "--cutoff", 0, "--out", out)
    code, text = run("estimate-torque", generated("double_pendulum"), path, *words)
    assert code == 0 and "11 torques by omega (adam" in text, text
    assert np.isfinite(read_log(out).q).all()


def test_rates_that_come_late_are_said(tmp_path: Path) -> None:
    robot, out = loaded("double_pendulum"), tmp_path / "out.csv"
    t = np.arange(400) * H
    q = np.column_stack([np.sin(3.0 * t), np.cos(2.0 * t)])
    dq = np.column_stack([3.0 * np.cos(3.0 * (t - 0.0132)), -2.0 * np.sin(2.0 * (t - 0.0132))])
    tau = robot.inverse_dynamics(q, np.gradient(q, H, axis=0), np.gradient(np.gradient(q, H, axis=0), H, axis=0))
    path = tmp_path / "late.csv"
    write_log(path, Log(t, robot.joints, q, dq, None, tau))
    errors = {}
    for rates in ("recorded", "positions"):
        words = ("--loss", "angle", "--rates", rates, "--cutoff", 0, "--out", out)
        code, text = run("estimate-torque", generated("double_pendulum"), path, *words)
        assert code == 0 and ("lag the positions by 13.2 ms" in text) == (rates == "recorded"), text
        found = read_log(out).tau
        assert found is not None
        errors[rates] = np.sqrt(np.mean((found - 0.5 * (tau[1:] + tau[:-1]))[5:-5] ** 2))
    assert errors["positions"] < 0.1 * errors["recorded"]


@pytest.mark.thorough
def test_the_table_of_schemes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On simulated recordings: every scheme is there, the identified model is right, the starts agree."""
    robot, data = loaded("double_pendulum"), tmp_path / "runs"
    data.mkdir()
    for seed, name in enumerate(("train_1.csv", "train_2.csv", "test_1.csv")):
        t = np.arange(160) * H
        U = np.column_stack([4.0 * np.sin(3.0 * t + seed), np.cos(2.0 * t + 2.0 * seed)])[:-1]
        alpha = robot.alpha.vector({"friction.viscous.shoulder": 0.5})
        P, PD = robot.rollout(np.array([0.1, -0.2]), np.zeros(2), U, H, alpha)
        tau = np.concatenate([U[:1], 0.5 * (U[1:] + U[:-1]), U[-1:]])
        write_log(data / name, Log(t, robot.joints, P, PD, None, tau))
    fit = "experiments.torques.commands.FIT"
    monkeypatch.setattr(fit, ("friction",))
    monkeypatch.setattr("experiments.torques.commands.PAPER_JOINTS", {"elbow": 0})
    files = [tmp_path / name for name in ("t.csv", "j.png", "v.png", "a.png", "p.png", "w.png")]
    descent = ("--adam", 0.02, "--adam-iterations", 20)
    columns: dict[str, Mapping[str, object]] = {}

    def drawn(*words: Any) -> None:
        columns.update(words[4])
        plot_groups(*words)

    monkeypatch.setattr("experiments.torques.torque_drawing.plot_groups", drawn)
    words = ("--data", data, *descent, "--out", files[0], "--plot", files[1], "--violin", files[2])
    words += ("--angles", files[3], "--path", files[4], "--whole", files[5], "--adam-solver", "gauss_seidel")
    code, text = experiment("torque-table", generated("double_pendulum"), *words)
    assert code == 0, text
    assert "13.43" in text and "nodes, identified" in text
    rows = [line.split(",") for line in files[0].read_text().splitlines()]
    header, cells = rows[0], [dict(zip(rows[0], row, strict=False)) for row in rows[1:]]
    assert "rmse_filtered_elbow" in header and len(cells) == 3 * 10 + 2 + 10 + 1 + 2 * 2 + 4 * 9
    ours = [
        c for c in cells if c["model"] == "identified" and c["method"] == "gauss-newton" and c["states"] == "recorded"
    ]
    both = [float(c["rmse_filtered_shoulder"]) for c in ours if c["loss"] == "angle+omega" and c["horizon"] == "1"]
    assert len(both) == 3 and max(both) - min(both) < 1e-6 and max(both) < 0.2
    rates = [c for c in cells if c["model"] == "description without spring"]
    assert [(c["method"], c["loss"]) for c in rates] == [
        (f"adam at rate {rate} without spring", loss)
        for rate in ("1 × 120", "0.2 × 80")
        for loss in ("omega", "angle+omega")
    ]
    missed = [float(c["rmse_shoulder"]) for c in rates]  # 80 × 0.2 N·m are not enough for the torque that holds the arm
    assert max(missed[:2]) < 0.3 < 1.0 < min(missed[2:]), missed
    assert all(path.is_file() for path in files)
    starts = [f"descent from {start}" for start in ("zero", "previous", "gravity")]
    assert list(columns) == [*starts, "each step's optimum", "converged over the recording"]
    every = ["angle", "omega", "angle+omega"]
    assert [list(columns[start]) for start in starts] == [every, [*every, "windows of 3"], every]
    assert list(columns["converged over the recording"]) == [
        "omega", "angle+omega", "windows of 3", "windows of 3, carried", "nodes",
    ]  # fmt: skip


def test_missing_recordings_are_said(tmp_path: Path) -> None:
    for folder, words in ((tmp_path / "nowhere", "there is no folder"), (tmp_path, "holds no train_")):
        code, text = experiment("torque-table", generated("double_pendulum"), "--data", folder)
        assert code == 1 and words in text and text.count("\n") == 1, text
