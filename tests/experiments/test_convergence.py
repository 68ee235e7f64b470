"""The convergence figure: what the solvers do to detached links, the table, the picture."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.imports import ROOT
from support.judges.printed_step import Printed, read_arm

from diffpbd.runtime.base.errors import InputError
from experiments.__main__ import command
from experiments.method.convergence import Convergence, converge


@pytest.fixture(scope="module")
def arm() -> Convergence:
    return converge("baxter_bare", sweeps=12)


def test_every_solver_pulls_the_links_together_the_direct_one_quadratically(arm: Convergence) -> None:
    found = {p.solver: p for p in arm.projections}
    assert list(found) == ["gauss_seidel_as_printed", "jacobi_as_printed", "gauss_seidel", "jacobi", "direct"]
    assert len({p.gap[0] for p in arm.projections}) == 1 and arm.projections[0].gap[0] > 0.05
    for p in arm.projections:
        assert p.gap[-1] < 0.15 * p.gap[0] and p.tilt[-1] < 0.3 * p.tilt[0]
        np.testing.assert_allclose(np.linalg.norm(p.pose[:, :, 3:], axis=2), 1, atol=1e-14)
        reach = np.linalg.norm(p.bones[:, 1:, 0] - p.bones[:, :-1, 1], axis=2).max(axis=1)  # joint to joint, as drawn
        np.testing.assert_allclose(np.maximum(reach, 1e-15), np.maximum(p.gap, 1e-15), rtol=0.5, atol=2e-2)
    direct = np.maximum(found["direct"].gap, 1e-16)
    assert direct[4] < 1e-12 and direct[3] < 10 * direct[2] ** 2 / direct[1] * 10
    assert found["gauss_seidel"].gap[-1] < found["jacobi"].gap[-1]


def test_the_start_is_the_same_for_the_same_seed_only() -> None:
    one, same, other = (converge("double_pendulum", sweeps=1, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.projections[0].pose, same.projections[0].pose)
    assert np.abs(one.projections[0].pose[0] - other.projections[0].pose[0]).max() > 1e-3


def test_the_sweep_as_printed_is_the_prints(arm: Convergence) -> None:
    """Poses of NumPy code from the printed text alone, sweep by sweep."""
    judge = Printed(read_arm(ROOT / "codegen" / "robots" / "baxter_bare.urdf"))
    for solver, factor in (("gauss_seidel_as_printed", None), ("jacobi_as_printed", 1.0)):
        found = next(p for p in arm.projections if p.solver == solver)
        for before, after in zip(found.pose[:3], found.pose[1:], strict=False):
            judge.x, judge.q = before[:, :3].copy(), before[:, 3:].copy()
            judge.sweep(factor)
            np.testing.assert_allclose(after, np.hstack([judge.x, judge.q]), atol=1e-13)


def test_scalar_multiplier_is_for_hinges() -> None:
    assert [p.solver for p in converge("prismatic_skew", sweeps=1).projections] == ["gauss_seidel", "jacobi", "direct"]
    assert converge("double_pendulum", sweeps=8, multiplier="scalar").projections[0].gap[-1] < 0.01
    with pytest.raises(InputError, match="slide"):
        converge("prismatic_skew", sweeps=1, multiplier="scalar")


def test_command_writes_table_and_picture(tmp_path: Path) -> None:
    out = tmp_path / "figure.png"
    words = [
        "links",
        "double_pendulum",
        "--sweeps",
        "4",
        "--drawings",
        str(tmp_path / "letters.png"),
        "--out",
        str(out),
    ]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "letters.png").read_bytes().startswith(b"\x89PNG")
    assert "r of the link before" in done.output and "upper" in done.output
    assert out.read_bytes().startswith(b"\x89PNG")
    with out.with_suffix(".csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5 * 5 and [r["sweep"] for r in rows[:5]] == list("01234")
    assert float(rows[0]["gap_m"]) > float(rows[4]["gap_m"]) > 0
    assert sum(k.startswith("qw_") for k in rows[0]) == 2
