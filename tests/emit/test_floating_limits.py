"""A joint that runs into its own stop on a floating base: momentum is kept, energy is not, derivatives hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.floating_arm import stopped_flap
from support.free_flyer import difference, moved, position
from support.numeric import slopes

Array = Any
H = 0.01
LOWER, UPPER = -0.8, 0.6
SPIN = np.array([0.4, -0.2, 0.1, 0.5, -0.7, 0.6, 3.0])


def weightless(**more: float) -> Array:
    values = {f"gravity.{axis}": 0.0 for axis in "xyz"} | {key.replace("__", "."): v for key, v in more.items()}
    return stopped_flap().alpha.vector(values)


def start(angle: float) -> Array:
    p = position(np.random.default_rng(1), 1)
    p[:3], p[7] = [0.1, 0.2, 0.3], angle
    return p


def momentum(P: Array, PD: Array, alpha: Array) -> Array:
    """Linear, and about the world's origin."""
    here = np.einsum("kij,kj->ki", stopped_flap().mass_matrix(P, alpha), PD)[:, :6]
    return np.hstack([here[:, :3], here[:, 3:] + np.cross(P[:, :3], here[:, :3])])


def energy(P: Array, PD: Array, alpha: Array) -> Array:
    found = stopped_flap().energy(P, PD, alpha)
    return np.asarray(found.kinetic) + np.asarray(found.potential)


@pytest.mark.parametrize("h", [0.01, 0.005])
def test_a_stop_keeps_momentum_and_takes_energy(h: float) -> None:
    robot, alpha = stopped_flap(), weightless()
    P, PD = robot.rollout(start(0.2), SPIN, np.zeros((round(5 / h), 7)), h, alpha)
    kept = momentum(P, PD, alpha)
    assert np.abs(kept - kept[0]).max() <= 1e-12 * np.abs(kept[0]).max()
    assert LOWER < P[:, 7].min() < LOWER + 1e-6 and UPPER - 1e-6 < P[:, 7].max() < UPPER
    E = energy(P, PD, alpha)
    far = weightless(limit__lower__shoulder=-1e3, limit__upper__shoulder=1e3)
    free = energy(*robot.rollout(start(0.2), SPIN, np.zeros((round(5 / h), 7)), h, far), far)
    rise, allowed = (np.max(e - np.minimum.accumulate(e)) for e in (E, free))
    assert rise <= allowed and E[-1] < E[0] - 0.05


def test_an_impact_is_the_one_that_leaves_no_rate() -> None:
    """Rates after it: what is nearest by the mass matrix to those before, with the joint at rest."""
    robot, alpha, h = stopped_flap(), weightless(), 1e-4
    P, PD = robot.rollout(start(0.55), SPIN, np.zeros((400, 7)), h, alpha)
    k = int(np.argmax(PD[:, 6] < 1e-3)) - 2
    assert PD[k, 6] > 2.0 and abs(PD[k + 2, 6]) < 1e-3
    inverse = np.linalg.inv(robot.mass_matrix(P[k], alpha))
    wanted = PD[k] - inverse[:, 6] * PD[k, 6] / inverse[6, 6]
    assert np.abs(wanted - PD[k]).max() > 0.3
    assert PD[k + 2] == pytest.approx(wanted, abs=2e-3)


@pytest.mark.parametrize("room, rate, effort", [(0.005, 3.0, 0.0), (2e-6, 0.0, 40.0), (0.3, 1.0, 0.0)])
def test_derivatives_at_a_stop(room: float, rate: float, effort: float) -> None:
    robot, alpha = stopped_flap(), weightless(gravity__x=1.0, limit__slip=1e-4)
    p, pd, u = start(UPPER - room), np.r_[SPIN[:6], rate], np.r_[0.3, -0.2, 0.1, 0.2, 0.1, -0.3, effort]
    found, end = robot.jac_joint_step(p, pd, u, H, alpha), robot.joint_step(p, pd, u, H, alpha)
    J = np.vstack([np.hstack(found[2:5]), np.hstack(found[5:8])])

    def after(d: Array, a: Array = alpha) -> Array:
        q, qd = robot.joint_step(moved(p, d[:7]), pd + d[7:14], u + d[14:], H, a)
        return np.concatenate([difference(q, end.p_next), qd])

    tried = [slopes(after, 21, step) for step in (1e-4, 4e-5, 1e-5, 1e-6)]  # 1e-4 outside a start is led in
    size = np.abs(J).max(axis=0) + 1e-3
    assert np.min([np.abs(one - J).max(axis=0) for one in tried], axis=0) == pytest.approx(0, abs=1e-6 * size.min())
    by_alpha = np.vstack(robot.jac_alpha_joint_step(p, pd, u, H, alpha))
    for name, sizes in (("limit.upper.shoulder", (1e-3, 1e-5, 1e-6)), ("limit.load", (0.1,)), ("limit.slip", (1e-5,))):
        unit = np.eye(len(alpha))[robot.alpha.index(name)]
        tried = [slopes(lambda d, e=unit: after(np.zeros(21), alpha + d * e), 1, step)[:, 0] for step in sizes]
        column = by_alpha[:, robot.alpha.index(name)]
        assert min(np.abs(one - column).max() for one in tried) < 1e-6 * (np.abs(column).max() + 1e-3), name
    seed = np.random.default_rng(2).standard_normal(14)
    back = robot.vjp_joint_step(p, pd, u, H, alpha, p_next_bar=seed[:7], pd_next_bar=seed[7:])
    assert np.concatenate([back.p_bar, back.pd_bar, back.u_bar]) == pytest.approx(seed @ J, abs=1e-10 * np.abs(J).max())
    assert back.alpha_bar == pytest.approx(seed @ by_alpha, rel=1e-7, abs=1e-10 * np.abs(by_alpha).max())
