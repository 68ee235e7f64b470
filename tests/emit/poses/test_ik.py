"""Inverse kinematics in C: reachable poses are reached within the limits, others are said to be missed and by how much.

Pinocchio judges every answer: placements of its own model, limits as its parser reads them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.description.builders import chain
from support.free_flyer import position
from support.judges.framed import Framed
from support.made.mimicked import gripper
from support.shared.framed_peers import Peer, described

REACHED, NOT_REACHED, BAD_GOAL = 0, 31, 32
WEIGHTS = np.array([1.0, 0.3])
DEFAULTS = np.zeros(6)


class Judge(Peer):
    def __init__(self, ours: Framed, file: str) -> None:
        super().__init__(file, ours)
        joints = ours.coordinates
        self.lower = np.array([-np.pi if j.lower is None else j.lower for j in joints])
        self.upper = np.array([np.pi if j.upper is None else j.upper for j in joints])
        self.still = np.zeros(len(joints))

    def pose(self, p: Any, frame: str) -> tuple[Any, Any]:
        self.see(p, self.still, self.still)
        x, R = self.frame(frame, pin.WORLD)[:2]
        return x.copy(), R.copy()

    def misses(self, p: Any, frame: str, goal: tuple[Any, Any]) -> tuple[float, float]:
        x, R = self.pose(p, frame)
        return float(np.linalg.norm(x - goal[0])), float(np.linalg.norm(pin.log3(goal[1] @ R.T)))

    def random(self, rng: np.random.Generator) -> Any:
        return rng.uniform(self.lower, self.upper)


@pytest.fixture(scope="module")
def panda() -> tuple[Framed, Judge]:
    file = described("panda_description/urdf/panda.urdf")
    ours = Framed(file, tip=["panda_hand_tcp"], frames=["panda_link4"])
    return ours, Judge(ours, file)


def solve(ours: Framed, goal: tuple[Any, Any], p0: Any, **more: Any) -> tuple[int, Any, Any]:
    fixed, options = more.get("fixed", np.zeros(len(ours.coordinates))), more.get("options", DEFAULTS)
    arguments = (*goal, more.get("weights", WEIGHTS), p0, fixed, more.get("frame", 0.0), options)
    status, (p, info) = ours.call("ik", *arguments, ours.alpha.defaults)
    return status, p, info


def test_reachable_poses_are_reached_within_the_limits(panda: Any, count: Any) -> None:
    ours, judge = panda
    rng, solved, poses = np.random.default_rng(0), 0, count(300, 10_000)
    for _ in range(poses):
        goal = judge.pose(judge.random(rng), ours.frames[0])
        status, p, info = solve(ours, goal, judge.random(rng))
        misses = judge.misses(p, ours.frames[0], goal)
        assert np.allclose(info[:2], misses, atol=1e-9)
        assert (judge.lower <= p).all() and (p <= judge.upper).all()
        assert (status == REACHED) == (max(misses) <= 1e-6)
        solved += status == REACHED
    assert solved >= 0.99 * poses


def test_joints_that_end_at_a_limit_try_the_other_side(panda: Any) -> None:
    """One start solves four fifths of the goals; without the other side it is half of them."""
    ours, judge = panda
    rng, options = np.random.default_rng(2), DEFAULTS.copy()
    options[2] = 1.0
    solved = 0
    for _ in range(100):
        goal = judge.pose(judge.random(rng), ours.frames[0])
        solved += solve(ours, goal, judge.random(rng), options=options)[0] == REACHED
    assert solved >= 70


def test_what_is_out_of_reach_is_said_with_the_miss(panda: Any) -> None:
    ours, judge = panda
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, R = judge.pose(judge.random(rng), ours.frames[0])
        goal = (x + 3.0 * (x - [0, 0, 0.333]) / np.linalg.norm(x - [0, 0, 0.333]), R)
        status, p, info = solve(ours, goal, judge.random(rng))
        assert status == NOT_REACHED
        assert np.allclose(info[:2], judge.misses(p, ours.frames[0], goal), atol=1e-9)
        # with the position alone the arm stretches towards the goal: no pose is nearer than its length allows
        status, p, info = solve(ours, goal, judge.random(rng), weights=np.array([1.0, 0.0]))
        assert status == NOT_REACHED and info[0] > 1.0


@pytest.mark.parametrize(("weights", "kept"), [((1.0, 0.0), 0), ((0.0, 1.0), 1)])
def test_position_or_rotation_alone(panda: Any, weights: Any, kept: int) -> None:
    ours, judge = panda
    rng = np.random.default_rng(2)
    for _ in range(50):
        goal = judge.pose(judge.random(rng), ours.frames[0])
        unread = (goal[0], np.full((3, 3), np.nan)) if kept == 0 else (np.full(3, np.nan), goal[1])
        status, p, info = solve(ours, unread, judge.random(rng), weights=np.array(weights))
        assert status == REACHED and info[1 - kept] == 0.0
        assert judge.misses(p, ours.frames[0], goal)[kept] <= 1e-6


def test_half_a_turn_is_no_corner(panda: Any) -> None:
    """Where goal and frame are half a turn apart the error's axis comes from the diagonal."""
    ours, judge = panda
    p0 = np.array([0.1, 0.2, -0.1, -1.5, 0.2, 1.8, 0.3])
    x, R = judge.pose(p0, ours.frames[0])
    for axis in (*np.eye(3), np.array([0.6, -0.8, 0.0]), np.array([-0.48, 0.6, 0.64])):
        goal = (x, (2.0 * np.outer(axis, axis) - np.eye(3)) @ R)
        # one option: no steps at all are made from a first start whose miss is the whole angle
        _, _, info = solve(ours, goal, p0, options=np.array([0, 4.0, 1, 0, 0, 0]), weights=np.array([0.0, 1.0]))
        assert info[1] == pytest.approx(np.pi, abs=1e-7) and info[3] == 0
        assert solve(ours, goal, p0, weights=np.array([0.0, 1.0]))[0] == REACHED


def test_weights_count_beside_each_other_only(panda: Any) -> None:
    ours, judge = panda
    rng = np.random.default_rng(7)
    for _ in range(10):
        goal, p0 = judge.pose(judge.random(rng), ours.frames[0]), judge.random(rng)
        usual = solve(ours, goal, p0)
        for power in (-600, -30, 40):
            found = solve(ours, goal, p0, weights=2.0**power * WEIGHTS)
            assert found[0] == usual[0] and (found[1] == usual[1]).all()


def test_turns_are_taken_off_only_where_the_goal_is_kept(tmp_path: Any) -> None:
    """At 1e10 rad numbers are 2e-6 rad apart: what is not within 1e-6 rad is not said to be."""
    file = tmp_path / "free.urdf"
    file.write_bytes(chain(*["continuous"] * 6))
    ours = Framed(file)
    judge, rng, reached = Judge(ours, str(file)), np.random.default_rng(8), 0
    for _ in range(100):
        goal, p0 = judge.pose(judge.random(rng), "f"), 1e10 * rng.uniform(-1, 1, 6)
        status, p, info = solve(ours, goal, p0)
        misses = judge.misses(p, "f", goal)
        assert np.allclose(info[:2], misses, atol=1e-8)
        assert status != REACHED or max(misses) <= 1.001e-6
        reached += status == REACHED
    assert reached > 20


def test_a_margin_is_left_free(panda: Any) -> None:
    ours, judge = panda
    rng = np.random.default_rng(6)
    for margin, most in ((0.2, 0.2), (9.0, np.inf)):
        room = (
            np.minimum(most, 0.25 * (judge.upper - judge.lower)) if margin < 1 else 0.25 * (judge.upper - judge.lower)
        )
        for _ in range(20):
            goal = judge.pose(rng.uniform(judge.lower + room, judge.upper - room), ours.frames[0])
            _, p, _ = solve(ours, goal, judge.random(rng), options=np.array([0, 0, 5, 0, 0, margin]))
            assert (judge.lower + room - 1e-12 <= p).all() and (p <= judge.upper - room + 1e-12).all()


def test_joints_that_are_held_stay_and_others_that_do_not_matter_too(panda: Any) -> None:
    ours, judge = panda
    rng = np.random.default_rng(3)
    for _ in range(20):
        p0 = judge.random(rng)
        there = judge.random(rng)
        there[2] = p0[2]
        goal = judge.pose(there, ours.frames[0])
        status, p, _ = solve(ours, goal, p0, fixed=np.eye(7)[2], options=np.array([0, 0, 30, 0, 0, 0]))
        assert status == REACHED and p[2] == p0[2]
        goal = judge.pose(there, "panda_link4")
        status, p, _ = solve(ours, goal, p0, frame="panda_link4")
        assert status == REACHED and (p[4:] == p0[4:]).all()


def test_the_same_bits_every_time_and_further_starts_go_on(panda: Any) -> None:
    ours, judge = panda
    rng = np.random.default_rng(4)
    goal, p0 = judge.pose(judge.random(rng), ours.frames[0]), judge.random(rng)
    first, again = solve(ours, goal, p0), solve(ours, goal, p0)
    assert (first[1] == again[1]).all() and (first[2] == again[2]).all()
    onward = solve(ours, goal, p0, options=np.array([0, 0, 10, first[2][2] + 1, 0, 0]))
    assert onward[2][2] > first[2][2]
    assert np.abs(onward[1] - first[1]).max() > 1e-3


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": np.array([-1.0, 1.0])}, {"weights": np.zeros(2)}, {"weights": np.array([1.0, np.nan])}, {"frame": 2.0},
        {"frame": 0.5}, {"p0": np.full(7, np.nan)}, {"position": np.array([0, np.inf, 0])}, {"rotation": np.eye(3) * 1.001},
        {"rotation": np.diag([1.0, 1.0, -1.0])}, {"options": np.full(6, np.nan)}, {"rotation": np.full((3, 3), np.nan)},
    ],
)  # fmt: skip
def test_goals_that_are_none(panda: Any, wrong: dict[str, Any]) -> None:
    goal = (wrong.pop("position", np.array([0.4, 0, 0.4])), wrong.pop("rotation", np.eye(3)))
    p0 = wrong.pop("p0", np.zeros(7))
    status, p, _ = solve(panda[0], goal, p0, **wrong)
    assert status == BAD_GOAL
    assert np.array_equal(p, p0, equal_nan=True)


def test_followers_limits_are_kept(tmp_path: Any) -> None:
    """jt follows ja at half its angle: a narrow range of jt is one of ja."""
    file = tmp_path / "gripper.urdf"
    text = gripper().decode().replace('name="jt" type="revolute"', 'name="jt" type="revolute" ')
    start = text.index('name="jt"')
    limit = text.index("<limit", start)
    text = (
        text[:limit] + '<limit lower="-0.3" upper="0.1" effort="1" velocity="1"/>' + text[text.index("/>", limit) + 2 :]
    )
    file.write_text(text)
    ours = Framed(file, tip=["tip", "left", "right"])
    peer = Peer(str(file), ours)
    for angle, status in ((0.55, REACHED), (0.65, NOT_REACHED), (-0.15, REACHED), (-0.25, NOT_REACHED)):
        peer.see(np.array([angle, 0.0]), np.zeros(2), np.zeros(2))
        goal = tuple(value.copy() for value in peer.frame("tip", pin.WORLD)[:2])
        found = solve(ours, goal, np.array([0.2, 0.0]), frame="tip")
        assert found[0] == status
        assert -0.3 - 1e-12 <= 0.5 * found[1][0] - 0.2 <= 0.1 + 1e-12


def test_a_base_that_floats_moves_or_stays() -> None:
    file = described("a1_description/urdf/a1.urdf")
    ours = Framed(file, base_joint="floating", frames=["all"])
    rng = np.random.default_rng(5)
    foot = next(name for name in ours.frames if "FL_foot" in name)
    held = np.array([1.0] * 6 + [0.0] * 12)
    for _ in range(10):
        p0 = position(rng, 12)
        there = p0.copy()
        there[7:] = [joint.lower + (joint.upper - joint.lower) * rng.random() for joint in ours.coordinates[6:]]
        x, R = ours.frame_pose(there, foot)
        status, p, _ = solve(ours, (x, R), p0, fixed=held, frame=foot, weights=np.array([1.0, 0.0]))
        assert status == REACHED and (p[:7] == p0[:7]).all()
        far = (rng.uniform(5, 9, 3), pin.exp3(rng.standard_normal(3)))
        status, p, _ = solve(ours, far, p0, frame=foot)
        assert status == REACHED and abs(np.linalg.norm(p[3:7]) - 1.0) < 1e-12
        assert np.allclose(ours.frame_pose(p, foot)[0], far[0], atol=1e-6)
