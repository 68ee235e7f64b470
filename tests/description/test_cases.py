"""The collected descriptions of the wild: each must give its numbers or be refused with its names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.description.reference import mass_matrix, poses

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.geometry.rigid import rotation_from_rpy
from diffpbd.codegen.description.report import DescriptionError, Report
from diffpbd.codegen.description.robot.singular import massless_links, singular_links
from diffpbd.runtime.base.joint_types import REVOLUTE

# The references are printed with 12 digits.
TOLERANCE = 1e-9


@pytest.fixture(scope="session")
def cases(shared: Path) -> Path:
    return shared / "cases"


def expected(folder: Path) -> Any:
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def codes(report: Report) -> dict[str, list[tuple[str, ...]]]:
    """Names of links and joints by code of the doubt."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for doubt in report.doubts:
        found.setdefault(doubt.code, []).append(doubt.names)
    return found


def refusal(path: Path) -> str:
    with pytest.raises(DescriptionError) as caught:
        read_urdf(path)
    assert check(path).faults == caught.value.report.faults
    return str(caught.value)


def test_tail_mass_is_named_as_merged(cases: Path) -> None:
    robot = read_urdf(cases / "P01-fixed-tail-mass" / "tailmass.urdf")
    assert [link.merged for link in robot.links] == [(), ("flange", "tool")]


def test_stated_tensor_is_kept_to_the_bit(cases: Path) -> None:
    inertial = read_urdf(cases / "P03-inertial-without-origin" / "noorigin.urdf").links[0].inertial
    assert inertial.inertia == ((0.004, 0.0, 0.0), (0.0, 0.004, 0.0), (0.0, 0.0, 0.0072))
    assert inertial.com == (0.0, 0.0, 0.0)


def test_massless_leaf_is_named_for_the_generator(cases: Path) -> None:
    path = cases / "P05-massless-moving-leaf" / "leaf.urdf"
    assert singular_links(read_urdf(path)) == (("finger", "slide"),)
    assert massless_links(read_urdf(path)) == (("finger", "slide"),)
    doubts = [doubt for doubt in check(path).doubts if doubt.code == "singular"]
    assert [doubt.names for doubt in doubts] == [("finger", "slide")]
    assert "forward dynamics" in doubts[0].message


def test_axes_are_normalised_with_a_notice(cases: Path) -> None:
    path = cases / "P07-non-unit-axis" / "axes.urdf"
    robot = read_urdf(path)
    assert robot.joints[2].axis == pytest.approx((0.0, 0.6, 0.8), abs=1e-15)
    ends = [poses(robot, [0.0, 0.0, position])[2][1] for position in (0.0, 1.0)]
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(1.0, abs=1e-12)
    assert codes(check(path))["axis-length"] == [("j1",), ("j2",), ("j3",)]


def test_continuous_joints_are_unbounded(cases: Path) -> None:
    numbers = expected(cases / "P09-continuous-joints")
    robot = read_urdf(cases / "P09-continuous-joints" / "conti.urdf")
    assert robot.n == numbers["nq_ours"]
    free = [joint.name for joint in robot.joints if joint.lower is None and joint.upper is None]
    assert free == numbers["unbounded_position"]
    assert [joint.name for joint in robot.joints if joint.effort is None] == numbers["unbounded_effort"]
    assert (robot.joints[2].effort, robot.joints[2].velocity) == (12.0, 3.0)


def test_useless_limits_are_named_with_their_attribute(cases: Path) -> None:
    report = check(cases / "P10-zero-and-inverted-limits" / "zerolimits.urdf")
    assert codes(report) == {
        "zero-range": [("j1",)],
        "inverted-range": [("j2",)],
        "zero-velocity": [("j1",), ("j2",)],
        "zero-effort": [("j1",), ("j2",)],
    }
    inverted = next(doubt for doubt in report.doubts if doubt.code == "inverted-range")
    assert dict(inverted.numbers) == {"lower": 1.2, "upper": -1.2}
    assert report.passed() and not report.passed(strict=True)


def test_one_of_two_arms(cases: Path) -> None:
    folder = cases / "P14-two-arms"
    text = (folder / "twins.urdf").read_text(encoding="utf-8")
    left = read_urdf(folder / "twins.urdf", base="torso", tip="left_fore")
    other_right = text.replace('<mass value="1.5"/>', '<mass value="7"/>')
    assert other_right != text
    assert read_urdf(other_right.encode(), base="torso", tip="left_fore") == left


def test_two_arms_state_their_order(cases: Path) -> None:
    path = cases / "P14-two-arms" / "twins.urdf"
    both = read_urdf(path)
    assert [joint.name for joint in both.joints] == ["right_j1", "right_j2", "left_j1", "left_j2"]
    assert [joint.parent for joint in both.joints] == [-1, 0, -1, 2]
    assert [(tip.name, tip.link) for tip in both.tips] == [("right_fore", 1), ("left_fore", 3)]
    assert both.links[2].inertial.mass - both.links[0].inertial.mass == pytest.approx(0.25)
    report = check(path)
    assert report.joints == tuple(joint.name for joint in both.joints)
    assert codes(report) == {"asymmetry": [("left_upper", "right_upper")]}
    assert dict(report.doubts[0].numbers) == {"mass_left": 1.75, "mass_right": 1.5}


def test_the_arm_left_out_is_named_with_its_mass(cases: Path) -> None:
    report = check(cases / "P14-two-arms" / "twins.urdf", tip="left_fore")
    unused = next(doubt for doubt in report.doubts if doubt.code == "unused-branch")
    assert unused.names == ("right_upper", "right_fore", "right_j1")
    assert dict(unused.numbers) == {"mass": pytest.approx(2.4)}


def test_xacro_texts_are_quoted(cases: Path) -> None:
    message = refusal(cases / "P17-xacro-leftover" / "xacroleft.urdf")
    for text in ("xacro:property", 'link "b"', "${len/2}", "expanded"):
        assert text in message


def test_placeholder_inertias_are_named_with_their_share(cases: Path) -> None:
    numbers = expected(cases / "P22-placeholder-finger-inertia")
    path = cases / "P22-placeholder-finger-inertia" / "fingers.urdf"
    report = check(path)
    fingers = [doubt for doubt in report.doubts if doubt.code == "gyration"]
    assert [doubt.links[0] for doubt in fingers] == numbers["warn_links"]
    for doubt in fingers:
        values = dict(doubt.numbers)
        assert values["mass"] == 0.02
        assert values["radius_of_gyration"] == pytest.approx(numbers["radius_of_gyration_m"])
        assert values["share"] == pytest.approx(0.01 / numbers["wrist_inertia_as_written"][0][0])
        assert doubt.joints == ("w2",)
    assert codes(report)["point-mass"] == [(name,) for name in numbers["note_links"]]
    robot = read_urdf(path)
    np.testing.assert_allclose(mass_matrix(robot, [0.3]), numbers["wrist_inertia_as_written"], rtol=0, atol=TOLERANCE)
    plausible = path.read_text(encoding="utf-8").replace("0.01", "1e-5").encode()
    np.testing.assert_allclose(
        mass_matrix(read_urdf(plausible), [0.3]),
        numbers["wrist_inertia_with_plausible_fingers"],
        rtol=0,
        atol=TOLERANCE,
    )
    assert "gyration" not in codes(check(plausible))


def test_infinite_limits_are_unbounded(cases: Path) -> None:
    robot = read_urdf(cases / "P26-odd-numbers" / "inf_limits.urdf")
    assert (robot.joints[0].lower, robot.joints[0].upper, robot.joints[0].effort) == (None, None, 40.0)


def test_missing_limit_is_unbounded_with_a_doubt(cases: Path) -> None:
    path = cases / "P27-missing-limit" / "nolimit.urdf"
    joint = read_urdf(path).joints[1]
    assert (joint.type, joint.lower, joint.upper, joint.effort) == (REVOLUTE, None, None, None)
    assert codes(check(path))["no-limit"] == [("j2",)]


def test_rotation_convention(cases: Path) -> None:
    numbers = expected(cases / "P29-rpy-convention")["rotation_of_rpy_1_0p7_m2p2"]
    np.testing.assert_allclose(rotation_from_rpy((1.0, 0.7, -2.2)), numbers, rtol=0, atol=1e-11)


def test_a_massless_tool_frame_is_merged(cases: Path) -> None:
    robot = read_urdf(cases / "P50-payload" / "payarm.urdf", tip="tool0")
    assert robot.links[1].merged == ("tool0",)
    assert robot.links[1].inertial.com == (0.11, 0.0, 0.0)


def test_second_joint_onto_a_child_is_cut_and_named(cases: Path) -> None:
    path = cases / "P16-two-roots-and-loop" / "closed_loop.urdf"
    robot = read_urdf(path)
    assert [joint.name for joint in robot.joints] == ["j1", "j3", "j2"]
    (loop,) = robot.loops
    assert (loop.name, loop.type.value, loop.parent, loop.child, loop.axis) == ("j0", "hinge", 2, 1, (0.0, 1.0, 0.0))
    assert (loop.parent_translation, loop.child_translation) == ((0.1, 0.0, 0.0), (0.0, 0.0, 0.0))
    (doubt,) = [doubt for doubt in check(path).doubts if doubt.code == "cut"]
    assert doubt.names == ("coupler", "j3", "j0")
    assert "its limit is not used" in doubt.message
    assert robot.total_mass == 2.5
