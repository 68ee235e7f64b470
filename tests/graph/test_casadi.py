"""Generated functions inside a user's own CasADi graphs and NLPs."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from support.arguments import H
from support.robots import call, loaded, loaded_alpha

from diffpbd.runtime import Robot

STEPS = 20
QUIET = {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes", "ipopt.tol": 1e-9}


@pytest.mark.parametrize("name", ["double_pendulum", "baxter_bare"])
def test_second_derivatives_of_the_step_are_finite_at_rest(name: str) -> None:
    """Hessian-vector products of the graph, at the zero pose, at rest, without torque."""
    robot = loaded(name)
    step = robot.casadi("joint_step")
    n, size = robot.n, len(robot.alpha)
    x = [ca.MX.sym(k, m) for k, m in (("p", n), ("pd", n), ("u", n), ("alpha", size))]
    weights = np.arange(1.0, 2.0 * n + 1.0)
    value = ca.dot(weights, ca.vertcat(*step(x[0], x[1], x[2], H, x[3])))
    every = ca.vertcat(*x)
    gradient = ca.gradient(value, every)
    direction = ca.MX.sym("v", every.numel())
    product = ca.Function("product", [*x, direction], [gradient, ca.jtimes(gradient, every, direction)])
    rng = np.random.default_rng(1)
    v = rng.normal(size=every.numel())
    for alpha in (robot.alpha.defaults, loaded_alpha(robot.alpha)):
        gradient_at, curved = call(product, np.zeros(n), np.zeros(n), np.zeros(n), alpha, v)
        assert np.isfinite(gradient_at).all() and np.isfinite(curved).all()
        pulled = robot.vjp_joint_step(
            np.zeros(n), np.zeros(n), np.zeros(n), H, alpha, p_next_bar=weights[:n], pd_next_bar=weights[n:]
        )
        exact = np.concatenate([pulled.p_bar, pulled.pd_bar, pulled.u_bar, pulled.alpha_bar])
        np.testing.assert_allclose(gradient_at, exact, rtol=1e-7, atol=1e-9 * np.abs(exact).max())


def arguments(f: ca.Function, robot: Robot, alpha: np.ndarray, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    known = {"alpha": alpha, "h": H, "xi": robot.fk(*rng.uniform(-1.0, 1.0, (2, robot.n)), alpha)}
    return [known.get(key, rng.uniform(-1.0, 1.0, f.numel_in(k))) for k, key in enumerate(f.name_in())]


def without_rotors(robot: Robot) -> np.ndarray:
    """The steps on maximal states have none."""
    names = [p.name for p in robot.manifest.alpha]
    loaded_one = loaded_alpha(robot.alpha).copy()
    loaded_one[[name.startswith("rotor_inertia.") for name in names]] = 0.0
    return loaded_one


@pytest.mark.parametrize("name", ["jac_joint_step", "vjp_joint_step", "vjp_step"])
def test_second_derivatives_are_differences_of_the_first(name: str) -> None:
    """Along a random direction of all inputs, of a sum of all outputs weighed at random."""
    robot = loaded("double_pendulum")
    graph, alpha = robot.casadi(name), without_rotors(robot)
    rng = np.random.default_rng(4)
    given = arguments(graph, robot, alpha, 3)
    x = [ca.MX.sym(k, np.size(v)) for k, v in zip(graph.name_in(), given, strict=True)]
    value = sum((ca.dot(rng.normal(size=y.shape), y) for y in graph.call(x)), start=ca.MX(0))
    along = [
        np.zeros(1) if k == "h" else rng.normal(size=np.size(v)) for k, v in zip(graph.name_in(), given, strict=True)
    ]
    slope = ca.jtimes(value, ca.vertcat(*x), ca.vertcat(*along))
    f = ca.Function("f", x, [value, slope])
    small = 1e-5
    low, high = (float(f(*[v + s * a for v, a in zip(given, along, strict=True)])[0]) for s in (-small, small))
    exact = float(f(*given)[1])
    assert exact == pytest.approx((high - low) / (2 * small), rel=2e-5) and abs(exact) > 1e-3


@pytest.mark.parametrize("name", ["double_pendulum", "prismatic_skew"])
def test_the_unrolled_step_is_the_step(name: str) -> None:
    """Fixed iterations reach what the compiled loop reaches, and their derivative is the exact one."""
    robot = loaded(name)
    unrolled = robot.casadi("joint_step_unrolled")
    assert "joint_step_unrolled" not in robot.functions and unrolled.name_in() == robot.casadi("joint_step").name_in()
    for seed, alpha in enumerate((robot.alpha.defaults, loaded_alpha(robot.alpha))):
        given = arguments(unrolled, robot, alpha, seed)
        exact = robot.jac_joint_step(*given)
        p_next, pd_next = call(unrolled, *given)
        np.testing.assert_allclose(p_next, exact.p_next, rtol=0, atol=1e-12)
        np.testing.assert_allclose(pd_next, exact.pd_next, rtol=0, atol=1e-9)
        blocks = _derivatives(unrolled, given)
        found = np.hstack(blocks[:3])
        rows = [
            [exact.dp_next_dp, exact.dp_next_dpd, exact.dp_next_du],
            [exact.dpd_next_dp, exact.dpd_next_dpd, exact.dpd_next_du],
        ]
        np.testing.assert_allclose(found, np.block(rows), rtol=0, atol=1e-7 * np.abs(found).max())


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "gravity", "tip_pose", "joint_step"])
def test_compiled_functions_have_the_graphs_jacobian(name: str) -> None:
    robot = loaded("double_pendulum")
    graph, compiled = robot.casadi(name), robot.casadi(name, external=True)
    assert compiled.name_in() == graph.name_in() and compiled.name_out() == graph.name_out()
    rng = np.random.default_rng(2)
    alpha = loaded_alpha(robot.alpha)
    given = []
    for k, key in enumerate(graph.name_in()):
        given.append({"alpha": alpha, "h": H}.get(key, rng.uniform(-1.0, 1.0, graph.numel_in(k))))
    for one, two in zip(_derivatives(graph, given), _derivatives(compiled, given), strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-8 * max(1.0, np.abs(one).max()))


def _derivatives(f: ca.Function, given: list[Any]) -> list[np.ndarray]:
    inputs = [ca.MX.sym(f.name_in(k), *f.sparsity_in(k).shape) for k in range(f.n_in())]
    outputs = f.call(inputs)
    flat = ca.vertcat(*[ca.vec(o) for o in outputs])
    blocks = [ca.densify(ca.jacobian(flat, ca.vec(i))) for i in inputs]
    return [np.array(b) for b in ca.Function("J", inputs, blocks).call([ca.DM(g) for g in given])]


def swing_up(step: ca.Function, alpha: np.ndarray, options: dict[str, Any]) -> tuple[np.ndarray, bool]:
    """Least torque that turns the hanging double pendulum to (0.5, -0.3) rad at rest in STEPS steps."""
    p, pd, cost = ca.MX(np.zeros(2)), ca.MX(np.zeros(2)), 0
    torques = []
    for k in range(STEPS):
        u = ca.MX.sym(f"u{k}", 2)
        torques.append(u)
        p, pd = step(p, pd, u, 0.02, alpha)
        cost += ca.sumsqr(u)
    x = ca.vertcat(*torques)
    goal = ca.vertcat(p - np.array([0.5, -0.3]), pd)
    solver = ca.nlpsol("solver", "ipopt", {"x": x, "f": cost, "g": goal}, {**QUIET, **options})
    found = solver(x0=0.0, lbg=0.0, ubg=0.0)
    return np.array(found["x"]).ravel(), bool(solver.stats()["success"])


def test_compiled_step_in_an_nlp() -> None:
    """IPOPT with the compiled step and its exact Jacobian finds what it finds with the graph and its exact Hessian."""
    robot = loaded("double_pendulum")
    alpha = robot.alpha.vector({f"friction.viscous.{j}": 0.2 for j in robot.joints})
    exact, solved = swing_up(robot.casadi("joint_step"), alpha, {})
    assert solved
    limited = {"ipopt.hessian_approximation": "limited-memory"}
    found, solved = swing_up(robot.casadi("joint_step", external=True), alpha, limited)
    assert solved
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-4 * np.abs(exact).max())
    P, PD = robot.rollout(np.zeros(2), np.zeros(2), found.reshape(STEPS, 2), 0.02, alpha)
    np.testing.assert_allclose(P[-1], [0.5, -0.3], atol=1e-7)
    np.testing.assert_allclose(PD[-1], 0.0, atol=1e-7)
