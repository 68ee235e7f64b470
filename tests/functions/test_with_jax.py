"""Steps and rollouts as JAX functions: values and gradients are the generated ones, under grad, jit and vmap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.robots import loaded
from support.standin import standing_in

from diffpbd.runtime import InputError, Robot

jax = pytest.importorskip("jax", reason="JAX is not installed (extra jax)")
with_jax = pytest.importorskip("diffpbd.runtime.with_jax")

ROWS, STEPS = 3, 5


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.fixture(scope="module")
def robot() -> Robot:
    return loaded("double_pendulum")


@pytest.fixture(scope="module")
def given(robot: Robot) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    n = robot.n
    return {
        "p": rng.normal(size=(ROWS, n)), "pd": rng.normal(size=(ROWS, n)), "U": rng.normal(size=(ROWS, STEPS, n)),
        "alpha": robot.alpha.vector({"payload.mass": 0.3, "friction.viscous.elbow": 0.1}), "h": 0.01,
        "P": rng.normal(size=(ROWS, STEPS + 1, n)), "PD": rng.normal(size=(ROWS, STEPS + 1, n)),
    }  # fmt: skip


def test_gradients_of_rollouts(robot: Robot, given: dict[str, Any]) -> None:
    roll = with_jax.rollout(robot)

    def loss(p: Any, pd: Any, U: Any, h: Any, alpha: Any) -> Any:
        P, PD = roll(p, pd, U, h, alpha)
        return (P * given["P"]).sum() + (PD * given["PD"]).sum()

    inputs = [given[k] for k in ("p", "pd", "U", "h", "alpha")]
    every = (0, 1, 2, 3, 4)
    found = jax.jit(jax.grad(loss, argnums=every))(*inputs)
    bars = robot.vjp_rollout(*inputs, given["P"], given["PD"])
    expected = [*bars[:3], bars.h_bar.sum(), bars.alpha_bar.sum(0)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)
    rows = jax.vmap(
        jax.grad(lambda P, PD, p, pd, U, h, alpha: _one(roll, P, PD, p, pd, U, h, alpha), argnums=6),
        (0,) * 5 + (None,) * 2,
    )
    np.testing.assert_allclose(rows(given["P"], given["PD"], *inputs), bars.alpha_bar, rtol=1e-13, atol=1e-13)


def _one(roll: Any, P_bar: Any, PD_bar: Any, *inputs: Any) -> Any:
    P, PD = roll(*inputs)
    return (P * P_bar).sum() + (PD * PD_bar).sum()


def test_steps_with_defaults_and_leading_axes(robot: Robot, given: dict[str, Any]) -> None:
    step = with_jax.step(robot)
    p, pd, u = given["p"], given["pd"], given["U"][:, 0]
    for one, other in zip(jax.jit(step)(p, pd, u), robot.joint_step(p, pd, u), strict=True):
        np.testing.assert_array_equal(one, other)
    grid = step(p[:, None], pd[None], u[0])
    assert grid[0].shape == (ROWS, ROWS, robot.n)
    np.testing.assert_allclose(grid[1][1, 2], robot.joint_step(p[1], pd[2], u[0]).pd_next, rtol=1e-12)
    slope = jax.grad(lambda u: step(p[:, None], pd[None], u)[1].sum())(u[0])
    near = (step(p[:, None], pd[None], u[0] + 1e-6)[1].sum() - step(p[:, None], pd[None], u[0] - 1e-6)[1].sum()) / 2e-6
    np.testing.assert_allclose(slope.sum(), near, rtol=1e-6)
    with pytest.raises(InputError, match="leading axes that do not go together"):
        step(p, pd[:2], u)


def test_jacobians_by_rows_of_the_identity(robot: Robot, given: dict[str, Any]) -> None:
    step = with_jax.step(robot)
    p, pd, u = given["p"][0], given["pd"][0], given["U"][0, 0]
    found = jax.jacrev(lambda u: step(p, pd, u)[1])(u)
    np.testing.assert_allclose(found, robot.jac_joint_step(p, pd, u).dpd_next_du, rtol=1e-9)


def test_in_jax_own_precision(robot: Robot, given: dict[str, Any]) -> None:
    jax.config.update("jax_enable_x64", False)
    found = with_jax.step(robot)(given["p"], given["pd"], given["U"][:, 0])[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, robot.joint_step(given["p"], given["pd"], given["U"][:, 0]).p_next, atol=1e-6)


def test_functions_of_a_gpu_within_a_trace(
    robot: Robot, given: dict[str, Any], tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv("DIFFPBD_CACHE", "off")
    with standing_in(tmp_path):
        roll = with_jax.rollout(robot.gpu("float64"))
        found = jax.jit(
            jax.grad(lambda a: _one(roll, given["P"], given["PD"], given["p"], given["pd"], given["U"], 0.01, a))
        )(given["alpha"])
    bars = robot.vjp_rollout(given["p"], given["pd"], given["U"], 0.01, given["alpha"], given["P"], given["PD"])
    np.testing.assert_allclose(found, bars.alpha_bar.sum(0), rtol=1e-8, atol=1e-9)


def test_a_robot_without_steps_is_refused() -> None:
    class Bare:
        functions: dict[str, Any] = {}

        def __repr__(self) -> str:
            return "<bare>"

    with pytest.raises(InputError, match="<bare> has no joint_step and no vjp_joint_step"):
        with_jax.step(Bare())


def test_parameters_go_by_name_too(robot: Robot, given: dict[str, Any]) -> None:
    named = {"payload.mass": 0.3, "friction.viscous.elbow": 0.1}
    step = with_jax.step(robot)
    state = given["p"][0], given["pd"][0], given["U"][0, 0]
    for one, other in zip(step(*state, alpha=named), step(*state, alpha=given["alpha"]), strict=True):
        assert np.array_equal(one, other)
    with pytest.raises(InputError, match="no parameter 'payload.mas'"):
        step(*state, alpha={"payload.mas": 0.3})
