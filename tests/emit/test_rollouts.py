"""Rollouts share between steps what `joint_step` works out for each; they are the same steps, and so are their gradients."""

from __future__ import annotations

import numpy as np
import pytest
from support.arguments import effort
from support.robots import loaded, loaded_alpha

from diffpbd.runtime import Robot

STEPS = 40
SOLVED = 1e-12
"""[rad, m] Both are solved to 1e-14; each of 40 steps carries what the ones before it left."""


@pytest.fixture(params=["double_pendulum", "prismatic_skew", "baxter_bare"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return loaded(request.param)


def frictionless(robot: Robot, alpha: np.ndarray) -> np.ndarray:
    """The same parameters without friction, with which rollouts go in momentum form."""
    alpha = alpha.copy()
    for kind in ("friction.coulomb", "friction.viscous"):
        alpha[list(robot.alpha.indices(kind))] = 0.0
    return alpha


def motion(robot: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A start, torques, and alpha with every force."""
    rng = np.random.default_rng(3)
    p, pd = rng.uniform(-0.5, 0.5, (2, robot.n))
    return p, pd, effort(robot) * rng.uniform(-5.0, 5.0, (STEPS, robot.n)), loaded_alpha(robot.alpha)


def test_a_rollout_is_its_steps(robot: Robot) -> None:
    p, pd, U, alpha = motion(robot)
    P, PD = robot.rollout(p, pd, U, 0.01, alpha)
    for k in range(STEPS):
        p, pd = robot.joint_step(p, pd, U[k], 0.01, alpha)
        np.testing.assert_allclose(P[k + 1], p, rtol=0, atol=SOLVED)
        np.testing.assert_allclose(PD[k + 1], pd, rtol=0, atol=SOLVED / 0.01)


@pytest.mark.parametrize("start", ["moving", "still"])
def test_in_momentum_form_it_is_its_steps(robot: Robot, start: str) -> None:
    """100 steps from smooth torques; the jump in the middle is beyond what the steps before foretell."""
    n, steps = robot.n, 100
    p, pd, _, alpha = motion(robot)
    alpha, pd = frictionless(robot, alpha), pd * (start == "moving")
    time = np.linspace(0.0, 6.0, steps)[:, None] + np.arange(n)
    U = 0.05 * effort(robot) * (np.sin(time) - (time > 3.0) * np.cos(time))
    U[20] = 10.0 * effort(robot)
    U[21] = -U[20]
    P, PD = robot.rollout(p, pd, U, 0.01, alpha)
    worst = np.zeros(2)
    for k in range(steps):
        p, pd = robot.joint_step(p, pd, U[k], 0.01, alpha)
        worst = np.maximum(worst, [np.abs(P[k + 1] - p).max(), np.abs(PD[k + 1] - pd).max()])
    assert worst[0] <= 1e-9, worst
    assert worst[1] <= 1e-7, worst
    alone = [robot.rollout(P[k], PD[k], U[k : k + 1], 0.01, alpha) for k in (0, 50)]
    for k, (one, _) in zip((0, 50), alone, strict=True):
        np.testing.assert_allclose(one[1], P[k + 1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["friction.coulomb", "friction.viscous"])
def test_friction_of_one_joint_is_seen(robot: Robot, kind: str) -> None:
    """The last joint's alone keeps a rollout from the momentum form, which would lose it."""
    p, pd, U, alpha = motion(robot)
    alpha = frictionless(robot, alpha)
    free = robot.rollout(p, pd, U[:3], 0.01, alpha)
    alpha[robot.alpha.indices(kind)[-1]] = 0.5
    P, _ = robot.rollout(p, pd, U[:3], 0.01, alpha)
    for k in range(3):
        p, pd = robot.joint_step(p, pd, U[k], 0.01, alpha)
        np.testing.assert_allclose(P[k + 1], p, rtol=0, atol=SOLVED)
    assert np.abs(free.P[3] - P[3]).max() > 1e-6


@pytest.mark.parametrize("friction", [True, False])
def test_its_gradient_is_that_of_its_steps(robot: Robot, friction: bool) -> None:
    p, pd, U, alpha = motion(robot)
    alpha = alpha if friction else frictionless(robot, alpha)
    P, PD = robot.rollout(p, pd, U, 0.01, alpha)
    P_bar, PD_bar = np.random.default_rng(4).normal(size=(2, *P.shape))
    found = robot.vjp_trajectory(U, 0.01, alpha, P, PD, P_bar, PD_bar)
    p_bar, pd_bar, alpha_bar, h_bar = P_bar[-1], PD_bar[-1], np.zeros(len(alpha)), 0.0
    for k in range(STEPS - 1, -1, -1):
        step = robot.vjp_joint_step(P[k], PD[k], U[k], 0.01, alpha, p_bar, pd_bar)
        np.testing.assert_allclose(found.U_bar[k], step.u_bar, rtol=1e-8, atol=1e-9 * np.abs(found.U_bar).max())
        p_bar, pd_bar = step.p_bar + P_bar[k], step.pd_bar + PD_bar[k]
        alpha_bar, h_bar = alpha_bar + step.alpha_bar, h_bar + step.h_bar
    for one, two in (
        (found.p0_bar, p_bar),
        (found.pd0_bar, pd_bar),
        (found.alpha_bar, alpha_bar),
        (found.h_bar, h_bar),
    ):
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-9 * np.abs(two).max())


@pytest.mark.parametrize("friction", [True, False])
def test_its_gradient_is_the_difference_quotient(robot: Robot, friction: bool) -> None:
    """By the start, torques, parameters and h, each along one direction; seeds on every node, and on the last pose alone."""
    p, pd, U, alpha = motion(robot)
    U, alpha = 0.1 * U[:12], alpha if friction else frictionless(robot, alpha)
    rng = np.random.default_rng(7)
    whole = rng.normal(size=(2, 13, robot.n))
    last = np.zeros_like(whole)
    last[0, -1] = whole[0, -1]
    held = {"p0": p, "pd0": pd, "U": U, "h": np.array(0.01), "alpha": alpha}
    kept = alpha != 0.0  # a friction that is zero stays so: its quotient would not be of one rollout
    for seeds in (whole, last):
        found = robot.vjp_rollout(*held.values(), *seeds)

        def loss(seeds: np.ndarray = seeds, **changed: np.ndarray) -> float:
            return float((seeds * np.array(robot.rollout(*(held | changed).values()))).sum())

        for name, value in held.items():
            along = rng.normal(size=value.shape) * (kept if name == "alpha" else 1.0) * (1e-2 if name == "h" else 1.0)
            quotient = sum(
                sign * weight * loss(**{name: value + sign * reach * 1e-4 * along})
                for reach, weight in ((1, 8 / 12), (2, -1 / 12))
                for sign in (1, -1)
            ) / 1e-4  # fmt: skip
            ours = float((np.asarray(getattr(found, f"{name}_bar")) * along).sum())
            assert abs(ours - quotient) <= 1e-6 * max(1.0, abs(quotient)), (name, ours, quotient)


@pytest.mark.parametrize("friction", [True, False])
def test_after_a_failure_the_last_good_state_stays(robot: Robot, friction: bool) -> None:
    p, pd, U, alpha = motion(robot)
    alpha = alpha if friction else frictionless(robot, alpha)
    P, PD = robot.rollout(p, pd, U, 0.01, alpha)
    U[5] = 1e12
    out = np.full((STEPS + 1, robot.n), np.nan), np.full((STEPS + 1, robot.n), np.nan)
    assert robot.functions["rollout"].fixed(STEPS, [p, pd, U, np.array(0.01), alpha], out)() == 1
    for found, whole in zip(out, (P, PD), strict=True):
        np.testing.assert_array_equal(found[:6], whole[:6])
        np.testing.assert_array_equal(found[6:], np.broadcast_to(whole[5], (STEPS - 5, robot.n)))


def test_no_steps(robot: Robot) -> None:
    p, pd, _, alpha = motion(robot)
    nothing = np.zeros((0, robot.n))
    P, _ = robot.rollout(p, pd, nothing, 0.01, alpha)
    np.testing.assert_array_equal(P, [p])
    back = robot.vjp_rollout(p, pd, nothing, 0.01, alpha, P_bar=np.ones((1, robot.n)))
    np.testing.assert_array_equal(back.p0_bar, np.ones(robot.n))
    assert back.h_bar == 0.0 and not back.alpha_bar.any()
