"""Loads that no model knows, on the reality bench: what lasts is held at the goal, what has just begun is yielded to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.robots import loaded

pytest.importorskip("mujoco")

from support.planning.planned import follow, model_of, planner, real
from support.reality import RealArm

START = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0])
GOAL = START + [0.3, 0.2, -0.2, 0.2, 0.3, -0.2, 0.4]
HELD = 1e-3
"""rad; what a constant load may leave."""


def ends(arm: RealArm, seconds: float, events: dict[float, Callable[[RealArm], None]] | None = None) -> Any:
    robot = loaded("baxter_bare")
    course = follow(planner(robot, model_of(robot, "baxter")), arm, START, GOAL, seconds, events=events)
    print(dict(course.statuses), 1e3 * np.abs(course.q[-50:] - GOAL).max(axis=0), course.fastest / robot.limits.speed)
    return course


@pytest.mark.thorough("as modelled", "noisy")
@pytest.mark.parametrize(
    "differences",
    [{"friction": 1.0}, {"friction": 0.5}, {"friction": 2.0}, {"friction": 1.0, "encoder": 3.8e-4, "noise": 1e-3}],
    ids=["as modelled", "half the friction", "twice the friction", "noisy"],
)
def test_a_kilogram_that_nobody_told_is_held_at_the_goal(differences: dict[str, float]) -> None:
    course = ends(real("baxter", load=1.0, **differences), 8.0)
    assert np.abs(course.q[-50:] - GOAL).max() < HELD


def test_a_load_picked_up_on_the_way_is_held() -> None:
    course = ends(real("baxter", friction=0.7), 5.0, {0.4: lambda arm: arm.carry(1.0)})
    assert np.abs(course.q[-50:, :6] - GOAL[:6]).max() < HELD
    assert (
        abs(course.q[-1, 6] - GOAL[6]) < 3 * HELD
    )  # the lightest joint is slowest where its friction is not the model's


@pytest.mark.thorough("40 N")
@pytest.mark.parametrize("force, least", [(5.0, 0.002), (40.0, 0.02)], ids=["5 N", "40 N"])
def test_a_push_at_the_hand_is_yielded_to_and_the_arm_comes_back(force: float, least: float) -> None:
    push = partial(RealArm.push, force=[0.0, force, 0.0])
    course = ends(real("baxter"), 7.0, {2.5: push, 2.8: lambda arm: arm.push([0.0, 0.0, 0.0])})
    away = np.abs(course.q[250:300] - GOAL).max()
    assert least < away < 0.6
    assert np.abs(course.q[-50:] - GOAL).max() < HELD
