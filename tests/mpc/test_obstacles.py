"""Obstacles of every kind on the way of a planar arm, generated with unequal numbers of each; judged by plane geometry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.planning.around_a_ball import (
    BALL,
    CURVED,
    GOAL,
    LEAST,
    LENGTH,
    START,
    STEPS,
    WIDTH,
    H,
    followed,
    planar,
)

import diffpbd
from diffpbd.runtime import InputError, Robot, load
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Status

SAMPLES = 2001  # of a link's axis: 0.2 mm apart, so a distance is at most 0.1 mm too large
GRID = 1e-4  # m


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    kinds = ("boxes=1", "planes=2", "capsules=3", "spheres=2")
    return load(planar(tmp_path_factory.mktemp("crowded"), ("mpc", "ik"), kinds))


def axes(q: np.ndarray) -> np.ndarray:
    """Points (2, SAMPLES, 2) of the links' axes."""
    elbow = LENGTH * np.array([np.cos(q[0]), np.sin(q[0])])
    tip = elbow + LENGTH * np.array([np.cos(q.sum()), np.sin(q.sum())])
    s = np.linspace(0.0, 1.0, SAMPLES)[:, None]
    return np.array([s * elbow, elbow + s * (tip - elbow)])


def from_disc(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x - BALL[:2], axis=-1) - BALL[3]


SIDE = 2 * BALL[3]
WALL = 0.45  # m, the plane y = WALL is not crossed


def from_square(x: np.ndarray) -> np.ndarray:
    """Outside of a square with its sides along the axes."""
    return np.linalg.norm(np.maximum(abs(x - BALL[:2]) - SIDE / 2, 0.0), axis=-1)


def from_wall(x: np.ndarray) -> np.ndarray:
    return WALL - x[..., 1]


Judge = Callable[[np.ndarray], np.ndarray]
PLACED: dict[str, tuple[list[float], Judge]] = {
    "spheres": (BALL.tolist(), from_disc),
    "capsules": ([*BALL[:2], -0.3, *BALL[:2], 0.3, BALL[3]], from_disc),
    "boxes": ([*BALL[:2], 0.0, 1.0, 0.0, 0.0, 0.0, SIDE, SIDE, 0.4], from_square),
    "planes": ([0.0, -1.0, 0.0, -WALL], from_wall),
}


def least(poses: np.ndarray, judge: Judge) -> float:
    return min(float(judge(axes(q)).min()) for q in poses) - WIDTH


@pytest.mark.parametrize("kind", PLACED)
def test_a_hard_plan_keeps_its_distance_from_every_kind(arm: Robot, kind: str) -> None:
    row, judge = PLACED[kind]
    poses, _ = followed(arm, Mpc(arm, STEPS, h=H, options=MpcOptions()))
    assert least(poses, judge) < 0.0  # it is in the way
    mpc = Mpc(arm, STEPS, h=H, options=MpcOptions(clearance=LEAST, clearance_hard=True))
    assert mpc.problem.apart is not None
    mpc.problem.apart.place({kind: [row]})
    poses, statuses = followed(arm, mpc)
    assert set(statuses) <= {Status.SOLVED, Status.LIMITED}
    assert LEAST - CURVED < least(poses, judge) < LEAST + CURVED + GRID
    plan = mpc.solve(mpc.task(poses[-1], np.zeros(2), GOAL))
    assert plan.clearance == pytest.approx(least(plan.P[1:], judge), abs=GRID)


def test_all_kinds_at_once(arm: Robot) -> None:
    """The nearest of all is kept, whatever else stands further away."""
    mpc = Mpc(arm, STEPS, h=H, options=MpcOptions(clearance=LEAST, clearance_hard=True))
    assert mpc.problem.apart is not None
    mpc.problem.apart.place({kind: [row] for kind, (row, _) in PLACED.items()})
    poses, statuses = followed(arm, mpc)
    assert set(statuses) <= {Status.SOLVED, Status.LIMITED}
    assert all(least(poses, judge) > LEAST - CURVED for _, judge in PLACED.values())


@pytest.mark.parametrize("kind", PLACED)
def test_both_back_ends_see_the_same_obstacle(arm: Robot, kind: str) -> None:
    row, judge = PLACED[kind]
    beside = np.array([0.25, 0.5])
    plans = []
    for backend in ("embedded", "ipopt"):
        mpc = Mpc(arm, 8, h=H, options=MpcOptions(clearance=LEAST, backend=backend))
        assert mpc.problem.apart is not None
        mpc.problem.apart.place({kind: [row]})
        reference = beside + np.linspace(0.0, 1.0, 9)[:, None] * [0.4, 0.1]
        plans.append(mpc.solve(mpc.task(beside, np.zeros(2), reference)))
        assert plans[-1].status is Status.SOLVED
        assert least(plans[-1].P[1:], judge) == pytest.approx(LEAST, abs=GRID)
    assert plans[0].cost == pytest.approx(plans[1].cost, rel=1e-4)


def test_with_no_distance_asked_the_plan_does_not_depend_on_obstacles(arm: Robot) -> None:
    plans = []
    for placed in ({}, {kind: [row] for kind, (row, _) in PLACED.items()}):
        mpc = Mpc(arm, STEPS, h=H, options=MpcOptions())
        assert mpc.problem.apart is not None
        mpc.problem.apart.place(placed)
        plans.append(mpc.solve(mpc.task(START, np.zeros(2), GOAL)))
    assert plans[0].status is Status.SOLVED
    np.testing.assert_array_equal(plans[0].U, plans[1].U)


def test_obstacles_without_a_clearance_are_refused(arm: Robot) -> None:
    """They would be planned through in silence."""
    mpc = diffpbd.Mpc(arm, 5)
    mpc.place_obstacles()
    with pytest.raises(InputError, match="only with a clearance"):
        mpc.place_obstacles(spheres=[BALL])
    diffpbd.Mpc(arm, 5, clearance=0.01).place_obstacles(spheres=[BALL])
