"""Steps in contact, compiled, against the oracle, of boxes, arms and closed loops; momentum and energy."""

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


def test_a_hand_on_a_tray_that_turns_keeps_the_momentum_of_both() -> None:
    """Hand and tray press each other alike, at one point: nothing outside turns them about the upright axis, but the
    smoothing of the wall, a few centimetres away, which pushes with load · slip over 2 gap/h."""
    robot, alpha = case("reaching_arm").robot, {"contact.slip": 1e-9}
    P, PD = robot.rollout(np.array([-0.6, 0.7, 0.1]), np.array([2.0, 0.0, 0.0]), np.zeros((20, 3)), h=H)
    P, PD = robot.rollout(P[-1], PD[-1], np.zeros((20, 3)), h=H, alpha=alpha)
    kept = [(robot.mass_matrix(p) @ pd)[0] for p, pd in zip(P[1:], PD[1:], strict=True)]
    forces = [
        robot.contact_force(*state, np.zeros(3), h=H, alpha=alpha).contact_force for state in zip(P, PD, strict=True)
    ]
    assert np.abs(np.array(forces)[:, :, 2]).max() > 5.0
    assert np.ptp(kept) < 1e-10 * abs(kept[0])


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
