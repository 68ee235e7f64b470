"""The robot's own description against the generated model."""

from __future__ import annotations

import re

import numpy as np
import pytest

from diffpbd.runtime import Robot
from diffpbd.runtime.arms.baxter.description import compare_description, tighter_limits
from diffpbd.runtime.base.errors import RefusedError
from diffpbd.runtime.loop.configuration import limits_of

from .conftest import URDF


@pytest.fixture
def text() -> str:
    return URDF.read_text()


def refusals(text: str, robot: Robot) -> list[str]:
    return [str(difference) for difference in compare_description(text, robot) if difference.refuse]


def test_the_same_description_has_no_difference(arm_robot: Robot, text: str) -> None:
    assert compare_description(text, arm_robot) == []


def test_more_robot_around_the_arm_is_no_difference(arm_robot: Robot, text: str) -> None:
    more = """<link name="world"/><joint name="stand" type="fixed"><parent link="world"/><child link="torso"/>
      <origin xyz="0 0 0.9"/></joint><link name="head"/><joint name="head_pan" type="revolute">
      <parent link="torso"/><child link="head"/><axis xyz="0 0 1"/>
      <limit lower="-1" upper="1" effort="5" velocity="1"/></joint></robot>"""
    assert compare_description(text.replace("</robot>", more), arm_robot) == []


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ('xyz="0.024645 0.219645 0.118588"', 'xyz="0.024645 0.219645 0.128588"', ["left_wrist.*10.0 mm"]),
        ('<mass value="4.31272"/>', '<mass value="4.51272"/>', ["left_upper_elbow.*4.5127 kg", "left_s1.*N·m"]),
        ('effort="50" velocity="1.5"', 'effort="40" velocity="1.5"', ["left_s0: effort 50, on the robot 40"]),
        ('upper="1.70167993878"', 'upper="1.5"', ["left_s0: upper 1.70168, on the robot 1.5"]),
        ('joint name="left_e1"', 'joint name="left_e9"', ["left_e1.*missing"]),
        ('iyz="0.00078086899" izz="0.03595988478"', 'iyz="0.00078086899" izz="0.04595988478"', ["left_s0: inertia.*0.[01]"]),
        ('xyz="0.06845 0.00269 -0.00529"', 'xyz="0.09 0.00269 -0.00529"', ["left_s1: gravity.*N·m"]),
    ],
)  # fmt: skip
def test_differences_are_named(arm_robot: Robot, text: str, old: str, new: str, expected: list[str]) -> None:
    assert old in text
    found = refusals(text.replace(old, new, 1), arm_robot)
    for pattern in expected:
        assert any(re.search(pattern, difference) for difference in found), found


def test_a_tensor_is_seen_by_its_joints_alone(arm_robot: Robot, text: str) -> None:
    """Gravity does not feel it; below the tolerance (0.05 N·m at 10 rad/s²) it is no difference."""
    tensor = 'iyz="0.00078086899" izz="0.03595988478"'
    found = refusals(text.replace(tensor, tensor.replace("0.0359", "0.0459"), 1), arm_robot)
    assert len(found) == 1 and "left_s0: inertia" in found[0]
    assert refusals(text.replace(tensor, tensor.replace("0.0359", "0.0389"), 1), arm_robot) == []


def test_a_carried_gripper_is_seen(arm_robot: Robot, text: str) -> None:
    gripper = """<link name="gripper"><inertial><mass value="0.3"/><origin xyz="0 0 0.1"/>
      <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="mount" type="fixed"><parent link="left_wrist"/><child link="gripper"/></joint></robot>"""
    found = refusals(text.replace("</robot>", gripper), arm_robot)
    assert any("left_wrist with all it carries: 0.3509 kg, on the robot 0.6509 kg" in line for line in found)


def test_looser_limits_of_the_robot_are_a_note(arm_robot: Robot, text: str) -> None:
    found = compare_description(text.replace('velocity="1.5"', 'velocity="2"'), arm_robot)
    assert len(found) == 4 and not any(difference.refuse for difference in found)


def test_the_tighter_limits_hold(arm_robot: Robot, text: str) -> None:
    live = text.replace('effort="50"', 'effort="40"').replace('velocity="4"', 'velocity="9"')
    limits = tighter_limits(limits_of(arm_robot, torque_share=0.9), live, arm_robot.joints)
    np.testing.assert_array_equal(limits.effort, [40, 40, 40, 40, 15, 15, 15])
    np.testing.assert_array_equal(limits.law_effort, [40, 40, 40, 40, 13.5, 13.5, 13.5])
    np.testing.assert_array_equal(limits.speed, [1.5, 1.5, 1.5, 1.5, 4, 4, 4])


@pytest.mark.parametrize("broken", ["", "<robot", "<robot><joint name='x' type='fixed'/></robot>"])
def test_a_broken_description_is_refused(arm_robot: Robot, broken: str) -> None:
    with pytest.raises(RefusedError, match="cannot be read"):
        compare_description(broken, arm_robot)
