from __future__ import annotations

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime import InputError
from experiments.one_step import STEPS, ends_of, function_of, label_of, least

H = 0.01
P, PD = np.array([[0.4, -0.7], [1.2, 0.5]]), np.array([[0.3, -1.0], [0.0, 2.0]])
U = np.array([[2.0, -0.5], [0.1, 0.3]])


@pytest.mark.parametrize("step", STEPS)
def test_derivatives_are_those_of_the_step(step: str) -> None:
    robot = loaded("double_pendulum")
    ends = ends_of(robot, step, P, PD, H, robot.alpha.defaults, ("p", "pd", "omega"))
    values, slopes = ends(U)
    assert values.shape == (2, 2 + 2 + 6) and slopes.shape == (2, 10, 2)
    for j in range(2):
        change = np.zeros_like(U)
        change[:, j] = 1e-3
        difference = (ends(U + change)[0] - ends(U - change)[0]) / 2e-3
        np.testing.assert_allclose(slopes[:, :, j], difference, rtol=0, atol=1e-6 * abs(difference).max())


@pytest.mark.parametrize("step", STEPS)
def test_the_torque_of_least_loss_is_found_again(step: str) -> None:
    robot = loaded("double_pendulum")
    ends = ends_of(robot, step, P, PD, H, robot.alpha.defaults)
    wanted, _ = ends(U)
    weights = np.array([1.0, 1.0, *[0.02] * 6])
    found = least(ends, wanted, weights, np.zeros_like(U))
    assert found.unsettled == 0 and found.loss.max() < 1e-20
    np.testing.assert_allclose(found.u, U, rtol=0, atol=1e-6)
    # where no torque reaches what is wanted, the gradient is zero at the optimum and not beside it
    off = wanted + 1e-3 * np.cos(np.arange(wanted.size)).reshape(wanted.shape)
    best = least(ends, off, weights, np.zeros_like(U))
    value, slope = ends(best.u)
    gradient = np.einsum("kij,ki->kj", slope, weights * (value - off))
    value, slope = ends(best.u + 0.1)
    assert abs(gradient).max() < 1e-5 * abs(np.einsum("kij,ki->kj", slope, weights * (value - off))).max()
    assert (best.loss > 1e-9).all()


def test_a_search_that_does_not_settle_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = loaded("double_pendulum")
    ends = ends_of(robot, "paper_direct", P, PD, H, robot.alpha.defaults)
    wanted = ends(U)[0]
    weights = np.ones(wanted.shape[1])
    start = np.array([[0.0, 0.0], U[1]])  # the second is there already
    monkeypatch.setattr("experiments.one_step.MOST", 1)
    assert least(ends, wanted, weights, start).unsettled == 1
    assert least(ends, wanted, weights, start, still=1e6).unsettled == 0


def test_a_step_is_found_by_its_name() -> None:
    robot = loaded("double_pendulum")
    assert [function_of(robot, s) for s in STEPS] == [
        "step_paper_gauss_seidel", "step_paper_jacobi", "step_paper_direct", "step", "joint_step",
    ]  # fmt: skip
    assert label_of(robot, "paper_jacobi") == "Jacobi × 30" and label_of(robot, "joint") == "ours"
    with pytest.raises(InputError, match="no step 'paper_jacobo'. Did you mean paper_jacobi"):
        function_of(robot, "paper_jacobo")
