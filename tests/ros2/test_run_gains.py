"""Gains of `run --ros2` that no option says, against the sampled damper that they make."""

from __future__ import annotations

import numpy as np
import pytest
from support.robots import generated

from diffpbd.runtime import load
from diffpbd.runtime.arms.ros2.run import KIND, QUICKEST, SAMPLED, STIFFEST


@pytest.mark.parametrize("rate", [50.0, 100.0, 250.0, 1000.0])
def test_default_gains_are_as_slow_as_the_rate_asks(rate: float) -> None:
    """An FR3's damping at 100 Hz was at the limit of any sampled damper; its speeds v grow by |1 − h λ| a tick."""
    robot = load(generated("fr3", functions=("mpc", "torque_terms"), variants=()))
    alpha = robot.alpha.vector({})
    stiffness, damping = KIND.gains(robot, alpha, rate)
    middle = np.clip(np.zeros(robot.n), robot.limits.lower, robot.limits.upper)
    mass = np.asarray(robot.mass_matrix(middle, alpha=alpha))
    fastest = np.linalg.eigvals(np.linalg.solve(mass, np.diag(damping))).real.max()
    assert fastest / rate <= SAMPLED * (1.0 + 1e-9)
    np.testing.assert_allclose(damping, 2.0 * np.sqrt(stiffness * np.diag(mass)))  # critical at every rate
    whole = np.minimum(STIFFEST * robot.limits.effort, QUICKEST**2 * np.diag(mass))
    if rate >= 250.0:
        np.testing.assert_allclose(stiffness, whole)
    else:
        assert (stiffness <= whole).all() and fastest / rate == pytest.approx(SAMPLED)
        # the last joint takes no part in the fastest mode
        assert stiffness[0] < 0.5 * whole[0] and stiffness[-1] > 0.95 * whole[-1]
