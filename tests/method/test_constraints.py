"""Residuals against their definitions, gradients against differences, kinematics there and back."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from support.maximal import ROBOTS, Array, gradient_program, numbers, shipped, tree_of

from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.method.constraints import JointVectors, constraints, slide_orientation
from diffpbd.codegen.method.kinematics import fk, joint_state, rotation
from diffpbd.codegen.program.notation import JOINT, JointNumbers
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.rotation import rotation_matrix


def perturbed(pose: Array, d: Array) -> Array:
    """Left perturbation of a pose, exact to first order."""
    w, x, y, z = pose[3:]
    columns = np.array([[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]])
    return np.concatenate([pose[:3] + d[:3], pose[3:] + columns @ d[3:] / 2])


def random_pose(rng: np.random.Generator) -> Array:
    q = rng.normal(size=4)
    return np.concatenate([rng.normal(size=3), q / np.linalg.norm(q)])


@pytest.mark.parametrize("slide", [False, True])
def test_gradients_equal_differences(slide: bool) -> None:
    run = gradient_program(slide).numpy()
    rng = np.random.default_rng(3)
    joint = numbers(shipped("prismatic_skew"))["joint"][2 * JOINT : 3 * JOINT]
    a, b = random_pose(rng), random_pose(rng)
    at = run(joint=joint, a=a, b=b)
    for body, J in (("a", at["J_a"]), ("b", at["J_b"])):
        for k in range(6):
            step = 1e-6 * np.eye(6)[k]
            up, down = ({"a": a, "b": b} | {body: perturbed({"a": a, "b": b}[body], s * step)} for s in (1, -1))
            difference = (run(joint=joint, **up)["c"] - run(joint=joint, **down)["c"]).ravel() / 2e-6
            np.testing.assert_allclose(J[:, k], difference, atol=2e-8)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.name)
def test_forward_state_is_consistent_and_comes_back(robot: Robot) -> None:
    tree, given = tree_of(robot), numbers(robot)
    rng = np.random.default_rng(5)
    forward, back, residual = fk(tree).numpy(), joint_state(tree).numpy(), constraints(tree).numpy()
    for spread in (0.0, 1.0, 3.0):
        p, pd = rng.uniform(-spread, spread, robot.n), rng.normal(size=robot.n)
        xi = forward(p=p, pd=pd, joint=given["joint"])["xi"]
        assert np.abs(residual(xi=xi, joint=given["joint"])["c"]).max() < 1e-14
        state = back(xi=xi, joint=given["joint"], p_ref=np.zeros(robot.n))
        np.testing.assert_allclose(state["p"].ravel(), p, atol=1e-14)
        np.testing.assert_allclose(state["pd"].ravel(), pd, atol=1e-13)
        later = forward(p=p + 1e-6 * pd, pd=pd, joint=given["joint"])["xi"].reshape(-1, 13)
        before = forward(p=p - 1e-6 * pd, pd=pd, joint=given["joint"])["xi"].reshape(-1, 13)
        np.testing.assert_allclose((later - before)[:, :3] / 2e-6, xi.reshape(-1, 13)[:, 3:6], atol=1e-8)


def test_angle_unwraps_to_the_reference() -> None:
    robot = shipped("baxter_bare")
    tree, given = tree_of(robot), numbers(robot)
    forward, back = fk(tree).numpy(), joint_state(tree).numpy()
    p = np.array([7.0, -9.0, 3.2, 0.1, -3.2, 12.0, 0.0])
    xi = forward(p=p, pd=np.zeros(7), joint=given["joint"])["xi"]
    near = back(xi=xi, joint=given["joint"], p_ref=p + 0.3)["p"].ravel()
    np.testing.assert_allclose(near, p, atol=1e-13)
    plain = back(xi=xi, joint=given["joint"], p_ref=np.zeros(7))["p"].ravel()
    np.testing.assert_allclose(plain, np.angle(np.exp(1j * p)), atol=1e-13)


def test_slide_orientation_is_the_quaternion_form() -> None:
    s, x, y, z = q = sp.symbols("s x y z", real=True)
    unit = {s**2: 1 - x**2 - y**2 - z**2}
    E = sp.eye(3)
    joint = JointNumbers(None, None, None, *(E[:, k] for k in range(3)), *(E[:, k] for k in range(3)))
    R = rotation_matrix(q)
    w = JointVectors(joint, None, None, lambda v: v, lambda v: R * v)
    difference = slide_orientation(w) - 2 * s * sp.Matrix([x, y, z])
    assert all(sp.expand(e).subs(unit).expand() == 0 for e in difference)


def test_shared_products_give_the_rotation_matrix() -> None:
    program = Program("rotation_under_test")
    q = program.input("q", 4)
    program.output("shared", rotation(program, q))
    program.output("plain", rotation_matrix(q))
    at = program.numpy()(q=random_pose(np.random.default_rng(1))[3:])
    np.testing.assert_allclose(at["shared"], at["plain"], atol=1e-15)
