"""Steps in contact, compiled, against the oracle: ends and every derivative, of boxes, arms and closed loops; batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.made.pressed import CASES, H, case, torque

NAMES = [pytest.param(name, marks=pytest.mark.soak) if name == "box" else name for name in CASES]


@pytest.mark.parametrize("name", NAMES)
def test_steps_are_those_of_the_oracle(name: str) -> None:
    c, u = case(name), torque(case(name))
    for slip in (1e-5, 1e-2):
        alpha = c.alpha(contact__slip=slip)
        p, pd = c.p, c.pd
        for _ in range(5):
            end = c.oracle.step(p, pd, u, H, c.vector(alpha))
            assert end.solved
            p_next, pd_next = c.robot.joint_step(p, pd, u, h=H, alpha=alpha)
            np.testing.assert_allclose(p_next, end.p, rtol=0, atol=1e-13)
            np.testing.assert_allclose(pd_next, end.pd, rtol=1e-11, atol=1e-11)  # cone_rate
            found = c.robot.contact_force(p, pd, u, h=H, alpha=alpha)
            p, pd = end.p, end.pd
            np.testing.assert_allclose(found.contact_force, end.force.T, rtol=0, atol=1e-9)
            assert 1 <= found.iterations[:2].min() and found.iterations[:2].max() < 60
        assert np.abs(end.force).max() > 1.0


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_are_those_of_the_oracle(name: str) -> None:
    c, u, n = case(name), torque(case(name)), case(name).robot.n
    for slip in (1e-5, 1e-2):
        alpha = c.alpha(contact__slip=slip)
        assert c.oracle.step(c.p, c.pd, u, H, c.vector(alpha)).solved
        wanted = c.oracle.jacobian()
        J = c.robot.jac_joint_step(c.p, c.pd, u, h=H, alpha=alpha)
        A = c.robot.jac_alpha_joint_step(c.p, c.pd, u, h=H, alpha=alpha)
        blocks = [np.vstack([getattr(J, f"dp_next_d{k}"), getattr(J, f"dpd_next_d{k}")]) for k in ("p", "pd", "u")]
        found = np.hstack([*blocks, np.vstack([A.dp_next_dalpha, A.dpd_next_dalpha])])
        scale = np.abs(wanted[:, :-1]).max(axis=0) + 1e-3
        worst = (np.abs(found - wanted[:, :-1]) / scale).max(axis=0)
        assert worst.max() < 1e-7, (int(worst.argmax()), worst.max())
        seed = np.random.default_rng(2).standard_normal(2 * n)
        back = c.robot.vjp_joint_step(c.p, c.pd, u, h=H, alpha=alpha, p_next_bar=seed[:n], pd_next_bar=seed[n:])
        pulled = np.concatenate([back.p_bar, back.pd_bar, back.u_bar, back.alpha_bar, [back.h_bar]])
        size = np.abs(wanted).max(axis=0) + 1e-3
        assert (np.abs(pulled - seed @ wanted) / size).max() < 1e-6


def test_energy_in_contact_rises_no_more_than_that_of_the_free_arm_and_as_the_square_of_the_step() -> None:
    """Thrown at its table, wall and balls without gravity, at up to 0.2 rad a step: the rise is the discretisation's own."""
    robot, rng = case("reaching_arm").robot, np.random.default_rng(0)
    still = {name: 0.0 for name in robot.alpha.names if name.startswith("gravity")}
    away = {name: -50.0 for name in robot.alpha.names if name.startswith("plane.height")}
    away |= {name: 1e-6 for name in robot.alpha.names if name.startswith("contact.radius")}

    def rises(alpha: dict[str, float], h: float) -> Any:
        found = []
        for p, pd in starts:
            P, PD = robot.rollout(p, pd, np.zeros((round(0.2 / h), 3)), h=h, alpha=alpha)
            energy = np.array([sum(robot.energy(*state, alpha=alpha)) for state in zip(P, PD, strict=True)])
            found.append((energy - np.minimum.accumulate(energy)).max() / energy[0])
        return np.array(found)

    starts: list[tuple[Any, Any]] = []
    while len(starts) < 12:
        p, way = rng.uniform(-1, 1, 3), rng.standard_normal(3)
        if robot.contact_gap(p).min() > 0.02:
            starts.append((p, 5.0 * way / np.abs(way).max()))
    coarse, fine = rises(still, 0.01), rises(still, 0.005)
    free = rises(still | away, 0.01)
    assert coarse.max() < 1.2 * free.max() < 2e-3
    assert 3.0 < coarse.max() / fine.max() < 5.0
    assert (np.abs(coarse / free - 1) > 0.01).any()  # some did touch


def test_a_loop_stays_closed_in_contact() -> None:
    """It lands and slides to rest: rows hold to rounding, and nothing sinks in."""
    c = case("pressing_five_bar")
    P, PD = c.robot.rollout(c.p, c.pd, np.zeros((300, 4)), h=H)
    assert not {"forward_dynamics", "loop_force"} & set(c.robot.functions)  # an instant knows no contact
    left = [c.robot.loop_residual(p, pd) for p, pd in zip(P, PD, strict=True)]
    assert max(np.abs(r.rows).max() for r in left) < 1e-13 and max(np.abs(r.row_rates).max() for r in left) < 1e-12
    assert min(c.robot.contact_gap(p)[0] for p in P) > -0.5 * H * 0.4 * 1e-5
