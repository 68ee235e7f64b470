"""Every integrator x solver x multiplier converges to rigid-body dynamics at its order and keeps momentum; averaged
corrections do neither."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.maximal import Array, displaced, evaluate, matrix_of, numbers, poses_of, tree_of
from support.small.short_chains import SWEEPS, averaged, chain, exact, maximal, rollout, start, variants

from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.method import corrections
from diffpbd.codegen.method.corrections import Multiplier

DURATION = 0.008  # s


@cache
def error(name: str, n: int, slide: bool, h: float) -> float:
    """Largest error of a pose [m or 1] after DURATION."""
    robot = chain(n, slide)
    program = (variants() | averaged())[name](tree_of(robot), SWEEPS)
    end = rollout(program, robot, maximal(robot, *start(robot)), h, round(DURATION / h))
    return float(np.abs(poses_of(end) - poses_of(exact(n, slide, DURATION))).max())


@pytest.mark.parametrize(("n", "slide"), [(2, False), (3, True)], ids=["two_hinges", "slide_and_two_hinges"])
@pytest.mark.parametrize("name", variants())
def test_a_step_has_its_order(name: str, n: int, slide: bool) -> None:
    """From 1 ms to 0.5 ms the error falls by 2^order."""
    order = 2 if name.startswith("variational") else 1
    assert np.log2(error(name, n, slide, 1e-3) / error(name, n, slide, 5e-4)) == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize("name", averaged())
def test_averaging_has_no_order(name: str) -> None:
    """Its error stays as the step is halved: it converges to something else."""
    coarse, fine = (error(name, 2, False, h) for h in (1e-3, 5e-4))
    assert fine > 0.8 * coarse


# Momentum ---------------------------------------------------------------------------------------------------------------------


def momentum_along_the_slide(robot: Robot, xi: Array) -> float:
    """Momentum of all links along the axis of the first joint, along which nothing holds them [kg·m/s]."""
    axis = np.array(robot.joints[0].axis)
    return sum(link.inertial.mass * s[3:6] @ axis for link, s in zip(robot.links, xi.reshape(-1, 13), strict=True))


@pytest.mark.parametrize("name", [*variants(), *averaged()])
def test_momentum_of_a_chain_that_slides_freely(name: str) -> None:
    """Kept to rounding with a few sweeps, far from converged."""
    robot = chain(3, slide=True)
    xi = maximal(robot, *start(robot))
    end = rollout((variants() | averaged())[name](tree_of(robot), 4), robot, xi, 0.01, 1, gravity=np.zeros(3))
    lost = abs(momentum_along_the_slide(robot, end) - momentum_along_the_slide(robot, xi))
    assert lost > 5e-5 if "averaging" in name else lost < 1e-13


def weights_of(robot: Robot) -> Array:
    return evaluate(corrections.weights(tree_of(robot)), body=numbers(robot)["body"])["weight"]


@pytest.mark.parametrize("multiplier", list(Multiplier))
@pytest.mark.parametrize("angular", [False, True], ids=["positional", "angular"])
def test_a_correction_of_two_free_bodies_keeps_their_momentum(multiplier: Multiplier, angular: bool) -> None:
    """Linear to rounding; angular about the joint's place on the parent up to c x force: the open joint's own moment."""
    robot = chain(2)
    rng = np.random.default_rng(5)
    pose = poses_of(maximal(robot, *start(robot)))
    pose = displaced(pose, 1e-3 * rng.normal(size=12))
    w, joint = weights_of(robot).reshape(-1, 7), numbers(robot)["joint"].reshape(-1, 28)[1]
    given = {"joint": joint, "pose_a": pose[0], "weight_a": w[0], "pose_b": pose[1], "weight_b": w[1]}
    kernel = corrections.correction_kernel(slide=False, angular=angular, multiplier=multiplier)
    moves = evaluate(kernel, **given)
    linear, spin, R = {}, {}, {}
    for k, side in enumerate("ab"):
        move, inertial = moves[f"move_{side}"].ravel(), robot.links[k].inertial
        R[side] = matrix_of(pose[k, 3:])
        linear[side] = inertial.mass * move[:3]
        spin[side] = R[side] @ np.array(inertial.inertia) @ R[side].T @ move[3:]
    place_a, place_b = pose[0, :3] + R["a"] @ joint[3:6], pose[1, :3] + R["b"] @ joint[:3]
    assert max(np.abs(linear["a"]).max(), np.abs(spin["a"]).max()) > 1e-6
    np.testing.assert_allclose(linear["a"] + linear["b"], 0, atol=1e-16)
    total = sum(spin[s] + np.cross(pose[k, :3], linear[s]) for k, s in enumerate("ab"))
    np.testing.assert_allclose(total, np.cross(place_b - place_a, linear["b"]), atol=1e-16)
