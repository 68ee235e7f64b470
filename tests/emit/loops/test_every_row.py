"""`loop_rows = "all"`: the same step, forces and derivatives as with kept rows, whatever rows depend on others."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.mechanisms import MECHANISMS, Mechanism, four_bar, robot_of
from support.small.closed_robots import FUNCTIONS, case

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import SolverError

FEW = ("joint_step", "step", "vjp_step", "jac_alpha_joint_step", "jac_forward_dynamics")
ALL = 'symbolic = ["mass", "origin", "loop"]\nloop_rows = "all"'


def twice() -> Mechanism:
    """A four-bar whose loop is closed twice: of ten rows eight depend on the others, three of them on rows that matter."""
    found = four_bar()
    found.loops = [*found.loops, {**found.loops[0], "name": "again"}]
    return found


@cache
def every(name: str) -> Robot:
    mechanism = twice() if name == "four_bar" else MECHANISMS[name]()
    functions = FEW if name == "four_bar" else FUNCTIONS
    return robot_of(mechanism, f"{name}_every_row", ALL, "mechanisms", functions)


def near(found: Any, wanted: Any) -> None:
    """By name, but forces of single rows, which those that depend on each other share, and what alpha has of them."""
    for name in wanted._fields:
        if "loop_force" in name or "alpha" in name:
            continue
        one, other = (np.asarray(getattr(x, name)) for x in (found, wanted))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-11 * max(np.abs(other).max(), 1.0), err_msg=name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["four_bar", pytest.param("watt", marks=pytest.mark.soak)])
def test_it_is_the_same_mechanism(name: str) -> None:
    c, robot = case(name), every(name)
    n, rng = robot.n, np.random.default_rng(0)
    assert not any(loop.dropped for loop in robot.manifest.robot.loops)
    assert sum(len(loop.kept) for loop in robot.manifest.robot.loops) == 10
    assert robot.manifest.robot.mobility == c.robot.manifest.robot.mobility == 1
    U, h = rng.standard_normal((100, n)), 0.01
    P, PD = robot.rollout(c.p, c.pd, U, h=h)
    wanted = c.robot.rollout(c.p, c.pd, U, h=h)
    near(type(wanted)(P, PD), wanted)
    left = robot.loop_residual(P, PD)
    assert np.abs(left.rows).max() < 1e-13
    assert np.abs(left.row_rates).max() < 1e-12
    XI = robot.rollout_step(robot.fk(c.p, c.pd), U, h=h)
    back = robot.joint_state(XI, p_ref=P)
    assert max(np.abs(back.p - P).max(), np.abs(back.pd - PD).max()) < 2e-11
    u = U[0]
    near(robot.jac_joint_step(c.p, c.pd, u, h=h), c.robot.jac_joint_step(c.p, c.pd, u, h=h))
    near(robot.jac_forward_dynamics(c.p, c.pd, u), c.robot.jac_forward_dynamics(c.p, c.pd, u))
    near(robot.inverse_dynamics(c.p, c.pd, 0 * u), c.robot.inverse_dynamics(c.p, c.pd, 0 * u))
    seed = rng.standard_normal(2 * n)
    bars = {"p_next_bar": seed[:n], "pd_next_bar": seed[n:]}
    near(robot.vjp_joint_step(c.p, c.pd, u, h=h, **bars), c.robot.vjp_joint_step(c.p, c.pd, u, h=h, **bars))
    bar = rng.standard_normal(13 * n)
    xi = c.robot.fk(c.p, c.pd)
    near(robot.vjp_step(xi, u, h=h, xi_next_bar=bar), c.robot.vjp_step(xi, u, h=h, xi_next_bar=bar))
    alpha = {f"friction.coulomb.{joint}": 0.4 for joint in robot.joints}
    near(robot.rollout(c.p, c.pd, U, h=h, alpha=alpha), c.robot.rollout(c.p, c.pd, U, h=h, alpha=alpha))


def test_the_rows_together_pull_as_the_kept_ones() -> None:
    c, robot = case("four_bar"), every("four_bar")
    u, pulls = np.array([1.0, -0.3, 0.2]), []
    for one in (robot, c.robot):
        A = np.array([one.loop_residual(c.p, e).row_rates for e in np.eye(3)]).T
        kept = [row for loop in one.manifest.robot.loops for row in loop.kept]
        force = dict(zip(kept, one.loop_force(c.p, c.pd, u), strict=True))
        per_type = ("gap_x", "gap_z", "gap_y", "tilt_x", "tilt_z")  # the order of loop_residual
        rows = [f"{loop.name}.{row}" for loop in one.manifest.robot.loops for row in per_type]
        pulls.append(A.T @ np.array([force.get(row, 0.0) for row in rows]))
    np.testing.assert_allclose(pulls[0], pulls[1], rtol=0, atol=1e-11)


def test_statuses_stay() -> None:
    c, robot = case("four_bar"), every("four_bar")
    with pytest.raises(SolverError, match="close_loops"):
        robot.joint_step(c.p + 1e-3, c.pd, np.zeros(3), h=0.01)
    p = robot.close_loops(c.p + 0.1, np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(p, c.robot.close_loops(c.p + 0.1, np.array([1.0, 0.0, 0.0])), atol=1e-9)
    # crank and coupler in line with the ground: no pose closes there
    with pytest.raises(SolverError, match=r"singular|did not close"):
        robot.close_loops(np.zeros(3), np.ones(3))
