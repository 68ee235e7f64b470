"""Rollouts of steps on maximal states and back-propagation through them, in C: equal to the steps one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError, SolverError

H, STEPS = 0.01, 6
VARIANTS = ("", "_variational_direct", "_paper_direct", "_paper_gauss_seidel", "_paper_jacobi")


@pytest.fixture(scope="module")
def robot() -> Robot:
    return loaded("double_pendulum")


@pytest.fixture(scope="module")
def given(robot: Robot) -> tuple[Any, ...]:
    """Start, torques, friction and a seed for every node."""
    rng = np.random.default_rng(7)
    xi0 = robot.fk(np.array([0.4, -0.7]), np.array([0.5, 1.0]))
    friction = {f"friction.{kind}.{joint}": 0.05 for kind in ("coulomb", "viscous") for joint in robot.joints}
    return xi0, rng.normal(size=(STEPS, 2)), robot.alpha.vector(friction), rng.normal(size=(STEPS + 1, 26))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rubbing", [False, True], ids=["free", "friction"])
def test_it_is_the_steps_one_by_one_and_their_reverse_modes(
    robot: Robot, given: tuple[Any, ...], variant: str, rubbing: bool
) -> None:
    xi0, U, alpha, seeds = given
    alpha = alpha if rubbing else robot.alpha.defaults
    step, reverse = robot.function(f"step{variant}"), robot.function(f"vjp_step{variant}")
    nodes = [xi0]
    for u in U:
        nodes.append(step(nodes[-1], u, H, alpha))
    rolled = robot.function(f"rollout_step{variant}")(xi0, U, H, alpha)
    assert rolled.shape == (STEPS + 1, 26)
    assert np.array_equal(rolled, nodes)
    xi_bar, h_bar, alpha_bar = seeds[-1], 0.0, np.zeros_like(alpha)
    U_bar = np.zeros_like(U)
    for k in reversed(range(STEPS)):
        part = reverse(nodes[k], U[k], H, alpha, xi_bar)
        xi_bar, U_bar[k] = part.xi_bar + seeds[k], part.u_bar
        h_bar, alpha_bar = h_bar + part.h_bar, alpha_bar + part.alpha_bar
    back = robot.function(f"vjp_rollout_step{variant}")
    for segment in (None, 1, 4):
        got = back(xi0, U, H, alpha, seeds, segment=segment)
        for found, expected in zip(got, (xi_bar, U_bar, h_bar, alpha_bar), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(xi_bar).max())


def test_gradient_of_a_loss_over_a_window_of_the_published_step(robot: Robot, given: tuple[Any, ...]) -> None:
    """Central differences of Σ |ξ - ξ̂|² through 6 steps of 30 Gauss-Seidel sweeps, by a torque and by a mass."""
    xi0, U, _, seeds = given
    target, alpha = 0.1 * seeds, robot.alpha.defaults
    forward = robot.function("rollout_step_paper_gauss_seidel")

    def loss(U: Any, alpha: Any) -> float:
        return float(((forward(xi0, U, H, alpha) - target) ** 2).sum())

    seed = 2 * (forward(xi0, U, H, alpha) - target)
    got = robot.function("vjp_rollout_step_paper_gauss_seidel")(xi0, U, H, alpha, seed)
    e = 1e-5
    shift = np.zeros_like(U)
    shift[1, 0] = e
    assert got.U_bar[1, 0] == pytest.approx((loss(U + shift, alpha) - loss(U - shift, alpha)) / (2 * e), rel=1e-6)
    heavier = np.zeros_like(alpha)
    heavier[robot.alpha.index("payload.mass")] = e
    slope = (loss(U, alpha + heavier) - loss(U, alpha)) / e  # a negative mass is refused
    assert got.alpha_bar[robot.alpha.index("payload.mass")] == pytest.approx(slope, rel=1e-3)


def test_batches_and_threads(robot: Robot, given: tuple[Any, ...]) -> None:
    xi0, U, alpha, seeds = given
    many = np.stack([U, 2 * U, -U])
    forward, back = (robot.function(f"{k}rollout_step_paper_jacobi") for k in ("", "vjp_"))
    rows = forward(xi0, many, H, alpha, threads=2)
    pulled = back(xi0, many, H, alpha, seeds, threads=2, segment=3)
    for k, u in enumerate(many):
        assert np.array_equal(rows[k], forward(xi0, u, H, alpha))
        np.testing.assert_allclose(pulled.U_bar[k], back(xi0, u, H, alpha, seeds).U_bar, rtol=1e-12)


def test_no_steps_at_all_and_a_missing_seed(robot: Robot, given: tuple[Any, ...]) -> None:
    xi0, U, alpha, _ = given
    assert np.array_equal(robot.rollout_step(xi0, U[:0], H, alpha), xi0[None])
    assert not np.any(robot.vjp_rollout_step(xi0, U, H, alpha).U_bar)


def test_refused_by_name(robot: Robot, given: tuple[Any, ...]) -> None:
    xi0, U, _, seeds = given
    with pytest.raises(InputError, match=r"vjp_rollout_step.*XI_bar.*\(7, 26\)"):
        robot.vjp_rollout_step(xi0, U, H, None, seeds[1:])
    rotors = robot.alpha.vector({f"rotor_inertia.{robot.joints[0]}": 0.1})
    for call in (robot.rollout_step, robot.vjp_rollout_step):
        with pytest.raises(SolverError, match="status 3"):
            call(xi0, U, H, rotors)
