"""The direct solver in O(n) against the dense equations it solves, on chains, a branching tree and slides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space
from support.maximal import (
    ROBOTS,
    Array,
    dense_constraints,
    displaced,
    evaluate,
    free,
    link_inertia,
    matrix_of,
    numbers,
    poses_of,
    random_state,
    tree_of,
)

from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.method import algorithm_1, corrections, step, variational
from diffpbd.codegen.method.corrections import Multiplier
from diffpbd.codegen.method.kinematics import joint_state
from diffpbd.codegen.method.world import kernel_at

each_robot = pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.name)


def weight(robot: Robot, pose: Array) -> Array:
    """W (6 n x 6 n)."""
    W = np.zeros((6 * robot.n, 6 * robot.n))
    for i, p in enumerate(pose):
        R = matrix_of(p[3:])
        W[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) / robot.links[i].inertial.mass
        W[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = R @ np.linalg.inv(link_inertia(robot, i)) @ R.T
    return W


def scattered(robot: Robot, rng: np.random.Generator, size: float) -> Array:
    """Poses that violate every constraint by about `size` [m, rad]."""
    return displaced(poses_of(random_state(robot, rng)), size * rng.normal(size=6 * robot.n))


@each_robot
def test_direct_projection_solves_the_dense_system(robot: Robot) -> None:
    pose = scattered(robot, np.random.default_rng(11), 0.1)
    c, J = dense_constraints(robot, pose)
    W = weight(robot, pose)
    d = -W @ J.T @ np.linalg.solve(J @ W @ J.T, c)
    given = numbers(robot)
    got = evaluate(algorithm_1.direct(tree_of(robot)), pose=pose.ravel(), **given)["pose_next"].reshape(-1, 7)
    np.testing.assert_allclose(got, displaced(pose, d), atol=1e-11)


@each_robot
def test_direct_projection_closes_the_joints(robot: Robot) -> None:
    pose = scattered(robot, np.random.default_rng(12), 0.05)
    sizes = []
    for _ in range(6):
        sizes.append(np.abs(dense_constraints(robot, pose)[0]).max())
        sweep = algorithm_1.direct(tree_of(robot))
        pose = evaluate(sweep, pose=pose.ravel(), **numbers(robot))["pose_next"].reshape(-1, 7)
    assert np.abs(dense_constraints(robot, pose)[0]).max() < 1e-12 < sizes[0]


@each_robot
def test_variational_iteration_is_newtons_on_poses_and_multipliers(robot: Robot) -> None:
    rng, n, h = np.random.default_rng(13), robot.n, 0.02
    xi = random_state(robot, rng)
    given = numbers(robot) | free(robot) | {"xi": xi, "h": h, "u": rng.normal(size=n)}
    given["spring"] = np.column_stack([rng.uniform(1, 5, n), rng.uniform(-1, 1, n)]).ravel()
    starting = {k: given[k] for k in ("xi", "u", "h", "gravity", "body", "joint", "spring")}
    start = evaluate(variational.half_kick(tree_of(robot)), **starting)
    pose = displaced(poses_of(xi), 0.03 * rng.normal(size=6 * n))
    fixed = {k: start[k] for k in ("turning", "target", "spin", "motion", "offset", "effort")}
    iterated = {k: given[k] for k in ("body", "joint", "h")}
    got = evaluate(variational.newton_iteration(tree_of(robot)), pose=pose.ravel(), **fixed, **iterated)

    K, r = np.zeros((6 * n, 6 * n)), np.zeros(6 * n)
    for i, s in enumerate(xi.reshape(-1, 13)):
        m, inertia, R0, R1 = (
            robot.links[i].inertial.mass,
            link_inertia(robot, i),
            matrix_of(s[6:10]),
            matrix_of(pose[i, 3:]),
        )
        A = R1 @ (np.trace(inertia) / 2 * np.eye(3) - inertia) @ R0.T
        lin, ang = slice(6 * i, 6 * i + 3), slice(6 * i + 3, 6 * i + 6)
        K[lin, lin], K[ang, ang] = m * np.eye(3), np.trace(A) * np.eye(3) - A
        r[lin] = m * (pose[i, :3] - s[:3] - h * s[3:6] - h * h / 2 * given["gravity"])
        S = A - A.T
        r[ang] = np.array([S[2, 1], S[0, 2], S[1, 0]]) - h * R0 @ inertia @ R0.T @ s[10:13]
    r -= h * h / 2 * joint_wrenches(robot, xi) @ start["effort"].ravel()
    c, J1 = dense_constraints(robot, pose)
    _, J0 = dense_constraints(robot, poses_of(xi))
    zero = np.zeros((5 * n, 5 * n))
    d = np.linalg.solve(np.block([[K, -J0.T], [J1, zero]]), -np.concatenate([r, c]))[: 6 * n]
    np.testing.assert_allclose(got["pose_next"].reshape(-1, 7), displaced(pose, d), atol=1e-10)


def joint_wrenches(robot: Robot, xi: Array) -> Array:
    """Forces and moments at the COMs (6 n x n) of unit joint efforts: + on the child, - on the parent, at the
    joint."""
    tree, joint = tree_of(robot), numbers(robot)["joint"].reshape(-1, 28)
    result = np.zeros((6 * robot.n, robot.n))
    s = xi.reshape(-1, 13)
    for j, parent in enumerate(tree.parents):
        R = matrix_of(s[j, 6:10])
        axis, at = R @ joint[j, 25:28], s[j, :3] + R @ joint[j, :3]
        for body, sign in ((j, 1.0), (parent, -1.0)):
            if body >= 0:
                wrench = np.r_[axis, np.cross(at - s[body, :3], axis)] if tree.slides[j] else np.r_[0, 0, 0, axis]
                result[6 * body : 6 * body + 6, j] += sign * wrench
    return result


@each_robot
@pytest.mark.parametrize("solver", ["variational_direct", "paper_direct"])
def test_acceleration_is_that_of_the_constrained_bodies(robot: Robot, solver: str) -> None:
    rng, n, h = np.random.default_rng(14), robot.n, 1e-5
    xi = random_state(robot, rng)
    given = numbers(robot) | free(robot) | {"u": rng.normal(size=n)}
    given["spring"] = np.column_stack([rng.uniform(1, 5, n), rng.uniform(-1, 1, n)]).ravel()
    program = getattr(step, solver)(tree_of(robot))
    after = evaluate(program, xi=xi, h=h, **given)["xi_next"].reshape(-1, 13)
    s = xi.reshape(-1, 13)
    got = (after[:, [3, 4, 5, 10, 11, 12]] - s[:, [3, 4, 5, 10, 11, 12]]).ravel() / h

    spring = given["spring"].reshape(-1, 2)
    p = evaluate(joint_state(tree_of(robot)), xi=xi, joint=given["joint"], p_ref=np.zeros(n))["p"].ravel()
    force = joint_wrenches(robot, xi) @ (given["u"] - spring[:, 0] * (p - spring[:, 1]))
    for i in range(n):
        R, omega = matrix_of(s[i, 6:10]), s[i, 10:13]
        world = R @ link_inertia(robot, i) @ R.T
        force[6 * i : 6 * i + 3] += robot.links[i].inertial.mass * given["gravity"]
        force[6 * i + 3 : 6 * i + 6] -= np.cross(omega, world @ omega)
    pose, v = poses_of(xi), s[:, [3, 4, 5, 10, 11, 12]].ravel()
    W, J = weight(robot, pose), dense_constraints(robot, pose)[1]
    e = 1e-5
    drift = (
        dense_constraints(robot, displaced(pose, e * v))[1] - dense_constraints(robot, displaced(pose, -e * v))[1]
    ) @ v
    free_acceleration = W @ force
    multipliers = np.linalg.solve(J @ W @ J.T, J @ free_acceleration + drift / (2 * e))
    expected = free_acceleration - W @ J.T @ multipliers
    if solver == "paper_direct":  # its velocities are means over the step: only their part along the joints is new
        along = null_space(J).T @ np.linalg.inv(W)
        got, expected = along @ got, along @ expected
    np.testing.assert_allclose(got, expected, atol=4e-4 * np.abs(expected).max())


@each_robot
@pytest.mark.parametrize("multiplier", list(Multiplier))
def test_a_correction_closes_its_rows_and_keeps_momentum(robot: Robot, multiplier: Multiplier) -> None:
    tree, given, size = tree_of(robot), numbers(robot), 1e-4
    pose, joint = scattered(robot, np.random.default_rng(16), size), given["joint"].reshape(-1, 28)
    w = evaluate(corrections.weights(tree), body=given["body"])["weight"].reshape(-1, 7)
    for j, parent in enumerate(tree.parents):
        for angular in (False, True):
            kernel = corrections.correction_kernel(tree.slides[j], angular, multiplier)
            kernel = kernel_at(kernel, parent, tree.slides[j])
            arrays = {"joint": joint[j], "pose_b": pose[j], "weight_b": w[j]}
            if parent >= 0:
                arrays |= {"pose_a": pose[parent], "weight_a": w[parent]}
            moves = {k: v.ravel() for k, v in evaluate(kernel, **arrays).items()}
            after, d = pose.copy(), np.zeros((robot.n, 6))
            d[j] = moves["move_b"]
            if parent >= 0:
                d[parent] = moves["move_a"]
            after = displaced(pose, d.ravel())
            rows = (slice(0, 2), slice(2, 5)) if tree.slides[j] else (slice(0, 3), slice(3, 5))
            before = dense_constraints(robot, pose)[0].reshape(-1, 5)[j][rows[angular]]
            left = dense_constraints(robot, after)[0].reshape(-1, 5)[j][rows[angular]]
            if multiplier is Multiplier.SCALAR:  # one multiplier: only the part along c goes
                left = left @ before / np.linalg.norm(before)
            assert np.abs(left).max() < 1e-2 * np.abs(before).max()
            if parent >= 0:
                impulse = np.linalg.inv(weight(robot, pose)) @ d.ravel()
                linear, spin = impulse.reshape(-1, 6)[:, :3], impulse.reshape(-1, 6)[:, 3:]
                total = spin + np.cross(pose[:, :3], linear)
                assert np.abs(linear.sum(0)).max() < 1e-12
                # the two ends of an open joint are `size` apart, so the moment balances to that order
                assert np.abs(total.sum(0)).max() < 10 * size * max(np.abs(impulse).max(), 1e-12)


@each_robot
@pytest.mark.parametrize("multiplier", list(Multiplier))
@pytest.mark.parametrize("solver", ["gauss_seidel", "jacobi", "jacobi_relaxed"])
def test_sweeps_close_the_joints(robot: Robot, multiplier: Multiplier, solver: str) -> None:
    tree = tree_of(robot)
    pose = scattered(robot, np.random.default_rng(15), 1e-3)
    sweep = {
        "gauss_seidel": lambda: algorithm_1.gauss_seidel(tree, multiplier),
        "jacobi": lambda: algorithm_1.jacobi(tree, multiplier),
        "jacobi_relaxed": lambda: algorithm_1.jacobi(tree, multiplier, 0.6),
    }[solver]()
    given = numbers(robot)
    w = evaluate(corrections.weights(tree), body=given["body"])["weight"]
    sizes = [np.linalg.norm(dense_constraints(robot, pose)[0])]
    for _ in range(60):
        pose = evaluate(sweep, pose=pose.ravel(), weight=w, joint=given["joint"])["pose_next"].reshape(-1, 7)
        sizes.append(np.linalg.norm(dense_constraints(robot, pose)[0]))
    # slow on the double pendulum: inertias of its thin rods across and along differ 300 times
    assert sizes[60] < (0.9 if robot.name == "double_pendulum" else 0.3) * sizes[0]
