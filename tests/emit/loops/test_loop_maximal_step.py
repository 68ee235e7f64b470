"""Steps on maximal states of mechanisms with closed loops: the step of `joint_step`, pinocchio, derivatives, refusals."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.mechanisms import four_bar
from support.small.closed_robots import case

from diffpbd.codegen.description.front.resolve import find_recipe, read_robot
from diffpbd.codegen.description.recipe.recipe import with_options
from diffpbd.codegen.graph.functions.capabilities import capabilities
from diffpbd.codegen.graph.loops.build import build
from diffpbd.runtime.base.errors import InputError, SolverError

QUICK = ("four_bar", "five_bar", "spatial_four_bar", "bennett")
LONG = tuple(pytest.param(name, marks=pytest.mark.soak) for name in ("slider_crank", "watt", "delta", "ring"))
LONGEST = {"delta": 0.2, "five_bar": 0.3, "ring": 0.2}
"""[s] Before a pose that is nearly singular, where everything grows."""


def apart(robot: Any, XI: Any, P: Any, PD: Any) -> float:
    back = robot.joint_state(XI, p_ref=P)
    return float(max(np.abs(back.p - P).max(), np.abs(back.pd - PD).max()))


@pytest.mark.thorough("five_bar", "bennett")
@pytest.mark.parametrize("name", [*QUICK, *LONG])
def test_it_is_the_step_in_joint_space(name: str) -> None:
    c, steps = case(name), round(100 * LONGEST.get(name, 1.0))
    U = np.random.default_rng(2).standard_normal((steps, c.robot.n))
    P, PD = c.robot.rollout(c.p, c.pd, U, h=0.01)
    XI = c.robot.rollout_step(c.robot.fk(c.p, c.pd), U, h=0.01)
    assert apart(c.robot, XI, P, PD) < (1e-9 if name == "slider_crank" else 2e-11)  # torques drive it to high rates
    joints = 5 * c.robot.n
    residuals = np.asarray(c.robot.constraints(XI))
    assert np.abs(residuals).max() < 1e-13  # joints, and every row of the loops, dropped ones too
    rows = np.asarray(c.robot.loop_residual(P, PD).rows)
    assert residuals.shape[1] == joints + rows.shape[1]
    end = c.robot.joint_state(XI[-1], p_ref=P[-1])
    left = c.robot.loop_residual(end.p, end.pd)
    assert np.abs(left.rows).max() < 1e-13
    assert np.abs(left.row_rates).max() < 1e-12


@pytest.mark.parametrize("coulomb", [0.5, 3.0])
@pytest.mark.parametrize("name", ["four_bar", pytest.param("watt", marks=pytest.mark.soak)])
def test_coulomb_friction(name: str, coulomb: float) -> None:
    """Slipping, sticking and between: the same rates, closed, and no energy gained."""
    c = case(name)
    alpha = {f"friction.coulomb.{j.name}": coulomb for j in c.robot.manifest.robot.joints}
    for seed in range(3):
        U = 3 * np.random.default_rng(seed).standard_normal((100, c.robot.n))
        P, PD = c.robot.rollout(c.p, c.pd, U, h=0.01, alpha=alpha)
        XI = c.robot.rollout_step(c.robot.fk(c.p, c.pd, alpha=alpha), U, h=0.01, alpha=alpha)
        assert apart(c.robot, XI, P, PD) < 2e-10
    XI = c.robot.rollout_step(c.robot.fk(c.p, c.pd, alpha=alpha), 0 * U, h=0.01, alpha=alpha)
    found = c.robot.joint_state(XI, p_ref=c.robot.rollout(c.p, c.pd, 0 * U, h=0.01, alpha=alpha).P)
    energy = np.sum(c.robot.energy(found.p, found.pd), axis=0)
    assert np.diff(energy).max() < 1e-9
    assert np.abs(c.robot.loop_residual(found.p, found.pd).row_rates).max() < 1e-12


@pytest.mark.parametrize("coulomb", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("name", ["four_bar", "bennett", pytest.param("slider_crank", marks=pytest.mark.soak)])
def test_reverse_derivatives_are_those_of_differences(name: str, coulomb: float) -> None:
    c, rng, h = case(name), np.random.default_rng(5), 0.01
    robot, joints = c.robot, [j.name for j in c.robot.manifest.robot.joints]
    alpha = robot.alpha.vector({f"friction.coulomb.{j}": coulomb for j in joints} | {"payload.mass": 0.4})
    P, PD = robot.rollout(c.p, c.pd, np.zeros((7, robot.n)), h=h, alpha=alpha)
    xi, u = robot.fk(P[-1], PD[-1], alpha=alpha), rng.standard_normal(robot.n)
    seed = rng.standard_normal(13 * robot.n)
    back = robot.vjp_step(xi, u, h=h, alpha=alpha, xi_next_bar=seed)

    def value(xi: Any = xi, u: Any = u, h: float = h, alpha: Any = alpha) -> float:
        return float(seed @ robot.step(xi, u, h=h, alpha=alpha))

    def slope(name: str, start: Any, d: Any) -> float:
        near = [value(**{name: start + s * d}) for s in (1, -1, 2, -2)]
        return float((8 * (near[0] - near[1]) - near[2] + near[3]) / 12)

    for k in range(robot.n):
        d = 1e-3 * np.eye(robot.n)[k]
        assert slope("u", u, d) / 1e-3 == pytest.approx(back.u_bar[k], rel=1e-6, abs=1e-8)
    assert slope("h", h, 1e-6) / 1e-6 == pytest.approx(back.h_bar, rel=1e-6)
    d = rng.standard_normal(13 * robot.n)
    for e in np.vstack([d / np.abs(d).sum(), np.eye(13 * robot.n)[::7]]):
        assert slope("xi", xi, 2e-7 * e) / 2e-7 == pytest.approx(back.xi_bar @ e, abs=1e-6 * np.abs(back.xi_bar).max())
    most = np.abs(back.alpha_bar).max()
    for k, entry in enumerate(robot.alpha.names):
        still = coulomb == 0.0 and entry.startswith("friction.coulomb")
        if still or entry.startswith(("friction.transition", "rotor", "payload.inertia")):
            continue  # at a bound, or refused
        # what moves a cut beside the COM that a state tells opens the loop by as much
        size = 1e-7 if entry.startswith(("origin", "loop", "payload", "mass")) else 1e-4 * max(abs(alpha[k]), 1.0)
        found = slope("alpha", alpha, size * np.eye(len(alpha))[k]) / size
        assert found == pytest.approx(back.alpha_bar[k], abs=1e-6 * most + 1e-9), entry


def test_gradient_of_a_rollout_is_that_in_joint_space() -> None:
    c, rng, h = case("five_bar"), np.random.default_rng(9), 0.01
    robot, U = c.robot, rng.standard_normal((12, c.robot.n))
    P, PD = robot.rollout(c.p, c.pd, U, h=h)
    xi = robot.fk(c.p, c.pd)
    XI = robot.rollout_step(xi, U, h=h)
    bars = rng.standard_normal(P.shape), rng.standard_normal(P.shape)
    seeds = [
        robot.vjp_joint_state(XI[k], p_ref=P[k], p_bar=bars[0][k], pd_bar=bars[1][k]).xi_bar for k in range(len(XI))
    ]
    back = robot.vjp_rollout_step(xi, U, h=h, XI_bar=np.array(seeds))
    wanted = robot.vjp_rollout(c.p, c.pd, U, h=h, P_bar=bars[0], PD_bar=bars[1])
    np.testing.assert_allclose(back.U_bar, wanted.U_bar, rtol=0, atol=1e-9 * np.abs(wanted.U_bar).max())
    assert back.h_bar == pytest.approx(wanted.h_bar, rel=1e-8)


def test_open_starts_and_steps_that_do_not_close_end_in_a_status() -> None:
    c, u = case("four_bar"), np.zeros(3)
    off = np.eye(3)[0] / np.abs(c.robot.loop_residual(c.p, np.eye(3)[0]).row_rates).max()
    start = c.robot.fk(c.p + 0.9e-6 * off, c.pd)
    c.robot.step(start, u, h=0.01)
    start = c.robot.fk(c.p + 1.1e-6 * off, c.pd)
    for run in (
        lambda: c.robot.step(start, u, h=0.01),
        lambda: c.robot.vjp_step(start, u, h=0.01, xi_next_bar=start),
        lambda: c.robot.rollout_step(start, np.zeros((2, 3)), h=0.01),
    ):
        with pytest.raises(SolverError, match="close_loops"):
            run()
    with pytest.raises(SolverError, match=r"did not close|diverged"):
        c.robot.step(c.robot.fk(c.p, 300 * c.pd), u, h=0.05)


def test_a_singular_pose_is_a_status_and_beside_it_the_motion_is_right() -> None:
    c = case("parallelogram")
    p, pd = np.array([0.5, -0.5, 0.5]), np.array([-3.0, 3.0, -3.0])
    P, PD = c.robot.rollout(p, pd, np.zeros((50, 3)), h=0.01)
    XI = c.robot.rollout_step(c.robot.fk(p, pd), np.zeros((50, 3)), h=0.01)
    assert P[-1, 0] < -np.pi - 0.3  # stretched out at 0 and at -π
    assert apart(c.robot, XI, P, PD) < 1e-6
    with pytest.raises(SolverError, match=r"singular|did not close|diverged"):
        c.robot.step(c.robot.fk(np.zeros(3), pd), np.zeros(3), h=0.01)
    # a step that ends 1e-4 rad before the singular pose is right, one that ends there is none, though its rates close
    one, still = np.array([1.0, -1.0, 1.0]), np.zeros(3)
    found = c.robot.joint_state(c.robot.step(c.robot.fk(0.03 * one, -2.8 * one), still, h=0.01), p_ref=still)
    assert 5e-5 < found.p[0] < 2e-4
    np.testing.assert_allclose(found.pd / found.pd[0], one, atol=1e-6)
    with pytest.raises(SolverError, match="singular"):
        c.robot.step(c.robot.fk(0.03 * one, -2.81123706 * one), still, h=0.01)


def test_what_loops_leave_out_of_the_steps(tmp_path: Path) -> None:
    recipe = find_recipe(str(four_bar().write(tmp_path, "made")), functions=["all"], variants=["all"])
    model = build(read_robot(recipe), recipe)
    found = capabilities(model)
    assert found.has("step")
    assert found.has("vjp_rollout_step")
    assert found.has("step_variational_direct")
    reason = "closed loops: four_bar; variational_direct alone solves them"
    for variant in ("variational_jacobi", "paper_direct"):
        assert found.left_out[f"step_{variant}"] == found.left_out[f"vjp_step_{variant}"] == reason
    other = dataclasses.replace(model, recipe=with_options(recipe, solver="jacobi"))
    with pytest.raises(InputError, match="solver = jacobi: closed loops: four_bar, and steps on maximal states"):
        capabilities(other)
    stopped = dataclasses.replace(model, tree=dataclasses.replace(model.tree, limited=(True, True, True)))
    assert capabilities(stopped).left_out["step"] == "closed loops: four_bar; limits act"
    assert capabilities(stopped).has("constraints")
