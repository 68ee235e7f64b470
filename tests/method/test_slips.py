"""Misprints of the paper: each test fails with the printed version (numbers as in the method's
description).

Slip 9, two optima printed for the pendulum, is a figure of an experiment, not an equation of the step.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from support.maximal import (
    Array,
    displaced,
    evaluate,
    free,
    matrix_of,
    numbers,
    poses_of,
    random_state,
    shipped,
    tree_of,
    turned,
)

from diffpbd.codegen.laws.elements import lever_spring
from diffpbd.codegen.method import algorithm_1, bodies, corrections, step
from diffpbd.codegen.method.corrections import Multiplier
from diffpbd.codegen.method.kinematics import fk, joint_state
from diffpbd.codegen.method.world import kernel_at

BODY = np.array([2.0, 0.3, 0.02, -0.01, 0.2, 0.03, 0.1])
INERTIA = np.array([[0.3, 0.02, -0.01], [0.02, 0.2, 0.03], [-0.01, 0.03, 0.1]])
QUATERNION = np.array([0.4, -0.2, 0.8, 0.4]) / np.linalg.norm([0.4, -0.2, 0.8, 0.4])


def predicted(omega: Array, h: float, gravity: Array) -> Array:
    state = np.concatenate([np.zeros(6), QUATERNION, omega])
    R = matrix_of(QUATERNION)
    given = {
        "state": state,
        "body": BODY,
        "gravity": gravity,
        "h": h,
        "rotation": R.ravel(),
        "pull": np.zeros(6),
    }
    return evaluate(bodies.predict_kernel(False), **given)["pose"].ravel()


def test_1_prediction_moves_with_the_new_velocity() -> None:
    gravity = np.array([0.0, 0.0, -9.8])
    np.testing.assert_allclose(predicted(np.zeros(3), 0.01, gravity)[:3], 1e-4 * gravity, rtol=1e-12)


def test_2_euler_equation_keeps_angular_momentum() -> None:
    omega = np.array([1.0, -2.0, 1.5])
    L = matrix_of(QUATERNION) @ INERTIA @ matrix_of(QUATERNION).T @ omega
    errors = []
    for h in (1e-3, 5e-4):
        pose = predicted(omega, h, np.zeros(3))
        state = np.concatenate([np.zeros(6), QUATERNION, omega])
        after = evaluate(bodies.read_off_kernel(), state=state, pose=pose, h=h)["next"].ravel()
        R = matrix_of(after[6:10])
        errors.append(np.abs(R @ INERTIA @ R.T @ after[10:13] - L).max())
    assert errors[0] < 1e-4 and errors[1] < 0.3 * errors[0]  # second order; the printed sign leaves first


def test_3_world_inertia() -> None:
    R = matrix_of(QUATERNION)
    got = evaluate(bodies.inertia_kernel(), body=BODY, rotation=R.ravel(), offset=np.zeros(3))["inertia"].ravel()
    expected = R @ INERTIA @ R.T
    np.testing.assert_allclose(got[4:], expected[np.triu_indices(3)], atol=1e-15)
    assert np.abs(R.T @ INERTIA @ R - expected).max() > 0.01


def angular_correction(multiplier: Multiplier) -> tuple[Array, Array, Array, Array]:
    """Poses and weights of two links of an arm with misaligned axes, and the two rotations that correct
    them."""
    robot, j = shipped("baxter_bare"), 3
    rng = np.random.default_rng(1)
    pose = displaced(poses_of(random_state(robot, rng)), 0.02 * rng.normal(size=42))
    w = evaluate(corrections.weights(tree_of(robot)), body=numbers(robot)["body"])["weight"].reshape(-1, 7)
    joint = numbers(robot)["joint"].reshape(-1, 28)[j]
    kernel = corrections.correction_kernel(False, True, multiplier)
    a, b = pose[j - 1], pose[j]
    moves = evaluate(kernel, joint=joint, pose_a=a, pose_b=b, weight_a=w[j - 1], weight_b=w[j])
    return a, b, moves["move_a"].ravel()[3:], moves["move_b"].ravel()[3:]


@pytest.mark.parametrize("multiplier", list(Multiplier))
def test_4_angular_gradients(multiplier: Multiplier) -> None:
    robot, j = shipped("baxter_bare"), 3
    a, b, phi_a, phi_b = angular_correction(multiplier)
    joint = numbers(robot)["joint"].reshape(-1, 28)[j]

    def misalignment(q_a: Array, q_b: Array) -> float:
        return float(np.linalg.norm(np.cross(matrix_of(q_a) @ joint[16:19], matrix_of(q_b) @ joint[25:28])))

    before = misalignment(a[3:], b[3:])
    assert misalignment(turned(a[3:], phi_a), turned(b[3:], phi_b)) < 0.2 * before
    assert misalignment(turned(a[3:], -phi_a), turned(b[3:], -phi_b)) > 1.5 * before  # the printed signs
    # each body has its own weight, so what one gains in angular momentum the other loses
    spins = []
    for pose, phi, link in ((a, phi_a, robot.links[j - 1]), (b, phi_b, robot.links[j])):
        R = matrix_of(pose[3:])
        spins.append(R @ np.array(link.inertial.inertia) @ R.T @ phi)
    np.testing.assert_allclose(spins[0], -spins[1], atol=1e-15)


@pytest.mark.parametrize("printed_order", [False, True], ids=["by_joint", "as_printed"])
def test_5_positional_turn_is_applied_once(printed_order: bool) -> None:
    """Joint by joint, or all positional and then all angular constraints, each correction from the poses so far."""
    robot = shipped("double_pendulum")
    tree, given = tree_of(robot), numbers(robot)
    pose = displaced(poses_of(random_state(robot, np.random.default_rng(1))), 0.01 * np.arange(12))
    w = evaluate(corrections.weights(tree), body=given["body"])["weight"].reshape(-1, 7)
    joint = given["joint"].reshape(-1, 28)
    expected = pose.copy()
    by_joint = [(0, False), (0, True), (1, False), (1, True)]
    for j, angular in sorted(by_joint, key=lambda visit: visit[1]) if printed_order else by_joint:
        parent = tree.parents[j]
        kernel = kernel_at(corrections.correction_kernel(False, angular, Multiplier.BLOCK), parent, False)
        arrays = {"joint": joint[j], "pose_b": expected[j], "weight_b": w[j]}
        if parent >= 0:
            arrays |= {"pose_a": expected[parent], "weight_a": w[parent]}
        moves = evaluate(kernel, **arrays)
        for body, key in ((j, "move_b"), (parent, "move_a")):
            if body >= 0:
                expected[body] = displaced(expected[body : body + 1], moves[key].ravel())[0]
    sweep = algorithm_1.gauss_seidel(tree, printed_order=printed_order)
    got = evaluate(sweep, pose=pose.ravel(), weight=w, joint=joint)["pose_next"]
    np.testing.assert_allclose(got.reshape(-1, 7), expected, atol=1e-14)


def test_6_angular_velocity_is_read_off_with_the_sign_of_the_scalar_part() -> None:
    omega, h = np.array([0.3, -0.5, 0.2]), 0.01
    state = np.concatenate([np.zeros(6), QUATERNION, np.zeros(3)])
    for sign in (1, -1):
        pose = np.concatenate([np.zeros(3), sign * turned(QUATERNION, h * omega)])
        got = evaluate(bodies.read_off_kernel(), state=state, pose=pose, h=h)["next"].ravel()
        np.testing.assert_allclose(got[10:13], omega, atol=1e-5)


def test_7_joint_angle_in_all_quadrants_with_its_sign() -> None:
    robot = shipped("baxter_bare")
    joint = numbers(robot)["joint"]
    for p in (np.linspace(-3.0, 3.0, 7), np.full(7, 1.6), np.full(7, -1.6)):
        xi = evaluate(fk(tree_of(robot)), p=p, pd=np.zeros(7), joint=joint)["xi"]
        got = evaluate(joint_state(tree_of(robot)), xi=xi, joint=joint, p_ref=np.zeros(7))["p"].ravel()
        np.testing.assert_allclose(got, p, atol=1e-14)


def test_8_lever_spring_pulls_with_its_potential() -> None:
    p, k, l1, l2, offset, rest = (sp.Symbol(s, positive=True) for s in ("p", "k", "l1", "l2", "offset", "rest"))
    x = lever_spring.length(p, l1, l2, offset)
    gamma = sp.pi - offset - p
    stated = k * (x - rest) * l1 * l2 * sp.sin(gamma) / x
    values = {p: 0.7, k: 30.0, l1: 0.2, l2: 0.3, offset: 0.4, rest: 0.1}
    torque = -sp.diff(lever_spring.potential(p, k, l1, l2, offset, rest), p)
    assert float((torque - stated).subs(values)) == pytest.approx(0, abs=1e-12)
    # the law of cosines with the angle of the joint in it: shorter as the joint closes
    assert float(x.subs(values)) ** 2 == pytest.approx(0.04 + 0.09 - 0.12 * np.cos(np.pi - 1.1))
    assert float(x.diff(p).subs(values)) < 0


def test_10_block_correction_is_smooth_where_the_constraint_holds() -> None:
    robot, j = shipped("baxter_bare"), 3
    pose = poses_of(random_state(robot, np.random.default_rng(1)))
    w = evaluate(corrections.weights(tree_of(robot)), body=numbers(robot)["body"])["weight"].reshape(-1, 7)
    joint = numbers(robot)["joint"].reshape(-1, 28)[j]

    def correction(multiplier: Multiplier, d: Array) -> Array:
        b = displaced(pose[j : j + 1], d)[0]
        kernel = corrections.correction_kernel(False, False, multiplier)
        given = {"pose_a": pose[j - 1], "pose_b": b, "weight_a": w[j - 1], "weight_b": w[j]}
        return evaluate(kernel, joint=joint, **given)["move_b"].ravel()

    one, other = 1e-5 * np.array([1, 0, 0, 0, 0, 0]), 1e-5 * np.array([0, 1, 0, 0, 0, 0])
    defects = {}
    for multiplier in Multiplier:
        both = correction(multiplier, one + other)
        apart = correction(multiplier, one) + correction(multiplier, other)
        defects[multiplier] = np.linalg.norm(both - apart) / np.linalg.norm(both)
        assert np.abs(correction(multiplier, np.zeros(6))).max() < 1e-14
    assert defects[Multiplier.BLOCK] < 1e-4
    assert defects[Multiplier.SCALAR] > 0.05


def test_11_effort_acts_on_the_child_and_back_on_the_parent() -> None:
    robot = shipped("baxter_bare")
    n, h = robot.n, 1e-4
    start = evaluate(fk(tree_of(robot)), p=np.full(n, 0.3), pd=np.zeros(n), joint=numbers(robot)["joint"])["xi"].ravel()
    for name in ("variational_direct", "paper_direct"):
        for j in range(1, n):
            given = numbers(robot) | free(robot) | {"gravity": np.zeros(3), "u": np.eye(n)[j]}
            after = evaluate(getattr(step, name)(tree_of(robot)), xi=start, h=h, **given)["xi_next"]
            pose = {"joint": numbers(robot)["joint"], "p_ref": np.zeros(n)}
            pd = evaluate(joint_state(tree_of(robot)), xi=after, **pose)["pd"].ravel()
            assert pd[j] > 0  # M⁻¹ has a positive diagonal
            kick = evaluate(
                bodies.pull_kernel(False),
                joint=numbers(robot)["joint"][:28],
                rotation_b=np.eye(3),
                effort=2.0,
            )
            np.testing.assert_allclose(kick["pull"], -kick["reaction"])


def test_14_positional_gradients_turn_the_links_towards_each_other() -> None:
    """Equations 7 and 9: ∂(R t)/∂φ = -[R t]x stands there in the place of its transpose, so both links turn the wrong way."""
    robot, j = shipped("baxter_bare"), 3
    pose = poses_of(random_state(robot, np.random.default_rng(1)))
    pose[j, :3] += [0.01, -0.02, 0.015]
    w = evaluate(corrections.weights(tree_of(robot)), body=numbers(robot)["body"])["weight"].reshape(-1, 7)
    joint = numbers(robot)["joint"].reshape(-1, 28)[j]
    kernel = corrections.correction_kernel(False, False, Multiplier.SCALAR)
    known = {"joint": joint, "pose_a": pose[j - 1], "pose_b": pose[j], "weight_a": w[j - 1], "weight_b": w[j]}
    moves = evaluate(kernel, **known)

    def gap(sign: int) -> float:
        ends = []
        for at, side, arm in ((pose[j], "b", joint[:3]), (pose[j - 1], "a", joint[3:6])):
            move = moves[f"move_{side}"].ravel()
            ends.append(at[:3] + move[:3] + matrix_of(turned(at[3:], sign * move[3:])) @ arm)
        return float(np.linalg.norm(ends[0] - ends[1]))

    before = np.linalg.norm([0.01, -0.02, 0.015])
    assert gap(1) < 0.6 * before
    assert gap(-1) > 1.2 * gap(1), (gap(1) / before, gap(-1) / before)
