"""Where the scalar multiplier's direction fades out: far below any residual worth closing, far above rounding."""

from __future__ import annotations

import numpy as np
import pytest
from support.maximal import Array, evaluate, numbers, poses_of, tree_of
from support.small.short_chains import chain, maximal

from diffpbd.codegen.method import corrections
from diffpbd.codegen.method.corrections import Multiplier


def _moves(gap: Array) -> tuple[Array, dict[str, Array]]:
    """Numbers of a joint (28) that is open by a gap [m], and the correction of both its links."""
    robot = chain(2)
    pose = poses_of(maximal(robot, np.zeros(2), np.zeros(2)))
    pose[1, :3] += gap
    w = evaluate(corrections.weights(tree_of(robot)), body=numbers(robot)["body"])["weight"].reshape(-1, 7)
    given = {"pose_a": pose[0], "weight_a": w[0], "pose_b": pose[1], "weight_b": w[1]}
    joint = numbers(robot)["joint"].reshape(-1, 28)[1]
    kernel = corrections.correction_kernel(slide=False, angular=False, multiplier=Multiplier.SCALAR)
    return joint, evaluate(kernel, joint=joint, **given)


def closed(size: float) -> tuple[Array, Array]:
    """A gap of `size` [m] between two links, and what one correction of its joint closes of it."""
    gap = size * np.array([0.6, 0.0, 0.8])
    joint, moves = _moves(gap)
    a, b = moves["move_a"].ravel(), moves["move_b"].ravel()
    arm_a, arm_b = joint[3:6], joint[:3]  # no link is turned here
    moved = b[:3] + np.cross(b[3:], arm_b) - a[:3] - np.cross(a[3:], arm_a)
    return gap, moved


@pytest.mark.parametrize("size", [1e-3, 1e-5, 1e-8, 1e-10])
def test_gaps_down_to_an_angstrom_are_closed_as_printed(size: float) -> None:
    gap, moved = closed(size)
    assert moved @ gap / (gap @ gap) == pytest.approx(-1, abs=1e-3)


def correction(gap: Array) -> Array:
    """The child's correction (6) for a gap [m, world]."""
    return _moves(gap)[1]["move_b"].ravel()


def test_a_closed_joint_moves_nothing_and_has_one_derivative() -> None:
    """Printed, the derivative along a direction d is that of K in this direction. Below the floor there is one for all: that of
    the mean over directions, to which the printed ones come back in the mean of their reciprocals."""
    assert np.abs(correction(np.zeros(3))).max() < 1e-15
    rng = np.random.default_rng(2)
    directions = rng.normal(size=(400, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    tiny, small = 1e-14, 1e-6
    at_zero = np.array([correction(tiny * e) / tiny for e in np.eye(3)]).T
    for d in directions[:5]:
        np.testing.assert_allclose(correction(tiny * d) / tiny, at_zero @ d, rtol=0.05, atol=0.02)
    # the child's own move is d/(m K): reciprocals of its length give K
    stiffness = [1 / np.linalg.norm(correction(small * d)[:3]) * small for d in directions]
    assert np.mean(stiffness) == pytest.approx(1 / np.linalg.norm(at_zero[:3, 0]), rel=0.01)
    assert max(stiffness) > 1.1 * min(stiffness)
