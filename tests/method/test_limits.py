"""Joint limits: stops, signs of multipliers, energy, release, several at once, a reference, sweeps, smooth form."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from support.maximal import Array, energy, evaluate, free, model_blocks, numbers, only, shipped, tree_of
from support.small.short_chains import rollout

from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.graph.model.model import tree_of as joint_space_tree
from diffpbd.codegen.joint_space import recursive
from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.codegen.method import corrections, limits, step
from diffpbd.codegen.method.kinematics import fk, joint_state
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.selection import below
from diffpbd.codegen.program.tree import Tree

ARM = shipped("baxter_bare")
E1 = 3


def stopping(robot: Robot) -> Tree:
    """The tree of a robot, all its joints limited."""
    return dataclasses.replace(tree_of(robot), limited=(True,) * robot.n)


def state(robot: Robot, p: Array, pd: Array) -> Array:
    return evaluate(fk(tree_of(robot)), p=p, pd=pd, joint=numbers(robot)["joint"])["xi"].ravel()


def joints(robot: Robot, xi: Array, p_ref: Array | None = None) -> tuple[Array, Array]:
    ref = np.zeros(robot.n) if p_ref is None else p_ref
    got = evaluate(joint_state(tree_of(robot)), xi=xi, joint=numbers(robot)["joint"], p_ref=ref)
    return got["p"].ravel(), got["pd"].ravel()


def swing(program: Program, robot: Robot, xi: Array, h: float, steps: int, **given: Any) -> dict[str, Array]:
    """p, pd, E after every step."""
    arrays = numbers(robot) | free(robot) | given
    arrays = {k: v for k, v in arrays.items() if k in program.inputs}
    found: dict[str, list[Any]] = {"p": [], "pd": [], "E": []}
    for _ in range(steps):
        xi = evaluate(program, xi=xi, h=h, **arrays)["xi_next"].ravel()
        for key, value in zip(("p", "pd", "E"), (*joints(robot, xi), energy(robot, xi)), strict=True):
            found[key].append(value)
    return {k: np.array(v) for k, v in found.items()}


def bounds(robot: Robot) -> Array:
    return np.array([[j.lower, j.upper] for j in robot.joints], dtype=float)


def rise(E: Array) -> float:
    """By how much an energy rises above its lowest value before."""
    return float((E - np.minimum.accumulate(E)).max())


# The stop of e1 -----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_swing_into_the_stop_of_e1() -> None:
    """At 1 ms, the bar: at most 1e-3 rad beyond the stop, no energy gained beyond what the free swing errs by."""
    h, steps = 1e-3, 300
    xi = state(ARM, np.array([0, -0.5, 0, 0.3, 0, 0.3, 0]), np.array([0, 0, 0, -3.0, 0, 0, 0]))
    stopped = swing(step.variational_direct(stopping(ARM), 3, 1), ARM, xi, h, steps, limit=bounds(ARM).ravel())
    loose = swing(step.variational_direct(tree_of(ARM), 3, 1), ARM, xi, h, steps)
    stop = bounds(ARM)[E1, 0]
    assert loose["p"][:, E1].min() < stop - 0.1
    assert (stop - stopped["p"][:, E1]).max() < 1e-12
    at_rest = np.abs(stopped["p"][:, E1] - stop) < 1e-9
    assert at_rest.sum() > 10
    assert np.abs(stopped["pd"][at_rest, E1]).max() < 1e-12  # restitution-free
    start = energy(ARM, xi)
    own_error = np.abs(loose["E"] - start).max()
    assert stopped["E"].max() - start <= own_error
    assert rise(np.concatenate([[start], stopped["E"]])) <= own_error
    assert start - stopped["E"][-1] > 1.0  # what the stop took


@pytest.mark.thorough("jacobi")
@pytest.mark.parametrize("solver", ["direct", "gauss_seidel", "jacobi"])
def test_the_papers_step_stops_too(solver: str) -> None:
    h, steps = 1e-3, 100
    tree = stopping(ARM)
    program = {
        "direct": lambda: step.paper_direct(tree, 1, 0),
        "gauss_seidel": lambda: step.paper_gauss_seidel(tree, 30, 0),
        "jacobi": lambda: step.paper_jacobi(tree, 30, 0),
    }[solver]()
    xi = state(ARM, np.array([0, -0.5, 0, 0.1, 0, 0.3, 0]), np.array([0, 0, 0, -3.0, 0, 0, 0]))
    found = swing(program, ARM, xi, h, steps, limit=bounds(ARM).ravel())
    stop = bounds(ARM)[E1, 0]
    assert found["p"][:, E1].min() < stop + 1e-6
    assert (stop - found["p"][:, E1]).max() < (1e-8 if solver == "direct" else 1e-3)
    assert found["E"].max() <= energy(ARM, xi)


def test_release_when_pulled_away() -> None:
    """Held at its stop by gravity a joint stays; pulled away it leaves at once, as if there were no stop."""
    stop = bounds(ARM)[E1, 0]
    xi = state(ARM, np.array([0, 0, 0, stop, 0, 0, 0]), np.zeros(7))
    held, loose = step.variational_direct(stopping(ARM), 3, 1), step.variational_direct(tree_of(ARM), 3, 1)
    u = np.zeros(7)
    for torque, leaves in ((-5.0, False), (30.0, True)):
        u[E1] = torque
        found = swing(held, ARM, xi, 1e-3, 20, limit=bounds(ARM).ravel(), u=u)
        if leaves:
            assert (np.diff(found["p"][:, E1]) > 0).all() and found["p"][0, E1] > stop
            np.testing.assert_allclose(found["p"], swing(loose, ARM, xi, 1e-3, 20, u=u)["p"], atol=1e-13)
        else:
            np.testing.assert_allclose(found["p"][:, E1], stop, atol=1e-14)


# Conditions of optimality -------------------------------------------------------------------------


@pytest.mark.thorough("baxter")
@pytest.mark.parametrize("name", ["baxter_bare", "prismatic_skew", "double_pendulum"])
def test_complementarity_of_many_limits_at_once(name: str, count: Any) -> None:
    """F and G of the joint-space step are the pressures of the limits: right in sign at a limit, zero elsewhere.

    At random, half the joints start at a limit or within two steps of it, with friction, at both time steps.
    """
    robot = shipped(name)
    n, rng = robot.n, np.random.default_rng(1)
    program, touched = step.variational_direct(stopping(robot), 3, 10), 0
    for _ in range(count(15, 300)):
        h = rng.choice([0.01, 0.001])
        p, pd, u = rng.uniform(-1, 1, n), 2 * rng.normal(size=n), 10 * rng.normal(size=n)
        near, below = rng.random(n) < 0.5, rng.random(n) < 0.5
        gap = rng.uniform(0, 2 * h, n) * (rng.random(n) < 0.7)
        limit = np.column_stack([np.where(near & below, p - gap, p - 1.5), np.where(near & ~below, p + gap, p + 1.5)])
        coulomb, viscous, transition = rng.uniform(0, 1, n), rng.uniform(0, 1, n), np.full(n, 0.05)
        given = numbers(robot) | free(robot) | {"u": u, "limit": limit.ravel()}
        given["friction"] = np.column_stack([coulomb, viscous, transition]).ravel()
        after = evaluate(program, xi=state(robot, p, pd), h=h, **given)["xi_next"]
        p1, pd1 = joints(robot, after, p)
        blocks = model_blocks(name) | {"gravity": given["gravity"], "stiffness": np.zeros(n), "rest": np.zeros(n)}
        blocks |= {"coulomb": coulomb, "viscous": viscous, "transition": transition, "rotor": np.zeros(n)}
        pressure = only(
            joint_space.residuals(joint_space_tree(robot)), blocks, p=p, pd=pd, u=u, h=h, p_next=p1, pd_next=pd1
        )
        F, G = pressure["F"].ravel(), pressure["G"].ravel()
        assert (p1 > limit[:, 0] - 1e-13).all() and (p1 < limit[:, 1] + 1e-13).all()
        at_lower, at_upper = p1 < limit[:, 0] + 1e-6, p1 > limit[:, 1] - 1e-6
        assert np.abs(F[~at_lower & ~at_upper]).max(initial=0) < 1e-12
        assert F[at_lower].min(initial=0) > -1e-12 and F[at_upper].max(initial=0) < 1e-12
        assert pd1[at_lower].min(initial=0) > -1e-13 and pd1[at_upper].max(initial=0) < 1e-13
        resting = np.abs(pd1) < 1e-13
        assert np.abs(G[~(resting & (at_lower | at_upper))]).max(initial=0) < 1e-12
        assert G[at_lower].min(initial=0) > -1e-12 and G[at_upper].max(initial=0) < 1e-12
        touched += int((np.abs(F) > 1e-9).sum())
    assert touched > 2


@pytest.mark.thorough
@pytest.mark.parametrize("integrator", ["variational", pytest.param("paper", marks=pytest.mark.soak)])
def test_sweeps_end_where_the_direct_solve_does(integrator: str) -> None:
    """Also after pushing too much: a limit's multiplier takes back what turns out not to be needed."""
    robot = shipped("prismatic_skew")
    n, rng, h, tree = robot.n, np.random.default_rng(2), 1e-3, stopping(robot)
    direct = getattr(step, f"{integrator}_direct")(tree, 4 if integrator == "variational" else 1, 1)
    sweeping = [getattr(step, f"{integrator}_{s}")(tree, k, 1) for s, k in (("gauss_seidel", 300), ("jacobi", 350))]
    for _ in range(3):
        p, pd = rng.uniform(-0.5, 0.5, n), rng.normal(size=n)
        below, gap = rng.random(n) < 0.5, rng.uniform(0, 5e-4, n)
        limit = np.column_stack([np.where(below, p - gap, p - 1), np.where(below, p + 1, p + gap)])
        start, acting = state(robot, p, pd), {"limit": limit.ravel()}
        want = joints(robot, rollout(direct, robot, start, h, 1, **acting), p)
        for program, near in zip(sweeping, (2e-5, 1e-4), strict=True):  # [rad or m], after 30 sweeps 1e-4 and more
            got = joints(robot, rollout(program, robot, start, h, 1, **acting), p)
            np.testing.assert_allclose(got[0], want[0], atol=near)


# Against an independent integration ---------------------------------------------------------------


def pendulum_reference(p: Array, pd: Array, stop: float, T: float, dt: float) -> Array:
    """p after T of the double pendulum whose elbow may not fall below `stop`: RK4 on ṗ̇ = M⁻¹(-c), impacts that take the
    elbow's momentum away, and one joint alone while the stop holds the other."""
    robot, blocks = shipped("double_pendulum"), model_blocks("double_pendulum")
    tree = joint_space_tree(robot)
    mass, bias = recursive.mass_matrix(tree), recursive.inverse_dynamics(tree)

    def forces(y: Array) -> tuple[Array, Array]:
        M = only(mass, blocks, p=y[:2])["M"]
        c = only(bias, blocks, p=y[:2], pd=y[2:], pdd=np.zeros(2))["u"].ravel()
        return M, c

    def rate(y: Array, held: bool) -> Array:
        M, c = forces(y)
        pdd = np.array([-c[0] / M[0, 0], 0.0]) if held else np.linalg.solve(M, -c)
        return np.concatenate([y[2:], pdd])

    y, held = np.concatenate([p, pd]), False
    for _ in range(round(T / dt)):
        if held:
            M, c = forces(y)
            held = bool(c[1] - M[1, 0] * c[0] / M[0, 0] > 0)  # the pressure that keeps the elbow from falling
        k1 = rate(y, held)
        k2 = rate(y + dt / 2 * k1, held)
        k3 = rate(y + dt / 2 * k2, held)
        k4 = rate(y + dt * k3, held)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if y[1] < stop and y[3] < 0:
            M, _ = forces(y)
            y = np.array([y[0], stop, y[2] + M[0, 1] / M[0, 0] * y[3], 0.0])
            held = True
    return y[:2]


@pytest.mark.soak
def test_double_pendulum_with_a_stop_converges_to_the_reference() -> None:
    robot = shipped("double_pendulum")
    p, pd, stop, T = np.array([1.2, 0.6]), np.array([0.0, -1.0]), -0.1, 1.2
    want = pendulum_reference(p, pd, stop, T, 1e-4)
    program = step.variational_direct(stopping(robot), 3, 1)
    limit = np.array([-3.0, 3.0, stop, 3.0])
    errors = []
    for h in (8e-3, 5e-4):
        found = swing(program, robot, state(robot, p, pd), h, round(T / h), limit=limit)
        at_stop = np.abs(found["p"][:, 1] - stop) < 1e-9
        assert at_stop.any() and not at_stop.all() and found["p"][:, 1].min() > stop - 1e-12
        errors.append(np.abs(found["p"][-1] - want).max())
    assert errors[0] < 5e-4 and errors[1] < 1e-4, errors  # the instant of an impact is known to a step, here and there


# Gates and rows -----------------------------------------------------------------------------------


def test_gate_and_multiplier_at_the_edge() -> None:
    program = Program("edge")
    multiplier, p, K = program.scalar("multiplier"), program.scalar("p"), program.scalar("K")
    program.output("below", below(p))
    program.output("after", limits.projected(program, multiplier, p, program.input("limit", 2), K))
    run = program.numpy()
    for p_value, gate in ((-1e-300, 1), (0.0, 0), (1e-300, 0)):
        assert run(multiplier=0, p=p_value, K=2, limit=[-1, 1])["below"].item() == gate
    for before, at, after in (
        (0, 0.0, 0),
        (0, -1.5, 0.25),
        (0, 1.5, -0.25),
        (0.5, -0.5, 0.25),
        (0.5, 0.5, 0),
        (-0.5, -9, 3.5),
    ):
        assert run(multiplier=before, p=at, K=2, limit=[-1, 1])["after"].item() == pytest.approx(after)


@pytest.mark.parametrize("slide", [False, True])
def test_row_gradient_against_differences(slide: bool) -> None:
    """At links that meet their joint the hinge's row is the exact gradient of its angle, the slide's anywhere."""
    robot = shipped("prismatic_skew")
    j = next(k for k, s in enumerate(tree_of(robot).slides) if s is slide and tree_of(robot).parents[k] >= 0)
    kernel = corrections.limit_kernel(slide)
    rng = np.random.default_rng(0)
    xi = state(robot, rng.uniform(-0.2, 0.2, robot.n), np.zeros(robot.n)).reshape(-1, 13)
    pose = np.delete(xi, [3, 4, 5, 10, 11, 12], axis=1)
    unit = np.array([1.0, 1, 0, 0, 1, 0, 1])
    angle = joints(robot, xi.ravel())[0][j]
    given = {"joint": numbers(robot)["joint"].reshape(-1, 28)[j], "weight_a": unit, "weight_b": unit, "angle": angle}
    given |= {"limit": [angle + 1e-5, angle + 1], "multiplier": 0.0, "factor": 1.0}
    a, b = pose[tree_of(robot).parents[j]], pose[j]
    moves = evaluate(kernel, pose_a=a, pose_b=b, **given)
    moved = [
        evaluate(corrections.displace_kernel(False, False), pose=q, move=moves[k])["moved"].ravel()
        for q, k in ((a, "move_a"), (b, "move_b"))
    ]
    again = evaluate(kernel, pose_a=moved[0], pose_b=moved[1], **given)
    assert abs(again["multiplier_next"].item()) < 1e-4 * abs(moves["multiplier_next"].item())


# Smooth form --------------------------------------------------------------------------------------
