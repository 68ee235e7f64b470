"""The table: which sphere of the generated arm is too low, against positions by hand; goals; a configuration's trip."""

from __future__ import annotations

import numpy as np
import pytest
from support.robots import loaded

from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.loop.clearance import RADIUS, above
from diffpbd.runtime.loop.configuration import Configuration, limits_of
from diffpbd.runtime.loop.supervisor import Settings

POSE = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0])


@pytest.fixture(scope="module")
def arm() -> Robot:
    return loaded("baxter_bare")


def configuration(arm: Robot, goal: list[float | None], table: float | None) -> Configuration:
    law = {"name": "impedance", "stiffness": [1.0] * 7, "damping": [1.0] * 7, "goal": goal, "goal_speed": 0.2}
    alpha = arm.alpha.defaults
    return Configuration(
        arm.name, arm.manifest.abi_hash, arm.joints, law, GravityOwner.ROBOT, alpha, limits_of(arm), Settings(0.01), table
    )  # fmt: skip


def test_the_lowest_sphere_is_found(arm: Robot) -> None:
    alpha = arm.alpha.defaults
    low = arm.tip_pose(POSE).position[2]
    centre = np.asarray(arm.fk(POSE, np.zeros(7))).reshape(-1, 13)[-1, 2]
    assert 0.2 < centre < low  # the wrist's centre of mass hangs below the tip
    for height, told in ((centre - RADIUS - 1e-6, ""), (centre - RADIUS + 1e-6, "left_wrist comes down to")):
        found = above(arm, alpha, height)(POSE)
        assert told in found and bool(told) == bool(found)
    random = np.random.default_rng(1)
    limits = limits_of(arm)
    poses = [random.uniform(limits.lower, limits.upper) for _ in range(200)]
    found = [above(arm, alpha, 10.0)(pose) for pose in poses]
    assert len({text.split(" comes")[0] for text in found}) >= 3
    for pose, text in zip(poses, found, strict=True):
        links = np.asarray(arm.fk(pose, np.zeros(7))).reshape(-1, 13)[:, 2]
        assert f"{min(links.min(), arm.tip_pose(pose).position[2]) - RADIUS:.3f} m" in text


def test_goals_are_held_against_the_table_and_the_soft_limits(arm: Robot) -> None:
    goal = POSE.tolist()
    configuration(arm, goal, None).check_goals(arm)
    configuration(arm, goal, -0.5).check_goals(arm)
    with pytest.raises(InputError, match="goal cannot be reached: left_wrist comes down"):
        configuration(arm, goal, 0.2).check_goals(arm)
    upper = arm.manifest.robot.joints[3].upper
    for angle, refused in ((upper - 0.021, False), (upper - 0.019, True)):
        made = configuration(arm, [None, None, None, angle, None, None, None], 0.2)
        if refused:
            with pytest.raises(InputError, match="The goal of left_e1"):
                made.check_goals(arm)
        else:
            made.check_goals(arm)
    rows = {"time": [0.0, 1.0], "q": [goal, [0.0, 2.0, *goal[2:]]], "dq": [[0.0] * 7] * 2}
    followed = Configuration(**{**vars(made), "controller": {"name": "mpc", "reference": rows}, "table": None})
    with pytest.raises(InputError, match="The reference of left_s1, 2.000 rad"):
        followed.check_goals(arm)


@pytest.mark.parametrize("table", [None, -0.25])
def test_a_configuration_keeps_its_table_and_reflexes(arm: Robot, table: float | None) -> None:
    made = configuration(arm, POSE.tolist(), table)
    again = Configuration.from_json(made.to_json())
    assert again.table == table and again.settings == made.settings
    assert ("table" in again.supervisor(arm).refusal(POSE, np.zeros(7))) is False
    high = Configuration(**{**vars(again), "table": 0.2}).supervisor(arm)
    assert "below the table" in high.refusal(POSE, np.zeros(7))
