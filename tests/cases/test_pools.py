"""Q17: results and functions through process pools."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.robots import generated

import diffpbd
from diffpbd.runtime import load


@pytest.fixture(scope="module")
def arm(shared: Path) -> Path:
    return generated(str(next((shared / "cases").glob("Q10-*")) / "arm.urdf"), symbolic=("mass", "com", "inertia"))


def test_the_case(arm: Path, shared: Path, tmp_path: Path) -> None:
    script = next((shared / "cases").glob("Q17-*")) / "pool.py"
    run = subprocess.run([sys.executable, str(script), str(arm)], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.splitlines() == [
        "robot ok", "result ok", "result through a pool ok", "function through a pool ok"
    ], run.stderr  # fmt: skip


def test_spawned_workers(arm: Path) -> None:
    robot, start = load(arm), np.zeros(2)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (found,) = pool.map(robot.jac_gravity, [start])
    np.testing.assert_array_equal(found.u, robot.gravity(start))


def test_a_planner_is_of_one_process(arm: Path) -> None:
    with pytest.raises(TypeError, match="has the memory of one process: send its robot instead"):
        pickle.dumps(diffpbd.Mpc(load(arm), 5))


def _step(function: Any) -> Any:
    return function(np.zeros(2), np.zeros(2), np.zeros(2))


@pytest.mark.soak
def test_joblib_and_dask(arm: Path) -> None:
    robot = load(arm)
    joblib = pytest.importorskip("joblib")
    wanted = _step(robot.joint_step)
    for found in joblib.Parallel(2)(joblib.delayed(_step)(robot.joint_step) for _ in range(3)):
        np.testing.assert_array_equal(found.pd_next, wanted.pd_next)
    dask = pytest.importorskip("dask")
    tasks = [dask.delayed(_step)(robot.joint_step) for _ in range(3)]
    for found in dask.compute(*tasks, scheduler="processes", num_workers=2):
        np.testing.assert_array_equal(found.pd_next, wanted.pd_next)
