"""The shipped robots against the figures they are made of, against pinocchio, and against their recipes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.resolve import ROBOTS, resolve, shipped_robots
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.recipe.recipe import DEFAULT_VARIANTS
from diffpbd.codegen.description.robot.singular import massless_links, singular_links

SHIPPED = ("baxter", "baxter_bare", "baxter_dual", "baxter_right", "double_pendulum", "fr3", "prismatic_skew")
DOUBTS = {"prismatic_skew": {"axis-length"}, "fr3": {"gyration"}}
"""Those that the robots are known for; the sixth link of the FR3 is long beyond its last joint."""


def test_the_list_is_complete() -> None:
    assert shipped_robots() == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_no_faults_and_only_the_intended_doubts(name: str) -> None:
    recipe, robot = resolve(name)
    report = check(recipe.urdf, base=recipe.base, tip=recipe.tip)
    assert report.faults == ()
    assert {doubt.code for doubt in report.doubts} == DOUBTS.get(name, set())
    assert singular_links(robot) == massless_links(robot) == ()
    assert (robot.name, recipe.name) == (name, name)
    assert recipe.variants == DEFAULT_VARIANTS
    assert hash(robot) == hash(resolve(name)[1])


def test_baxter_bare_is_the_measured_arm(shared: Path) -> None:
    """The figures of the design were measured on the prototype's description: same numbers, other limits."""
    _, ours = resolve("baxter_bare")
    measured = read_urdf(shared / "prototype" / "baxter_left_bare.urdf", base="torso", tip="left_wrist")
    assert ours.links == measured.links
    assert ours.tips == measured.tips
    for a, b in zip(ours.joints, measured.joints, strict=True):
        assert (a.name, a.type, a.parent, a.axis) == (b.name, b.type, b.parent, b.axis)
        np.testing.assert_allclose(a.rotation, b.rotation, rtol=0, atol=1e-15)
        np.testing.assert_allclose(a.translation, b.translation, rtol=0, atol=1e-15)


@pytest.mark.parametrize("side", ["left", "right"])
def test_baxter_has_the_figures_as_given(shared: Path, side: str) -> None:
    facts = json.loads((shared / "facts" / "baxter_arms.json").read_text(encoding="utf-8"))
    links = {link["name"]: link for link in facts["links"]}
    joints = {joint["name"]: joint for joint in facts["joints"]}
    recipe, _ = resolve("baxter" if side == "left" else "baxter_right")
    robot = read_urdf(recipe.urdf, tip=f"{side}_wrist", hold=[f"{side}_w2"])
    assert [link.name for link in robot.links] == [joints[joint.name]["child"] for joint in robot.joints]
    for link in robot.links[:-1]:
        figures = links[link.name]
        assert link.inertial.mass == figures["mass"]
        assert link.inertial.com == tuple(figures["com"])
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.inertial.inertia
        found = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
        assert found == figures["inertia"]
    for joint in robot.joints:
        limit = joints[joint.name]["limit"]
        assert (joint.lower, joint.upper) == (limit["lower"], limit["upper"])
        assert (joint.velocity, joint.effort) == (limit["velocity"], limit["effort"])
        assert joint.damping == float(joints[joint.name]["damping"])
    assert joints[f"{side}_torso_arm_mount"]["xyz"][0] == 0.024645


def test_baxter_carries_the_hand_and_no_gripper() -> None:
    _, bare = resolve("baxter_bare")
    _, robot = resolve("baxter")
    assert robot.links[:6] == bare.links[:6]
    assert robot.joints == bare.joints
    assert robot.links[6].merged == ("left_hand_link",)
    assert robot.links[6].inertial.mass == pytest.approx(0.35093 + 0.19125)
    assert [(tip.name, tip.link, tip.translation) for tip in robot.tips] == [("left_hand_link", 6, (0.0, 0.0, 0.11355))]


def test_the_left_arm_does_not_depend_on_the_right() -> None:
    _, single = resolve("baxter")
    recipe, dual = resolve("baxter_dual")
    assert dual.links[:7] == single.links
    assert dual.joints[:7] == single.joints
    heavier = recipe.urdf.read_text(encoding="utf-8")
    head, tail = heavier.split('<joint name="right_s0"')
    changed = read_urdf((head + '<joint name="right_s0"' + tail.replace("5.70044", "6")).encode())
    assert changed.links[7] != dual.links[7]
    assert changed.links[:7] == dual.links[:7]
    assert [joint.parent for joint in dual.joints] == [-1, 0, 1, 2, 3, 4, 5, -1, 7, 8, 9, 10, 11, 12]


def test_right_angles_written_in_full_are_exact() -> None:
    """No 6e-17 of a cosine is carried through every product; shorter spellings stay what they are."""
    recipe, robot = resolve("baxter_bare")
    assert 1e-12 < abs(robot.joints[1].rotation[1][1]) < 1e-11
    full = recipe.urdf.read_text(encoding="utf-8").replace("1.57079632679", "1.5707963267948966")
    for joint in read_urdf(full.encode()).joints[1:]:
        assert {abs(entry) for row in joint.rotation for entry in row} == {0.0, 1.0}


def test_the_folder_holds_pairs() -> None:
    assert sorted(path.stem for path in ROBOTS.glob("*.urdf")) == sorted(shipped_robots())
