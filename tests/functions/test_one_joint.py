"""A robot of one joint: its vectors and matrices are told from numbers by the manifest, not by their sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.arguments import arguments, outputs, row_of
from support.robots import generated, loaded

from diffpbd.runtime import Robot, load
from diffpbd.runtime.functions.function import Function

ROWS = 3
NUMBERS = {"h", "kinetic", "potential", "lever_torque"}
MATRICES = {"M": (1, 1), "J": (6, 1), "rotation": (3, 3), "Y": (1, 10), "terms": (1, 16)}
STEPS = 4


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load(generated("double_pendulum", hold=("elbow",)))


def expected(name: str, rows: int) -> tuple[int, ...]:
    plain = name.removesuffix("_bar")
    if plain in NUMBERS:
        return ()
    if plain.startswith("d") and "_d" in plain:
        return (rows, 20 if plain.endswith("dalpha") else 1)
    return MATRICES.get(plain, (rows,))


def test_every_function_in_one_value_and_in_rows(robot: Robot) -> None:
    """Shapes by name; rows equal single values bit by bit."""
    rng = np.random.default_rng(3)
    values = dict(zip(("p", "pd", "pdd", "u"), 0.3 * rng.normal(size=(4, ROWS, 1)), strict=True))
    seen = 0
    for name, function in robot.functions.items():
        if not isinstance(function, Function):
            continue
        given = arguments(robot, function, values, robot.alpha.defaults)
        batch = outputs(function, function(**given))
        for row in range(ROWS):
            single = outputs(function, function(**row_of(given, row)))
            for argument in function.facts.outputs:
                found, shape = single[argument.name], expected(argument.name, argument.rows)
                assert np.shape(found) == shape, (name, argument.name)
                assert isinstance(found, np.ndarray if np.shape(found) else float)
                assert batch[argument.name].shape == (ROWS, *np.shape(found))
                np.testing.assert_array_equal(batch[argument.name][row], found, err_msg=f"{name} {argument.name}")
                seen += 1
    assert seen > 200


def test_a_number_stands_for_a_vector_of_one(robot: Robot) -> None:
    """(1,) or a number for a vector and for h; rows of vectors need their axis."""
    one = robot.joint_step([0.3], [0.1], [0.2], 0.01)
    for found in (robot.joint_step(0.3, 0.1, 0.2, [0.01]), robot.joint_step([0.3], 0.1, [0.2], h=np.array(0.01))):
        assert found.p_next.shape == (1,) and found.p_next == one.p_next and found.pd_next == one.pd_next
    rows = robot.joint_step([[0.3]] * 2, [0.1], [0.2], [0.01, 0.02])
    assert rows.p_next.shape == (2, 1) and (rows.p_next[0] == one.p_next).all()


def test_rollouts(robot: Robot) -> None:
    U = 0.1 * np.ones((STEPS, 1))
    P, PD = robot.rollout([0.3], [0.0], U)
    assert P.shape == PD.shape == (STEPS + 1, 1)
    starts = np.array([[0.3], [0.5], [0.7]])
    batch = robot.rollout(starts, [0.0], U, [0.01, 0.02, 0.03])
    assert batch.P.shape == (3, STEPS + 1, 1) and (batch.P[0] == P).all()
    back = robot.vjp_rollout([0.3], [0.0], U, P_bar=P)
    assert back.p0_bar.shape == (1,) and back.U_bar.shape == (STEPS, 1) and isinstance(back.h_bar, float)
    pieces = robot.vjp_rollout([0.3], [0.0], U, P_bar=P, segment=1)
    for a, b in zip(back, pieces, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-14)
    rows = robot.vjp_rollout(starts, [0.0], U, P_bar=P)
    assert rows.p0_bar.shape == (3, 1) and rows.h_bar.shape == (3,) and rows.h_bar[0] == back.h_bar


def plan(robot: Robot, p: Any, **changed: Any) -> Any:
    """A short plan to the pose 0."""
    n = robot.n
    nodes, steps = np.zeros((STEPS + 1, n)), np.zeros((STEPS, n))
    given: dict[str, Any] = {
        "p": p, "pd": np.zeros(n), "u_last": np.zeros(n), "P_ref": nodes, "PD_ref": nodes, "U_ref": steps,
        "tip_ref": np.zeros((STEPS + 1, 3)), "weights": np.ones((6, n)), "tip_weights": np.zeros((2, 3)),
        "bounds": np.array([-50.0, 50.0, 50.0, -3.0, 3.0, 9.0])[:, None] * np.ones(n),
        "options": [2, 10, 60, 1e-8, 1e-8, 1e3, 1e3], "P_guess": nodes, "PD_guess": nodes, "U_guess": steps, **changed,
    }  # fmt: skip
    return robot.mpc(**given)


@pytest.mark.parametrize("joints", [1, 2])
def test_matrices_of_a_plan_are_shared_by_its_rows(robot: Robot, joints: int) -> None:
    chosen = robot if joints == 1 else loaded("double_pendulum")
    starts = np.linspace(0.1, 0.3, 2 * joints).reshape(2, joints)
    both = plan(chosen, starts)
    assert both.U.shape == (2, STEPS, joints)
    for row in range(2):
        one = plan(chosen, starts[row])
        np.testing.assert_array_equal(both.U[row], one.U)
        np.testing.assert_array_equal(both.info[row], one.info)


def test_the_compiled_function_in_casadi(robot: Robot) -> None:
    import casadi

    step = robot.casadi("joint_step", external=True)
    symbols = [casadi.MX.sym(step.name_in(k), step.sparsity_in(k)) for k in range(step.n_in())]
    by = [casadi.jacobian(step(*symbols)[0], s) for s in symbols[:4]]
    jacobian = casadi.Function("jacobian", symbols, by)
    found = [float(x) for x in jacobian(0.3, 0.1, 0.2, 0.01, robot.alpha.defaults)]
    exact = robot.jac_joint_step([0.3], [0.1], [0.2], 0.01)
    np.testing.assert_array_equal(found[:3], [exact.dp_next_dp[0, 0], exact.dp_next_dpd[0, 0], exact.dp_next_du[0, 0]])
    by_h = robot.vjp_joint_step([0.3], [0.1], [0.2], 0.01, p_next_bar=[1.0], pd_next_bar=[0.0]).h_bar
    assert found[3] == by_h


def test_numbers_of_a_robot_with_more_joints_are_the_same(robot: Robot) -> None:
    """A single number of a robot with two joints is a number by name."""
    two = {f.name: f for f in loaded("double_pendulum").manifest.functions}
    for f in robot.manifest.functions:
        for one, more in zip((*f.inputs, *f.outputs), (*two[f.name].inputs, *two[f.name].outputs), strict=True):
            assert one.axes == more.axes, (f.name, one.name)
            assert (more.axes == 0) == (more.rows == more.cols == 1), (f.name, one.name)
            assert more.axes == 2 or more.cols == 1
