"""Starts and logs over processes and a Dask cluster: the same result as one after the other."""

from __future__ import annotations

import importlib
import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import run
from support.motions import motion, samples
from support.robots import generated, loaded

from diffpbd.runtime.api.words import in_python
from diffpbd.runtime.base.errors import SolverError, arg
from diffpbd.runtime.identify import Settings, identify
from diffpbd.runtime.identify.settings.workers import workers as all_workers
from diffpbd.runtime.identify.torque import starts
from diffpbd.runtime.identify.torque.starts import End, compare
from diffpbd.runtime.logs.csv import write_log

TRUTH = {"friction.coulomb.elbow": 0.2, "torque_offset.shoulder": 0.7, "gravity.x": 0.3}
FIT = "friction,gravity.x"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    paths = [tmp_path_factory.mktemp("logs") / f"run_{k}.csv" for k in range(2)]
    for k, path in enumerate(paths):
        write_log(path, motion(loaded("double_pendulum"), TRUTH, seconds=4.0, seed=k, noise=0.02))
    return paths


def identified(logs: list[Path], out: Path, *words: object) -> tuple[dict[str, Any], str]:
    code, text = run("identify", generated("double_pendulum"), *logs, "--fit", FIT, "--cutoff", 0, "--out", out, *words)
    assert code == 0, text
    found = json.loads(out.read_text())
    assert found.pop("provenance")["command"][:2] == ["diffpbd", "identify"]  # the words differ: files and options
    return found, text


@pytest.mark.thorough
def test_processes_change_nothing(logs: list[Path], tmp_path: Path) -> None:
    serial, text = identified(logs, tmp_path / "a.json", "--starts", 3)
    assert "3 of 3 starts ended at the same optimum, the best is start 1" in text
    spread, _ = identified(logs, tmp_path / "b.json", "--starts", 3, "--jobs", 2)
    assert spread == serial
    one, _ = identified(logs, tmp_path / "c.json")
    assert one["parameters"]["gravity.x"]["value"] == serial["parameters"]["gravity.x"]["value"]


@pytest.mark.soak
def test_a_fault_in_a_worker_is_the_user_s_message(logs: list[Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("time,q_a\n0,1\n")
    code, text = run("identify", generated("double_pendulum"), logs[0], bad, "--fit", FIT, "--jobs", 2)
    assert code == 1 and "bad.csv" in text and "no columns for the joints" in text


def test_a_dask_cluster_changes_nothing(logs: list[Path], tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    serial, _ = identified(logs, tmp_path / "a.json", "--starts", 2)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "processes": False}
    with distributed.LocalCluster(**options) as cluster:
        spread, _ = identified(logs, tmp_path / "b.json", "--starts", 2, "--scheduler", cluster.scheduler_address)
    assert spread == serial


def test_starts_at_random_reach_the_same_optimum() -> None:
    robot = loaded("double_pendulum")
    truth = {**TRUTH, "spring.stiffness.shoulder": 6.0, "spring.rest.shoulder": 0.2}
    result = identify(
        robot,
        samples(robot, truth, noise=0.02),
        ["friction", "spring.shoulder", "gravity.x"],
        settings=Settings(starts=5),
    )
    assert any("5 of 5 starts ended at the same optimum" in note for note in result.notes)


def test_other_ends_and_failures_are_named() -> None:
    best = End(2, {"friction.viscous.a": 0.5}, 1.0)
    others = [End(0, {"friction.viscous.a": 0.9}, 1.0 + np.log(1.5)), End(1, {}, np.inf, "IPOPT ended with X")]
    first, elsewhere, failed = compare([best, *others], {"friction.viscous.a": 0.01})
    assert first == "1 of 3 starts ended at the same optimum, the best is start 3"
    assert "start 1 ended elsewhere, with a residual 50 % larger" in elsewhere and "0.9 there and 0.5" in elsewhere
    assert failed == "start 2 failed: IPOPT ended with X"


def test_if_every_start_fails_so_does_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = loaded("double_pendulum")
    monkeypatch.setattr(starts, "_run", lambda task: End(task.seed, {}, np.inf, "no"))
    with pytest.raises(Exception, match="None of 2 starts was solved; the first: no"):
        identify(robot, samples(robot, {}), ["friction"], settings=Settings(starts=2))


@pytest.mark.thorough
def test_a_cluster_without_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """None from the beginning, or all dead while there is work; a worker that comes in time does the work."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    workers = importlib.import_module("diffpbd.runtime.identify.settings.workers")
    monkeypatch.setattr(workers, "WORKERLESS", 1.0)
    monkeypatch.setattr(workers, "ASKED", 0.1)
    options = {"threads_per_worker": 1, "dashboard_address": None, "processes": False}
    with distributed.LocalCluster(n_workers=0, **options) as cluster:
        address = cluster.scheduler_address
        with workers.workers(scheduler=address) as spread:
            with pytest.raises(
                SolverError, match=r"no worker for 1 s.*dask worker tcp|no worker for 1 s.*dask worker inproc"
            ):
                spread(abs, [-1, -2])
            threading.Timer(0.5, lambda: cluster.scale(1)).start()
            assert spread(abs, [-1, -2]) == [1, 2]
            threading.Timer(0.3, lambda: cluster.scale(0)).start()
            with pytest.raises(SolverError, match="no worker for 1 s"):
                spread(time.sleep, [2.0] * 2)


def spelt(name: str) -> str:
    """An argument as a message in this process has it."""
    return str(getattr(arg, name))


def test_messages_of_other_processes_are_in_the_words_of_the_caller() -> None:
    def ask() -> list[str]:
        with all_workers(2) as spread:
            return spread(spelt, ["total_mass"])

    assert (ask(), in_python(ask)()) == (["--total-mass"], ["total_mass"])
