"""The velocity stage along the tree gives what the dense one gives, and grows linearly with the chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.maximal import Array, numbers, random_state, shipped, tree_of, two_arms

from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.method import step, velocity
from diffpbd.codegen.method.stage import each
from diffpbd.codegen.program import tree
from diffpbd.codegen.program.notation import BODY, POSE, STATE, column
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree

ROBOTS = (two_arms(), shipped("baxter_bare"), shipped("prismatic_skew"))
FRICTION = np.array([0.5, 0.3, 0.05])


def stage(robot: Robot, build: Callable[[Program, Tree], Any], **arrays: Array | float) -> Array:
    """Evaluate a fresh program, so that the depth at which trees are deep is looked up again."""
    program, shape = Program("stage"), tree_of(robot)
    program.output("result", build(program, shape))
    return np.asarray(program.numpy()(**arrays)["result"]).ravel()


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.name)
@pytest.mark.parametrize("iterations", [1, 12])
def test_rates_along_the_tree_are_the_dense_ones(
    robot: Robot, iterations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    n, rng = robot.n, np.random.default_rng(4)

    def build(program: Program, shape: Tree) -> Any:
        blocks = [each(program.input(k, m * n), m, shape) for k, m in (("inertia", 10), ("motion", 6), ("momentum", 6))]
        effort, friction = program.input("effort", n), program.input("friction", 3 * n)
        return velocity.rates(program, shape, *blocks, list(effort), friction, program.scalar("h"), iterations)

    arrays: dict[str, Any] = {"h": 0.01, "friction": np.tile(FRICTION, n), "effort": 50 * rng.normal(size=n)}
    inertia, motion = rng.normal(size=(n, 10)), rng.normal(size=(n, 6))
    for i, parent in enumerate(tree_of(robot).parents):
        root, slide = parent < 0, robot.joints[i].type.slides
        motion[i, 3:] *= not slide
        motion[i, :3] *= slide or not root
        first, m = rng.normal(size=3), rng.uniform(0.1, 2)  # at most what m and the second moments below allow
        second = 9 * np.eye(3) + np.diag(rng.uniform(0, 1, 3))
        inertia[i] = [m, *(m * first / np.linalg.norm(first)), *second[np.triu_indices(3)]]
    arrays |= {"inertia": inertia, "motion": motion, "momentum": rng.normal(size=(n, 6))}
    dense = stage(robot, build, **arrays)
    monkeypatch.setattr(tree, "DENSE_DEPTH", 0)
    np.testing.assert_allclose(stage(robot, build, **arrays), dense, atol=1e-13)
    assert np.abs(dense).max() > 0.1


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda r: r.name)
def test_damping_along_the_tree_is_the_dense_one(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    n, rng = robot.n, np.random.default_rng(6)

    def build(program: Program, shape: Tree) -> Any:
        xi, joint = program.input("xi", STATE * n), program.input("joint", 28 * n)
        given = (joint, program.input("body", BODY * n), program.input("friction", 3 * n), program.scalar("h"))
        states, poses = each(xi, STATE, shape), each(program.input("pose", POSE * n), POSE, shape)
        return column(*velocity.damped(program, shape, states, poses, given, 12, (None, None)))

    xi = random_state(robot, rng) + 0.1 * np.tile([0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1], n)  # rates that detach links
    pose = np.delete(xi.reshape(n, 13), [3, 4, 5, 10, 11, 12], axis=1)
    arrays = numbers(robot) | {"xi": xi, "pose": pose, "h": 0.01, "friction": np.tile(FRICTION, n)}
    dense = stage(robot, build, **arrays)
    monkeypatch.setattr(tree, "DENSE_DEPTH", 0)
    np.testing.assert_allclose(stage(robot, build, **arrays), dense, atol=1e-13)
    assert np.abs(dense - xi).max() > 1e-3


@pytest.mark.parametrize("make", [step.variational_direct, step.paper_direct], ids=["variational", "paper"])
def test_operations_grow_linearly(make: Callable[..., Program]) -> None:
    def operations(n: int) -> int:
        return make(Tree(tuple(range(-1, n - 1)), (False,) * n, (False,) * n), 3, 10).operations()

    at_15, at_30, at_60 = operations(15), operations(30), operations(60)
    assert at_60 - at_30 == pytest.approx(2 * (at_30 - at_15))
