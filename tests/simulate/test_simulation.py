from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime import Robot, SolverError
from diffpbd.runtime.logs.csv import TorqueLog
from diffpbd.runtime.simulate.orders import SUZUKI_SUBSTEPS
from diffpbd.runtime.simulate.simulation import maximal_variant, simulate

Q0, DQ0 = np.array([0.3, -0.2]), np.array([0.1, 0.4])


def test_it_is_the_rollout_of_joint_step(twin: Robot) -> None:
    run = simulate(twin, duration=0.5, start=(Q0, DQ0))
    P, PD = twin.rollout(Q0, DQ0, np.zeros((50, 2)))
    assert (run.q == P).all() and (run.dq == PD).all()
    assert run.time[-1] == 0.5 and (run.tau == 0).all() and run.function == "joint_step"
    assert run.kinetic is not None and run.potential is not None and run.gap is not None
    assert run.kinetic[0] == twin.energy(Q0, DQ0).kinetic
    assert (run.gap == 0).all()


def test_the_composition_takes_suzukis_substeps(twin: Robot) -> None:
    assert sum(SUZUKI_SUBSTEPS) == pytest.approx(1, abs=1e-15)
    assert sum(s**3 for s in SUZUKI_SUBSTEPS) == pytest.approx(0, abs=1e-15)
    run = simulate(twin, duration=0.02, start=(Q0, DQ0), step=4)
    p, pd = Q0, DQ0
    for s in SUZUKI_SUBSTEPS * 2:
        p, pd = twin.joint_step(p, pd, [0, 0], s * 0.01)
    assert (run.q[-1] == p).all()


@pytest.mark.parametrize("name", ["double_pendulum", "prismatic_skew"])
@pytest.mark.parametrize("order", [2, 4, 6])
def test_orders(name: str, order: Literal[2, 4, 6]) -> None:
    """Half the step, an error smaller by 2 to the order."""
    robot = loaded(name)
    start = np.linspace(0.3, 0.8, robot.n), np.linspace(-0.5, 0.5, robot.n)

    def ended(h: float, order: Literal[2, 4, 6]) -> np.ndarray:
        run = simulate(robot, duration=0.32, h=h, start=start, step=order)
        return np.concatenate([run.q[-1], run.dq[-1]])

    exact = ended(0.01, 6)
    errors = [np.abs(ended(h, order) - exact).max() for h in (0.08, 0.04)]
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.8, (errors, np.log2(errors[0] / errors[1]))


def test_gravity_torque_holds_against_gravity(twin: Robot) -> None:
    alpha = twin.alpha.vector({"spring.stiffness.a": 0, "spring.stiffness.b": 0})
    run = simulate(twin, duration=1, start=(Q0, None), torque="gravity", alpha=alpha)
    np.testing.assert_allclose(run.q, np.tile(Q0, (101, 1)), atol=1e-14)
    assert (run.tau == -0.5).all()


def test_a_log_is_held_between_its_samples(twin: Robot) -> None:
    log = TorqueLog(np.array([5.0, 5.02, 5.04]), ("b", "a"), np.array([[1.0, 10], [2, 20], [3, 30]]))
    run = simulate(twin, duration=0.05, torque=log)
    assert run.tau[:, 1].tolist() == [1, 1, 2, 2, 3, 3]
    assert run.tau[:, 0].tolist() == [10, 10, 20, 20, 30, 30]


def test_maximal_coordinates_report_gaps(twin: Robot) -> None:
    run = simulate(twin, duration=0.1, start=(Q0, DQ0), step=maximal_variant(twin, None, None))
    assert run.function == "step" and run.gap is not None
    np.testing.assert_allclose(run.gap, 1e-7 * np.arange(11), atol=1e-15)
    np.testing.assert_allclose(run.q, simulate(twin, duration=0.1, start=(Q0, DQ0)).q, atol=1e-15)


def test_a_variant_that_was_not_generated(twin: Robot) -> None:
    assert maximal_variant(twin, "variational", "direct") == "step"


def test_failures_name_the_step(twin: Robot) -> None:
    with np.errstate(all="ignore"), pytest.raises(SolverError, match=r"the state is no longer finite; a smaller h"):
        simulate(twin, duration=1e6, h=1e4, start=([1, 1], None), alpha=twin.alpha.vector({"spring.stiffness.a": 1e9}))
