from __future__ import annotations

import numpy as np
import pytest
from support.imports import ROOT
from support.judges.printed_step import Printed, read_arm
from support.robots import generated, loaded

from diffpbd.runtime import InputError, load
from diffpbd.runtime.model.robot import Robot
from experiments.columns import NAMES, chosen, columns
from experiments.one_step import ends_of

AS_PRINTED = {"functions": ("vjp_step",), "multiplier": "scalar", "sweep_order": "printed", "relaxation": 1.0}


def made_as_printed() -> Robot:
    return load(generated("double_pendulum", variants=("published",), **AS_PRINTED))


def test_columns_in_their_order() -> None:
    robot = loaded("double_pendulum")
    assert chosen(robot, ()) == ("paper_gauss_seidel", "paper_jacobi", "paper_direct", "joint")
    assert chosen(robot, ("joint", "paper_direct")) == ("paper_direct", "joint")
    assert [c.step for c in columns(robot, ())] == list(chosen(robot, ()))


def test_the_step_as_printed_is_that_of_the_robot_made_so() -> None:
    robot, printed = loaded("double_pendulum"), made_as_printed()
    every = columns(robot, (), printed)
    assert [c.label for c in every[:3]] == [
        "Gauss–Seidel as printed × 30",
        "Jacobi as printed × 30",
        "Gauss–Seidel × 30",
    ]
    assert [c.robot for c in every[:3]] == [printed, printed, robot] and every[-1].label == "ours"
    named = columns(robot, ("joint", "printed_jacobi"), printed)
    assert [(c.robot, c.step) for c in named] == [(printed, "paper_jacobi"), (robot, "joint")]
    assert [c.label for c in columns(printed, ("printed_jacobi",))] == ["Jacobi as printed × 30"]
    p, pd, u = np.array([[0.4, -0.7]]), np.array([[0.3, -1.0]]), np.array([[2.0, -0.5]])
    alpha = robot.alpha.defaults
    found = ends_of(printed, every[0].step, p, pd, 0.01, alpha, ("omega",))(u)[0].ravel()
    judge = Printed(read_arm(ROOT / "codegen" / "robots" / "double_pendulum.urdf"))
    xi = np.asarray(robot.fk(p[0], pd[0], alpha)).reshape(-1, 13)
    np.testing.assert_allclose(found, judge.step(xi, u[0], 0.01, alpha[:3], 30)[:, 10:].ravel(), atol=1e-9)


def test_what_is_missing_or_another_robot_is_said() -> None:
    robot, printed = loaded("double_pendulum"), made_as_printed()
    with pytest.raises(InputError, match="diffpbd generate double_pendulum .*--multiplier scalar --printed-order"):
        columns(robot, ("printed_jacobi",))
    with pytest.raises(InputError, match="--printed: double_pendulum was not generated as printed"):
        columns(robot, (), robot)
    with pytest.raises(InputError, match="Did you mean printed_jacobi"):
        columns(robot, ("printed_jacobo",))
    with pytest.raises(InputError, match="other joints"):
        columns(loaded("prismatic_skew"), (), printed)
    assert set(NAMES) >= set(chosen(robot, ()))
