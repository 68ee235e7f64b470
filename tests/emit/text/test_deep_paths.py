"""A deep tree on every instruction set of this processor."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from support.robots import generated
from support.shared.code_paths import paths

from benchmarks.scale import chain
from diffpbd.runtime import load
from diffpbd.runtime.folder.compiler import compile_library
from diffpbd.runtime.folder.library import PORTABLE

H = 1e-3


@pytest.mark.thorough
def test_a_step_and_its_jacobian_by_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding, times the condition of fifteen hinges in a row; the paths are other code."""
    (tmp_path / "deep.urdf").write_text(chain(15), encoding="utf-8")
    names = ("joint_step", "jac_alpha_joint_step")
    made = generated(str(tmp_path / "deep.urdf"), functions=names, variants=())
    folder = shutil.copytree(made, tmp_path / "deep", ignore=shutil.ignore_patterns("*.so*"))
    monkeypatch.setenv("DIFFPBD_CFLAGS", "-O2")
    monkeypatch.setenv("CC", "cc")
    compile_library(folder, "libdeep.so")
    robot, rng = load(folder), np.random.default_rng(1)
    p, pd, u = rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, robot.n), rng.uniform(-0.1, 0.1, robot.n)
    found = {}
    for path in paths(robot):
        robot.choose_instructions(path)
        found[path] = [np.asarray(x) for name in names for x in robot.functions[name](p, pd, u, H)]
    for path, values in found.items():
        for value, want in zip(values, found[PORTABLE], strict=True):
            np.testing.assert_allclose(value, want, rtol=0, atol=1e-8 * np.abs(want).max(), err_msg=path)
            assert path == PORTABLE or not np.array_equal(value, want), f"{path} runs the portable code"
