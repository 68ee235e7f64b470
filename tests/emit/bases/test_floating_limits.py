"""A joint that runs into its own stop on a floating base: momentum is kept, energy is not, derivatives hold."""

from __future__ import annotations

import numpy as np
import pytest
from support.made.weightless import LOWER, SPIN, UPPER, Array, start, weightless
from support.small.floating_arm import stopped_flap


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
