"""Inverse kinematics that keeps distances: poses judged by coal and Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from click.testing import CliRunner
from support.planning import guarded
from support.planning.around_a_ball import URDF
from support.robots import generated

import diffpbd
from diffpbd.runtime import Robot, load
from diffpbd.runtime.cli import cli
from diffpbd.runtime.model.clearance import Distances

LEAST = 0.03
MET = 2e-6  # m, rad


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return load(generated(str(guarded.recipe(tmp_path_factory.getbasetemp())), functions=("mpc", "ik"), quick=False))


def test_poses_are_apart_and_at_their_goal(arm: Robot, count: Callable[[int, int], int]) -> None:
    """Goals are of poses that are apart, but not by much; without asking, some of what is found is not."""
    clearance = arm.manifest.clearance
    assert clearance is not None
    judge = guarded.Judge(clearance.shapes, clearance.rows)
    rng, low, high = np.random.default_rng(5), arm.limits.lower, arm.limits.upper
    total, near = count(25, 2000), Distances(arm, arm.alpha.defaults)
    solved = inside = done = 0
    while done < total:
        q = low + (high - low) * rng.random(7)
        if not LEAST + 0.002 < near.at(q).min() < LEAST + 0.05:
            continue
        done += 1
        tip = arm.tip_pose(q)
        goal = {"position": tip.position, "rotation": tip.rotation}
        start = low + (high - low) * rng.random(7)
        inside += judge.least(diffpbd.ik(arm, **goal, q0=start, strict=False).q) < LEAST
        found = diffpbd.ik(arm, **goal, q0=start, clearance=LEAST, strict=False)
        solved += found.reached
        assert found.clearance == pytest.approx(judge.least(found.q), abs=1e-8) or found.clearance < 0.0
        if found.reached:
            assert judge.least(found.q) >= LEAST - 1e-9  # what rounding leaves coal
            M = judge.data.oMf[judge.model.getFrameId("left_hand_link")]
            assert np.linalg.norm(M.translation - tip.position) < MET
            assert np.linalg.norm(pin.log3(M.rotation.T @ tip.rotation)) < MET
            assert (found.q >= low).all() and (found.q <= high).all()
    assert inside > 0.1 * total, (inside, solved)
    assert solved >= 0.95 * total, (inside, solved)


def test_a_goal_inside_the_body_is_not_reached(arm: Robot) -> None:
    """Nothing that is nearer than asked comes back as reached; the error says the distance."""
    inside = np.array([0.05, 0.0, 0.3])
    assert diffpbd.ik(arm, position=inside, strict=False, starts=40).reached
    found = diffpbd.ik(arm, position=inside, clearance=0.0, strict=False, starts=40)
    assert not found.reached and "m apart" in found.words
    words = ["ik", str(arm.folder), "--position", str(inside.tolist()), "--clearance", "0"]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 1 and "m apart" in result.output, result.output


def test_a_distance_that_is_no_number_is_no_distance(tmp_path: Path) -> None:
    """The box of a zero quaternion, in C: its rows stand before those of the plane, which are far enough."""
    file = tmp_path / "planar.urdf"
    file.write_text(URDF, encoding="utf-8")
    arm = load(generated(str(file), functions=("ik",), clearance=True, obstacles=("boxes=1", "planes=1")))
    function = arm.function("ik")
    for turn, status in ((1.0, 0), (0.0, 31)):
        box = np.array([[9.0, 0, 0, turn, 0, 0, 0, 1, 1, 1]]).T
        given = {"boxes": box, "planes": np.array([[0.0, 0, 1, -1]]).T, "keep_apart": np.array([0.0, 1, 0])}
        goal = [0.24, 0.32, 0], np.eye(3), [1, 0], [0.3, 0.3], [0, 0], 0, np.zeros(6), None
        found, at = function.attempt(*goal, **given)
        assert found == status
        assert status == 0 or at.ik_info[-1] < -1.0
