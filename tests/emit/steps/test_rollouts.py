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
def test_after_a_failure_the_last_good_state_stays(robot: Robot, friction: bool) -> None:
    p, pd, U, alpha = motion(robot)
    alpha = alpha if friction else frictionless(robot, alpha)
    P, PD = robot.rollout(p, pd, U, 0.01, alpha)
    U[5] = 1e12
    out = np.full((STEPS + 1, robot.n), np.nan), np.full((STEPS + 1, robot.n), np.nan)
    inputs = {"p0": p, "pd0": pd, "U": U, "h": np.array(0.01), "alpha": alpha}
    assert robot.functions["rollout"].fixed(STEPS, inputs, dict(zip(("P", "PD"), out, strict=True)))() == 1
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
