"""The factor of Jacobi sweeps: where the bound lies, from both sides, and that the default keeps to it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from support.maximal import Array, dense_constraints, displaced, evaluate, numbers, poses_of, shipped, tree_of, two_arms
from support.small.short_chains import maximal

from diffpbd.codegen.description.robot.robot import Inertial, Robot
from diffpbd.codegen.method import algorithm_1, corrections
from diffpbd.codegen.method.relaxation import default_factor, factors
from diffpbd.codegen.program.tree import Tree


def light_torso() -> Robot:
    """Two arms on a torso so light that their joints and its own all answer through it: nearly the worst of three."""
    robot = two_arms()
    torso = dataclasses.replace(
        robot.links[0], inertial=Inertial(1e-3, (0.0, 0.0, 0.0), ((1e-5, 0, 0), (0, 1e-5, 0), (0, 0, 1e-5)))
    )
    return dataclasses.replace(robot, name="light_torso", links=(torso, *robot.links[1:]))


def left_after(robot: Robot, factor: float | None, count: int = 60) -> float:
    """The share of small residuals that sweeps leave."""
    zero = np.zeros(robot.n)
    pose: Array = poses_of(maximal(robot, zero, zero))
    pose = displaced(pose, 1e-6 * np.random.default_rng(4).normal(size=6 * robot.n))
    given = numbers(robot)
    weight = evaluate(corrections.weights(tree_of(robot)), body=given["body"])["weight"]
    sweep = algorithm_1.jacobi(tree_of(robot), relaxation=factor)
    first = np.abs(dense_constraints(robot, pose)[0]).max()
    for _ in range(count):
        pose = evaluate(sweep, pose=pose.ravel(), weight=weight, joint=given["joint"])["pose_next"].reshape(-1, 7)
    return float(np.abs(dense_constraints(robot, pose)[0]).max() / first)


@pytest.mark.parametrize(
    ("robot", "bound"),
    [(shipped("double_pendulum"), 1.0), (light_torso(), 2 / 3)],
    ids=lambda r: getattr(r, "name", ""),
)
def test_sweeps_diverge_not_far_above_two_over_the_joints_that_meet(robot: Robot, bound: float) -> None:
    assert default_factor(tree_of(robot)) == pytest.approx(0.9 * bound)
    assert left_after(robot, None) < 0.9
    assert left_after(robot, 1.35 * bound) > 1e3


def test_one_factor_for_all_links_but_when_averaging() -> None:
    tree = tree_of(two_arms())
    assert factors(tree, None) == [0.6] * 7
    assert factors(tree, 0.3) == [0.3] * 7
    assert factors(tree, "averaging") == [1 / 3, 1 / 2, 1 / 2, 1, 1 / 2, 1 / 2, 1]


def test_joints_that_meet_no_other_take_all() -> None:
    assert default_factor(Tree((-1, -1), (False, False), (False, False))) == 1.0


def test_limits_have_one_factor_even_when_averaging() -> None:
    """A limit's multiplier takes what both its bodies do of it."""
    tree = dataclasses.replace(tree_of(two_arms()), limited=(True,) * 7)
    calls = algorithm_1.jacobi(tree, relaxation="averaging").calls()
    first = next(k for k, call in enumerate(calls) if "limit" in call.program.name)
    shares = {call.arguments["factor"][0, 0] for call in calls[first:] if "factor" in call.arguments}
    assert {float(share) for share in shares} == {1 / 3}
