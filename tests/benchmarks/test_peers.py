"""The rows of the benchmarks that run by themselves: without their peers, and beside them where these are installed."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.robots import generated, loaded
from support.standin import standing_in

from benchmarks import batch, batch_gpu, batch_row, batch_warp, mpc, standalone, torque
from benchmarks.crocoddyl_peer import Crocoddyl
from diffpbd.runtime import Robot

PEERS = ("crocoddyl", "torch", "jax")


@pytest.fixture(scope="module")
def robot() -> Robot:
    return loaded("baxter_bare")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no peer were installed."""

    known = importlib.metadata.version

    def version(name: str) -> str:
        if name in PEERS:
            raise importlib.metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(importlib.metadata, "version", version)


def without(error: str) -> Any:
    return pytest.raises(standalone.Skipped, match=error)


def test_a_missing_peer_is_skipped_with_its_name(bare: None, robot: Robot) -> None:
    with without("crocoddyl is not installed"):
        Crocoddyl(standalone.URDF, robot)
    with without("torch is not installed"):
        next(batch.recreated((1,), standalone.Budget(10.0)))
    with without("jax is not installed"):
        from benchmarks import batch_mjx

        next(batch_mjx.rows((1,), standalone.Budget(10.0)))


def test_a_pinocchio_that_crocoddyl_does_not_load_with_is_named(monkeypatch: pytest.MonkeyPatch, robot: Robot) -> None:
    versions = {"crocoddyl": "3.2.1", "pin": "4.1.0"}
    monkeypatch.setattr(importlib.metadata, "version", versions.__getitem__)
    with without("below 4.1, found 4.1.0"):
        Crocoddyl(standalone.URDF, robot)


def test_a_run_keeps_its_budget() -> None:
    row = batch.fill(batch.Row("x", "float64"), lambda kind, b: (lambda: None, 0.0), (1, 4), standalone.Budget(0.0))
    assert row.rates == {"step": {}, "gradient": {}} and "left out" in row.notes[0]


@pytest.mark.thorough
def test_torques_are_timed_without_torch(bare: None, tmp_path: Path) -> None:
    options = argparse.Namespace(library=generated("baxter_bare"), steps=1, compile=False, budget=1.0)
    rows = list(torque.rows(options))
    assert [row.seconds is None for row in rows] == [False, False, False, True]
    exact, adam = rows[1].losses, rows[2].losses
    assert max(exact) < 1e-9 and np.mean(adam) > 100.0 * max(exact)
    assert "torch is not installed" in torque.report(rows)


def test_without_a_generated_folder_that_row_is_skipped(bare: None, tmp_path: Path) -> None:
    rows = list(torque.rows(argparse.Namespace(library=tmp_path, steps=1, compile=False, budget=1.0)))
    assert [row.seconds for row in rows] == [None, None]


@pytest.mark.thorough
def test_generated_batches_are_counted(robot: Robot, tmp_path: Path) -> None:
    rows = list(batch.generated(generated("baxter_bare"), (1, 3), standalone.Budget(20.0)))
    assert all(rate > 100.0 for row in rows for rates in row.rates.values() for rate in rates.values())
    assert set(rows[0].rates["gradient"]) == {1, 3}
    facts = {"rows": [vars(row) for row in rows], "rollout": batch.ROLLOUT}
    (tmp_path / "batch.json").write_text(json.dumps(facts))
    from benchmarks.batch_plot import plot

    plot(tmp_path / "batch.json", tmp_path / "batch.png")
    assert (tmp_path / "batch.png").stat().st_size > 10_000


@pytest.mark.thorough
def test_batches_on_a_gpu_are_counted(robot: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the stand-in: every call is made, what is counted says nothing."""
    monkeypatch.setattr(batch_gpu, "SETTINGS", {"float32": {}})
    monkeypatch.setattr("benchmarks.batch_row.SECONDS", 0.0)
    monkeypatch.setenv("DIFFPBD_CACHE", "off")
    with standing_in(tmp_path):
        (row,) = batch_gpu.rows(generated("baxter_bare"), (1, 2), standalone.Budget(100.0))
    assert {kind: set(rates) for kind, rates in row.rates.items()} == {k: {1, 2} for k in batch_row.STEPS}
    assert all(rate > 1.0 for rates in row.rates.values() for rate in rates.values())
    (swing,) = (note for note in row.notes if "free swing" in note)
    print(swing)
    assert 1e-7 < float(re.search(r"at most (\S+) rad", swing).group(1)) < 1e-2


def test_without_a_gpu_the_batches_say_so(robot: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from diffpbd.runtime.gpu import driver as gpu_driver

    monkeypatch.setattr(gpu_driver, "LIBRARIES", ("libcuda-of-nobody.so.1",))
    words = ["batch", "--rows", "gpu", "--library", str(generated("baxter_bare")), "--out", str(tmp_path)]
    monkeypatch.setattr("sys.argv", words)
    gpu_driver.driver.cache_clear()
    with pytest.raises(SystemExit, match="Nothing was timed: gpu: There is no driver of NVIDIA's"):
        batch.main()
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr("sys.argv", ["batch", "--rows", "gpus"])
    with pytest.raises(SystemExit, match="2"):
        batch.main()
    with without("mujoco-warp is not installed|MuJoCo Warp cannot"):
        monkeypatch.setattr(importlib.metadata, "version", _without_warp)
        next(batch_warp.rows((1,), standalone.Budget(1.0)))


def _without_warp(name: str) -> str:
    if name == "mujoco-warp":
        raise importlib.metadata.PackageNotFoundError(name)
    return "1"


def test_the_reference_of_predictive_control_is_within_the_limits(robot: Robot) -> None:
    for offset in mpc.OFFSETS.values():
        case = mpc.Case.of(robot, 50, offset)
        speeds = np.array([joint.velocity for joint in robot.manifest.robot.joints], dtype=float)
        assert (np.abs(case.PD) < speeds).all()
        assert (np.abs(case.U) < case.effort).all()


def test_predictive_control_without_a_peer(robot: Robot) -> None:
    case = mpc.Case.of(robot, 3, mpc.OFFSETS["beside it"])
    found = mpc.measure(robot, "beside it", case, {}, 1)
    assert [set(r.microseconds) for r in found] == [set(mpc.STARTS)] * 2
    assert all(r.ratio == dict.fromkeys(mpc.STARTS) for r in found)
    assert found[0].cost <= found[1].cost  # fewer bounds


def test_crocoddyl_solves_the_same_problem(robot: Robot) -> None:
    try:
        peer = Crocoddyl(standalone.URDF, robot)
    except standalone.Skipped as reason:
        pytest.skip(str(reason))
    case = mpc.Case.of(robot, 10, mpc.OFFSETS["beside it"])
    boxed, free = peer.ticks(case).values()
    ours = mpc.embedded(robot, case, every_bound=False)
    assert boxed.cost == pytest.approx(ours.cost, rel=0.05)  # another step of the same order of length
    assert free.cost < boxed.cost
