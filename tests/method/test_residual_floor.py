"""Where the scalar multiplier's direction fades out: far below any residual worth closing, far above rounding."""

from __future__ import annotations

import numpy as np
import pytest
from support.maximal import Array, evaluate, numbers, poses_of, tree_of
from support.short_chains import chain, maximal

from diffpbd.codegen.method import corrections
from diffpbd.codegen.method.corrections import Multiplier


def closed(size: float) -> tuple[Array, Array]:
    """A gap of `size` [m] between two links, and what one correction of its joint closes of it."""
    robot = chain(2)
    pose = poses_of(maximal(robot, np.zeros(2), np.zeros(2)))
    gap = size * np.array([0.6, 0.0, 0.8])
    pose[1, :3] += gap
    w = evaluate(corrections.weights(tree_of(robot)), body=numbers(robot)["body"])["weight"].reshape(-1, 7)
    given = {"pose_a": pose[0], "weight_a": w[0], "pose_b": pose[1], "weight_b": w[1]}
    joint = numbers(robot)["joint"].reshape(-1, 28)[1]
    kernel = corrections.correction_kernel(slide=False, angular=False, multiplier=Multiplier.SCALAR)
    moves = evaluate(kernel, joint=joint, **given)
    a, b = moves["move_a"].ravel(), moves["move_b"].ravel()
    arm_a, arm_b = joint[3:6], joint[:3]  # no link is turned here
    moved = b[:3] + np.cross(b[3:], arm_b) - a[:3] - np.cross(a[3:], arm_a)
    return gap, moved


@pytest.mark.parametrize("size", [1e-3, 1e-5, 1e-8])
def test_gaps_down_to_10_nm_are_closed_as_printed(size: float) -> None:
    gap, moved = closed(size)
    assert moved @ gap / (gap @ gap) == pytest.approx(-1, abs=1e-3)


def test_a_gap_of_a_picometre_is_noise_and_none_stays_finite() -> None:
    """The direction has faded: what moves is finite, of the size of the gap, and no longer closes it."""
    gap, moved = closed(1e-12)
    assert abs(moved @ gap / (gap @ gap) + 1) > 0.1
    assert np.abs(moved).max() < 1e-11
    assert np.abs(closed(0.0)[1]).max() < 1e-15
