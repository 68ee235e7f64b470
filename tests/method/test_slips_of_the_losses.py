"""Misprints of the paper beside the step: angular velocities by joint rates (eq. 24) and the gradients of losses (eqs. 25
and 27). Each test fails with the printed version; the right one is judged by differences of the loss itself."""

from __future__ import annotations

import numpy as np
import pytest
from support.maximal import Array, evaluate, free, matrix_of, numbers, shipped, tree_of

from diffpbd.codegen.method import step
from diffpbd.codegen.method.kinematics import fk, joint_state

WEIGHTS = (1.0, 0.02, 1e-4)
"""λ₁ [1/rad²], λ₂ [s²/rad²], λ₃ [1/(N·m)²]."""
STEP, DELTA = 0.01, 1e-3
"""[s], and of differences of torques [N·m]."""


def test_12_angular_velocity_of_a_link_ends_with_the_joint_that_carries_it() -> None:
    """Eq. 24: joint i joins links i and i + 1 (Algorithm 2), so the sum of link n ends with joint n - 1; the print adds joint
    n, beyond the link."""
    robot = shipped("baxter_bare")
    rng = np.random.default_rng(3)
    p, pd = rng.uniform(-1, 1, robot.n), rng.uniform(0.5, 1.5, robot.n)
    joint = numbers(robot)["joint"]
    xi = evaluate(fk(tree_of(robot)), p=p, pd=pd, joint=joint)["xi"].reshape(-1, 13)
    frames = [
        np.eye(3),
        *(matrix_of(state[6:10]) for state in xi),
    ]  # R of the printed links 1 to N + 1; the first is the base
    turns = [frames[i] @ joint.reshape(-1, 28)[i][16:19] * pd[i] for i in range(robot.n)]  # R(q_i) b_i ṗ_i
    ours, printed = (np.array([sum(turns[: i + more], np.zeros(3)) for i in range(1, robot.n)]) for more in (0, 1))
    np.testing.assert_allclose(ours, xi[:-1, 10:13], atol=1e-13)
    assert np.abs(printed - xi[:-1, 10:13]).max(axis=1).min() > 0.4


def follow(u: Array) -> tuple[Array, Array]:
    """Joint angles and link rates (steps, …) of a double pendulum under torques u (steps, n)."""
    robot = shipped("double_pendulum")
    tree, given = tree_of(robot), numbers(robot) | free(robot) | {"h": STEP}
    run, read = step.paper_direct(tree).numpy(), joint_state(tree).numpy()
    xi = evaluate(fk(tree), p=[0.4, -0.7], pd=[0.5, 1.0], joint=given["joint"])["xi"].ravel()
    p, omega = [], []
    for now in u:
        known = given | {"xi": xi, "u": now}
        xi = run(**{k: known[k] for k in step.paper_direct(tree).inputs})["xi_next"].ravel()
        p.append(read(xi=xi, joint=given["joint"], p_ref=np.zeros(2))["p"].ravel())
        omega.append(xi.reshape(-1, 13)[:, 10:13].ravel())
    return np.array(p), np.array(omega)


@pytest.mark.thorough
def test_13_the_chain_rule_of_losses_weighs_every_rate_and_every_later_step() -> None:
    """Eqs. 25 and 27: ∂L/∂ω stands before ∂ω/∂u; a torque moves all later states; and λ₃'s part is no constant."""
    u = np.array([[1.0, -0.5], [0.2, 0.4]])
    before = np.array([0.3, 0.3])
    aim_p, aim_omega = follow(u + 0.7)

    def loss(u: Array) -> float:
        p, omega = follow(u)
        change = np.diff(np.vstack([before, u]), axis=0)
        terms = ((p - aim_p) ** 2, (omega - aim_omega) ** 2, change**2)
        return float(sum(w * term.sum() for w, term in zip(WEIGHTS, terms, strict=True)) / u.size)

    exact, p_u, omega_u = np.zeros(4), [], []
    for k in range(4):
        d = DELTA * np.eye(4)[k].reshape(2, 2)
        exact[k] = (loss(u + d) - loss(u - d)) / (2 * DELTA)
        (p1, omega1), (p0, omega0) = follow(u + d), follow(u - d)
        p_u.append((p1 - p0) / (2 * DELTA))
        omega_u.append((omega1 - omega0) / (2 * DELTA))
    by_p, by_omega = np.moveaxis(np.array(p_u), 0, -1), np.moveaxis(np.array(omega_u), 0, -1)  # (steps, …, torques)
    p, omega = follow(u)
    L_p, L_omega = 2 * WEIGHTS[0] / 4 * (p - aim_p), 2 * WEIGHTS[1] / 4 * (omega - aim_omega)
    change = np.diff(np.vstack([before, u, u[-1:]]), axis=0)
    smooth = 2 * WEIGHTS[2] / 4 * (change[:-1] - change[1:]).ravel()
    of_p, of_omega = np.einsum("ti,tik->k", L_p, by_p), np.einsum("ti,tik->k", L_omega, by_omega)
    scale = np.abs(exact).max()
    np.testing.assert_allclose(of_p + of_omega + smooth, exact, atol=1e-6 * scale)
    same = np.zeros((2, 1, 4))  # the print differentiates the state of a step by the torque of that step alone
    same[0, :, :2] = same[1, :, 2:] = 1.0
    wrong = {
        "no ∂L/∂ω": of_p + by_omega.sum(axis=(0, 1)) + smooth,
        "λ₃ constant": of_p + of_omega,
        "steps apart": np.einsum("ti,tik->k", L_p, by_p * same)
        + np.einsum("ti,tik->k", L_omega, by_omega * same)
        + smooth,
    }
    assert {name: np.abs(value - exact).max() > 0.05 * scale for name, value in wrong.items()} == dict.fromkeys(
        wrong, True
    )
