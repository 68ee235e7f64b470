"""The converged maximal step solves the joint-space equations F and G; payload and parameters."""

from __future__ import annotations

import numpy as np
import pytest
from support.maximal import Array, description_blocks, evaluate, free, matrix_of, model_blocks, numbers, only, shipped

from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.graph.model.model import tree_of
from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.codegen.method import step
from diffpbd.codegen.method.kinematics import fk, joint_state
from diffpbd.codegen.method.parameters import joint_numbers, maximal_parameters, quaternion_of


@pytest.mark.parametrize("name", ["baxter_bare", "prismatic_skew", "double_pendulum"])
def test_converged_step_solves_the_joint_space_equations(name: str) -> None:
    robot = shipped(name)
    n, h, rng = robot.n, 0.01, np.random.default_rng(31)
    tree = tree_of(robot)
    p, pd, u = rng.uniform(-1, 1, n), rng.normal(size=n), rng.normal(size=n)
    coulomb, viscous, transition = rng.uniform(0, 1, n), rng.uniform(0, 1, n), np.full(n, 0.05)
    stiffness, rest = rng.uniform(0, 5, n), rng.uniform(-1, 1, n)
    given = numbers(robot) | free(robot) | {"u": u, "gravity": np.array([0, 0, -9.81])}
    given["friction"] = np.column_stack([coulomb, viscous, transition]).ravel()
    given["spring"] = np.column_stack([stiffness, rest]).ravel()
    xi = evaluate(fk(tree), p=p, pd=pd, joint=given["joint"])["xi"]
    after = evaluate(step.variational_direct(tree, 8, 25), xi=xi, h=h, **given)["xi_next"]
    end = evaluate(joint_state(tree), xi=after, joint=given["joint"], p_ref=p)
    blocks = model_blocks(name) | {"gravity": given["gravity"], "stiffness": stiffness, "rest": rest}
    blocks |= {"coulomb": coulomb, "viscous": viscous, "transition": transition, "rotor": np.zeros(n)}
    residual = only(joint_space.residuals(tree), blocks, p=p, pd=pd, u=u, h=h, p_next=end["p"], pd_next=end["pd"])
    assert np.abs(residual["F"]).max() < 1e-13
    assert np.abs(residual["G"]).max() < 1e-13


def test_payload_is_a_body_welded_to_the_tip() -> None:
    robot: Robot = shipped("prismatic_skew")
    tree, i = tree_of(robot), robot.tips[0].link
    payload = np.array([0.8, 0.05, -0.02, 0.1, 0.004, 1e-4, -2e-4, 0.005, 3e-4, 0.003])
    program = maximal_parameters(tree, i)
    bare, loaded = (evaluate(program, **description_blocks(robot, load)) for load in (None, payload))
    np.testing.assert_array_equal(bare["body"].reshape(-1, 7)[:i], loaded["body"].reshape(-1, 7)[:i])
    tip, link = robot.tips[0], robot.links[i].inertial
    R, load_inertia = np.array(tip.rotation), np.zeros((3, 3))
    load_inertia[np.triu_indices(3)] = payload[4:]
    load_inertia = load_inertia + np.triu(load_inertia, 1).T
    at = R @ payload[1:4] + tip.translation
    mass = link.mass + payload[0]
    com = (link.mass * np.array(link.com) + payload[0] * at) / mass

    def shifted(m: float, inertia: Array, d: Array) -> Array:
        return np.asarray(inertia + m * (d @ d * np.eye(3) - np.outer(d, d)))

    inertia = shifted(link.mass, np.array(link.inertia), link.com - com)
    inertia = inertia + shifted(payload[0], R @ load_inertia @ R.T, at - com)
    body, joint = loaded["body"].reshape(-1, 7)[i], loaded["joint"].reshape(-1, 28)[i]
    np.testing.assert_allclose(body, [mass, *inertia[np.triu_indices(3)]], atol=1e-15)
    np.testing.assert_allclose(joint[:3], -com, atol=1e-15)


def test_rest_orientation_follows_a_moved_origin_smoothly() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = rng.normal(size=4)
        R = matrix_of(q / np.linalg.norm(q))
        seat = np.array(quaternion_of(tuple(map(tuple, R))))
        np.testing.assert_allclose(matrix_of(seat), R, atol=1e-15)
        away = rng.normal(size=3)
        moved = matrix_of(np.array([1, *(0.4 * away)]) / np.linalg.norm([1, *(0.4 * away)])) @ R
        given = {
            "translation": np.zeros(3),
            "triad": np.eye(3).ravel(),
            "com_a": np.zeros(3),
            "com_b": np.zeros(3),
        }
        block = evaluate(joint_numbers(), rotation=moved.ravel(), seat=seat, **given)["joint"].ravel()
        np.testing.assert_allclose(matrix_of(block[6:10]), moved, atol=1e-14)
        np.testing.assert_allclose(block[10:19].reshape(3, 3).T, moved, atol=1e-15)
        assert block[6:10] @ seat > 0


def test_free_fall_of_a_spring_across_half_a_turn() -> None:
    """A spring's angle is taken within half a turn of its rest angle, wherever that is."""
    robot = shipped("double_pendulum")
    tree, n = tree_of(robot), robot.n
    torques = []
    for turns in (0.0, 2 * np.pi):
        given = numbers(robot) | free(robot) | {"gravity": np.zeros(3), "spring": np.array([3.0, 2.9 + turns, 0, 0])}
        xi = evaluate(fk(tree), p=np.array([3.3, 0.0]), pd=np.zeros(n), joint=given["joint"])["xi"]
        torques.append(evaluate(step.variational_direct(tree), xi=xi, h=1e-3, **given)["xi_next"])
    np.testing.assert_allclose(torques[0], torques[1], atol=1e-14)
    pd = evaluate(joint_state(tree), xi=torques[0], joint=numbers(robot)["joint"], p_ref=np.zeros(n))["pd"]
    assert pd[0, 0] < 0  # back to 2.9 from 3.3, not the long way round
