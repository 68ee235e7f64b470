"""Goals among obstacles for arms of the reality bench, which are not their model (`support.planning.tasks`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("coal")

from support.planning.tasks import SHAPES, Judge, draw, recipe, run
from support.robots import generated

from diffpbd.runtime import load
from diffpbd.runtime.mpc.problem import Status


@pytest.mark.thorough("baxter", "fr3")
@pytest.mark.parametrize("kind", list(SHAPES))
def test_an_arm_that_is_not_its_model_keeps_away(kind: str, tmp_path: Path, count: Callable[[int, int], int]) -> None:
    """18 of 20 mm at all times, every tick with a plan; at the goal within 1 mrad, or stopped by an obstacle."""
    robot = load(generated(str(recipe(kind, tmp_path)), quick=False, functions=("mpc",)))
    judge, near = Judge(robot, kind), []
    for seed in range(count(1, 20)):
        task = draw(kind, robot, judge, seed)
        course = run(robot, task)
        assert set(course.statuses) == {Status.SOLVED}
        assert (course.fastest <= robot.limits.speed).all()
        least = min(judge.least(q, task.around) for q in course.q)
        assert least >= 0.018, (seed, least)
        near.append(np.abs(course.q[-50:] - task.goal).max() <= 1e-3)
    assert np.mean(near) >= 0.5
