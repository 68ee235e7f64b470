"""Loops with rounded numbers (case Q24): a skew four-bar moves as that of exact ones, its dropped row is open and said."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.robots import generated

from diffpbd.codegen.description.front.resolve import find_recipe, read_robot
from diffpbd.codegen.graph.loops.build import chosen_rows
from diffpbd.runtime import load

CASE = Path("cases/Q24-loop-with-six-digits")


def written(shared: Path, folder: Path, digits: int) -> None:
    """The case's own files with other digits."""
    text = (shared / CASE / "make.py").read_text()
    assert ".6g" in text
    (folder / "make.py").write_text(text.replace(".6g", f".{digits}g"))
    subprocess.run([sys.executable, "make.py"], cwd=folder, check=True)


SOME = [pytest.param(k, marks=() if k in (9, 6, 5) else pytest.mark.soak) for k in (12, 9, 7, 6, 5, 4)]


@pytest.mark.thorough("[7]", "[6]")
@pytest.mark.parametrize("digits", SOME)
def test_mobility_is_one_with_any_number_of_digits(shared: Path, tmp_path: Path, digits: int) -> None:
    written(shared, tmp_path, digits)
    for name in ("one_pin", "two_pins") if digits != 9 else ("one_pin",):
        found = find_recipe(str(tmp_path / f"{name}.xml"))
        chosen = chosen_rows(read_robot(found), found)
        assert (chosen.mobility, chosen.rank, chosen.faults) == (1, 2, ())
        said = [d.message for d in chosen.doubts if d.code == "loop-rounded"]
        assert bool(said) == (digits < 12)
        for message in said:
            (gap,) = re.findall(r"at most \S+ by (\S+) m", message)
            assert 10.0**-digits * 0.1 < float(gap) < 10.0**-digits * 12


def test_a_loop_of_which_no_row_is_kept_steps(shared: Path) -> None:
    """Two pins on one axis: the rows of the first say all, in the step on maximal states, too."""
    robot = load(generated(str(shared / CASE / "two_pins.xml"), functions=("step", "joint_step")))
    assert not all(loop.kept for loop in robot.manifest.robot.loops)
    u, still = np.array([0.2, 0.0, 0.0]), np.zeros(3)
    p = robot.close_loops(still, still)
    xi = robot.fk(p, still)
    for _ in range(20):
        xi = robot.step(xi, u, h=0.005)
    P, PD = robot.rollout(p, still, np.tile(u, (20, 1)), h=0.005)
    found = robot.joint_state(xi)
    np.testing.assert_allclose(found[0], P[-1], rtol=0, atol=1e-4)
    np.testing.assert_allclose(found[1], PD[-1], rtol=0, atol=1e-2)


def test_six_digits_move_as_the_exact_mechanism(shared: Path) -> None:
    """Accelerations of the case, by MuJoCo's inertias and rows of the exact file; a swing is open by a micron."""
    wanted = json.loads((shared / CASE / "expected.json").read_text())
    robot = load(generated(str(shared / CASE / "one_pin.xml"), functions=("joint_step",)))
    still, p = np.zeros(3), robot.close_loops(np.zeros(3), np.zeros(3))
    for torque, name in ((0.0, "acceleration_at_zero_u0"), (1.0, "acceleration_at_zero_u_crank_1")):
        pdd = robot.forward_dynamics(p, still, [torque, 0.0, 0.0])
        assert np.abs(pdd - wanted[name]).max() < 1e-4 * max(1.0, np.abs(wanted[name]).max())
    P, _ = robot.rollout(p, still, np.zeros((300, 3)) + [0.2, 0.0, 0.0], h=0.005)
    rows = np.abs(robot.loop_residual(P, np.zeros_like(P)).rows)
    assert np.ptp(P[:, 0]) > 1.0
    assert rows[:, :2].max() < 1e-13
    assert 1e-8 < rows[:, 2].max() < 2e-6
    moved = robot.close_loops(P[-1] + [0.02, -0.01, 0.01], [1.0, 0.0, 0.0])
    assert moved[0] == P[-1][0] + 0.02
