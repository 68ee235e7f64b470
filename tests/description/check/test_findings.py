"""Refusals and doubts, by code, and the report that says so."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support.description.builders import BODY, LIMIT, chain, doubt_codes, fault_codes, joint, link, robot
from support.description.reference import mass_matrix, poses
from support.made.mimicked import follows
from support.made.screwed import PART, screw, screwed_arm, thread, with_prefix

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.report import DescriptionError, Finding
from diffpbd.codegen.description.robot.singular import massless_links, singular_links


def two(*parts: str) -> bytes:
    return robot(link("a"), link("b"), *parts)


def hinge(more: str = "", body: str = BODY) -> bytes:
    return robot(link("a"), link("b", body), joint("j", "a", "b", more=more))


def follower(more: str) -> bytes:
    return robot(*map(link, "cab"), joint("ja", "c", "a"), joint("jb", "a", "b", more=more))


def body(right: str, wrong: str) -> bytes:
    return robot(link("a", BODY.replace(right, wrong)))


def limited(lower: str, upper: str, velocity: str, kind: str = "revolute") -> bytes:
    limit = f'<limit lower="{lower}" upper="{upper}" velocity="{velocity}" effort="5"/>'
    return two(joint("j", "a", "b", kind, more=limit))


SIDES = robot(*map(link, "cab"), joint("ja", "c", "a"), joint("jb", "c", "b", more=follows("ja")))
THREE = chain("revolute", "revolute", "fixed")
BALL = screw("base", "nut").replace('type="screw"', 'type="ball"')
NUT = (link("base"), link("nut"))
SLIDE = joint("last", "nut", "hand", "prismatic", f'{LIMIT}<mimic joint="{PART}"/>')
HINGES = (*map(link, ("base", "one", "two")), joint("a", "base", "one"), joint("b", "one", "two"))

FAULTS: tuple[tuple[bytes, str], ...] = (
    (b"", "source"), (b"   \n", "source"), (b"robot", "source"), (b"<robot><link name='a'></robot>", "source"),
    (b"<robot name='x'/>" + b"\xff", "source"), (b"\xff\xfe<robot/>", "source"),
    (b'<?xml version="1.0" encoding="utf-7"?><robot/>', "source"),
    (b'<?xml version="1.0" encoding="nonsense"?><robot/>', "source"), (b"<xacro:robot/>", "source"),
    (b"<robot><link name='a' name='b'/></robot>", "source"), (b"<robot>&undefined;</robot>", "source"),
    (b"<sdf/>", "root"), (b"<robot name='x'/>", "no-links"), (robot(link("")), "link-name"), (robot(link("a")), "immobile"),
    (robot(link("a"), link("a")), "duplicate-link"), (two(joint("", "a", "b")), "joint-name"),
    (two(joint("j", "a", "c")), "unknown-link"), (two(joint("j", "c", "b")), "unknown-link"),
    (robot(link("a"), joint("j", "a", "a")), "circle"), (two(joint("j", "a", "b"), joint("k", "b", "a")), "circle"),
    (robot(*map(link, "abcd"), joint("j", "a", "b"), joint("k", "c", "d"), joint("l", "d", "c")), "circle"),
    (two(joint("j", "a", "b", "ball")), "joint-type"), (two(joint("j", "a", "b", "Revolute")), "joint-type"),
    (two('<joint name="j" type="revolute"><parent link="a"/></joint>'), "no-child"),
    (two('<joint name="j" type="revolute"><child link="b"/></joint>'), "no-parent"),
    (hinge('<dynamics damping="-1"/>'), "negative-friction"), (hinge('<limit lower="inf"/>'), "limit"),
    (hinge('<limit upper="nan"/>'), "number"), (hinge('<origin xyz="1 0 0"/>'), "repeated-element"),
    (robot(link("a", BODY + BODY)), "repeated-element"),
    (robot(link("a", '<inertial><mass value="1"/></inertial>')), "no-inertia"), (body('<mass value="1"/>', ""), "no-mass"),
    (body('value="1"', ""), "no-number"), (body('value="1"', 'valu="1"'), "unknown-attribute"),
    (body('ixy="0"', ""), "no-number"), (body("<mass", '<origin quat_xyzw="0 0 0 1"/><mass'), "unknown-attribute"),
    (body("0.015", "-0.015"), "negative-inertia"), (body('ixy="0"', 'ixy="0.1"'), "negative-inertia"),
    (body('value="1"', 'value="-1"'), "negative-mass"), (body('value="1"', 'value="1e300"'), "number"),
    (robot(link("${side}_a"), link("b"), joint("j", "${side}_a", "b")), "xacro"),
    # what follows
    (hinge('<mimic joint="k"/>'), "mimic: does not exist"), (follower(follows("nobody")), "mimic: does not exist"),
    (follower(follows("jb")), "mimic: in the end follows it"),
    (follower(follows("ja") + follows("ja").removeprefix(LIMIT)), "repeated-element: 2 <mimic>"),
    (follower(LIMIT + "<mimic/>"), "mimic: does not name a joint"),
    (follower(LIMIT + '<mimic joint="ja" multiplier="x"/>'), "number: multiplier"),
    (follower(LIMIT + '<mimic joint="ja" factor="2"/>'), "unknown-attribute: factor"),
    (robot(*map(link, "cab"), joint("ja", "c", "a", more=follows("jb")), joint("jb", "a", "b", more=follows("ja"))), "mimic"),
    (robot(*map(link, "cab"), joint("ja", "c", "a", "fixed"), joint("jb", "a", "b", more=follows("ja"))), "mimic"),
    # screws as Drake writes them
    (with_prefix(*NUT, screw("base", "nut", LIMIT)), "pitch"),
    (with_prefix(*NUT, screw("base", "nut", thread() + thread().removeprefix(LIMIT))), "pitch"),
    (with_prefix(*NUT, screw("base", "nut", thread().replace("0.3", "x"))), "number"),
    (with_prefix(*NUT, BALL), "joint-type"), (with_prefix(*HINGES, screw("base", "two")), "loop"),
    (with_prefix(*map(link, ("base", "nut", "hand")), screw("base", "nut"), SLIDE), "mimic"),
)  # fmt: skip
"""A file and the one code of what is wrong with it, with words of the message."""

CHOICES: tuple[tuple[bytes, dict[str, Any], str], ...] = (
    (THREE, {"base": "nowhere"}, "base"), (THREE, {"tip": "nowhere"}, "tip"), (THREE, {"base": "b", "tip": "a"}, "tip"),
    (THREE, {"tip": "base"}, "immobile"), (THREE, {"tip": ["b", "b"]}, "tip"), (THREE, {"base": "c"}, "immobile"),
    (SIDES, {"tip": "b"}, "mimic"), (SIDES, {"hold": ["ja"]}, "mimic"),
    (screwed_arm(), {"hold": [PART]}, "hold"), (screwed_arm(), {"tip": PART}, "tip"), (screwed_arm(), {"base": PART}, "base"),
)  # fmt: skip
"""Sound files, and what cannot be chosen of them."""

DOUBTS: tuple[tuple[bytes, str], ...] = (
    (hinge(body=""), "singular"),
    (robot(*map(link, "ac"), link("b", ""), joint("j", "a", "b"), joint("k", "b", "c")), "massless"),
    (hinge(body=BODY.replace("0.015", "0.5")), "triangle"), (hinge(body=BODY.replace('value="1"', 'value="0"')), "massless"),
    (hinge(body=BODY + "<sensor/>"), "ignored"), (hinge(body=BODY + "<visuals/>"), "ignored"), (hinge("<gear/>"), "ignored"),
    (hinge('<limit jerk="1"/>'), "ignored"), (hinge('<limit effort="1" velocity="1"/>'), "zero-range"),
    (hinge('<limit upper="1"/>'), "half-range"), (hinge('<limit upper="1"/>'), "no-bound"),
    (two(joint("j", "a", "b").replace('<axis xyz="0 1 0"/>', "")), "no-axis"), (b"<robot>" + hinge()[19:], "robot-name"),
    (hinge(thread()).replace(b"<robot ", b'<robot xmlns:drake="http://drake.mit.edu" '), "pitch"),
    (limited("-180", "180", "2"), "degrees: turns; in degrees?"), (limited("-12.4", "12.4", "2"), "no degrees"),
    (limited("-12.7", "1", "2"), "degrees: turns; in degrees?"), (limited("-1", "1", "59"), "no degrees"),
    (limited("-1", "1", "61"), "degrees: turns a second; in degrees a second?"),
    *((limited("-180", "180", "61", kind), "no degrees") for kind in ("prismatic", "continuous")),
    (follower(follows("ja", 1.0)), "no mimic-limits"), (follower(follows("ja", -0.5)), "no mimic-limits"),
    (follower(follows("ja", 2.0)), "mimic-limits"), (follower(follows("ja", -1.0, 0.2)), "mimic-limits"),
)  # fmt: skip
"""A file and a code that is said of it, or is not, with words of the message."""


@pytest.mark.parametrize(("source", "told"), FAULTS)
def test_a_bad_file_is_refused(source: bytes, told: str) -> None:
    code, _, words = told.partition(": ")
    assert code in fault_codes(source)
    assert any(words in fault.message for fault in check(source).faults if fault.code == code)


@pytest.mark.parametrize(("source", "options", "code"), CHOICES)
def test_an_impossible_choice_is_refused(source: bytes, options: dict[str, Any], code: str) -> None:
    assert fault_codes(source, **options) == {code}


@pytest.mark.parametrize(("source", "told"), DOUBTS)
def test_a_doubtful_file_is_read(source: bytes, told: str) -> None:
    code, _, words = told.removeprefix("no ").partition(": ")
    assert (code in doubt_codes(source)) is not told.startswith("no ")
    messages = [doubt.message for doubt in check(source).doubts if doubt.code == code]
    assert not words or any(words in message for message in messages)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("inertial", "Inertial"), ("inertial", "inertal"), ("limit", "limits"), ("axis", "axes"), ("origin", "ORIGIN"),
        ("mass", "mas"), ("link ", "Link "),
    ],
)  # fmt: skip
def test_a_misspelt_element_is_not_silently_left_out(right: str, wrong: str) -> None:
    source = chain("revolute", "prismatic").replace(f"<{right}".encode(), f"<{wrong}".encode())
    source = source.replace(f"</{right.strip()}".encode(), f"</{wrong.strip()}".encode())
    assert fault_codes(source) >= {"misspelt-element"}


def test_every_fault_at_once() -> None:
    source = robot(
        link("a", BODY.replace('value="1"', 'value="1,5"')),
        link("b", BODY.replace("0.015", "-3")),
        link("b"),
        link("stray"),
        joint("j", "a", "b", "ball"),
        joint("k", "a", "gone"),
    )
    with pytest.raises(DescriptionError) as caught:
        read_urdf(source)
    found = {fault.code for fault in caught.value.report.faults}
    assert found == {"number", "negative-inertia", "duplicate-link", "joint-type", "unknown-link"}
    for fault in caught.value.report.faults:
        assert fault.message in str(caught.value)


def test_a_thousand_faults_stay_one_paragraph() -> None:
    source = robot(*(link(f"l{i}", '<inertial><mass value="x"/></inertial>') for i in range(1000)))
    with pytest.raises(DescriptionError, match="and 1961 more"):
        read_urdf(source)


def test_report_as_json_and_text() -> None:
    report = check(robot(link("a"), link("b", ""), joint("j", "a", "b")))
    content = json.loads(report.json())
    assert (content["joints"], content["faults"], content["total_mass"]) == (["j"], [], 1.0)
    (doubt,) = content["doubts"]
    assert (doubt["code"], doubt["links"], doubt["joints"]) == ("singular", ["b"], ["j"])
    assert report.text().splitlines()[-1] == "0 errors, 1 warning"
    assert isinstance(report.doubts[0], Finding)
    assert json.loads(check(b"<robot/>").json())["faults"][0]["code"] == "no-links"


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
def test_massless_link_between_two_joints_along_one_line(kind: str) -> None:
    """Either joint moves the same mass: only their sum is determined."""
    parts = (*map(link, ("a", "c", "d")), link("b", ""))
    along = joint("k", "b", "c", kind, at="0 0.5 0")
    source = robot(*parts, joint("j", "a", "b", kind), along, joint("l", "c", "d", "revolute"))
    assert singular_links(read_urdf(source)) == (("b", "j"),)
    assert "singular" in doubt_codes(source)
    with_mass = source.replace(link("b", "").encode(), link("b").encode())
    assert singular_links(read_urdf(with_mass)) == massless_links(read_urdf(with_mass)) == ()


def test_a_point_on_its_axis_moves_no_mass() -> None:
    point = BODY.replace("0.015", "0").replace("0.02", "0").replace("0.01", "0")
    source = robot(link("a"), link("b", point), joint("j", "a", "b"))
    assert singular_links(read_urdf(source)) == (("b", "j"),)
    off_axis = source.replace(b"<mass", b'<origin xyz="0.1 0 0"/><mass')
    assert singular_links(read_urdf(off_axis)) == ()
    assert massless_links(read_urdf(off_axis)) == (("b", "j"),)


def test_massless_link_between_hinges_is_harmless_in_joint_space() -> None:
    """The reason that such a robot is doubted and not refused: its mass matrix is regular."""
    turned = joint("k", "b", "c").replace('"0 1 0"', '"1 0 0"')
    found = read_urdf(robot(*map(link, "ac"), link("b", ""), joint("j", "a", "b"), turned))
    assert np.linalg.eigvalsh(mass_matrix(found, [0.3, 0.4]))[0] > 1e-3
    assert np.linalg.norm(poses(found, [0.0, 0.0])[1][1]) == 2.0


def test_a_body_that_cannot_be_matters_only_where_it_moves() -> None:
    bad = '<inertial><mass value="1"/><inertia ixx="-1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    for name, outcome in (("c", "doubt"), ("plate", "doubt"), ("a", "fault"), ("cap", "fault")):
        bodies = [link(k, bad if k == name else BODY) for k in ("c", "plate", "a", "cap")]
        source = robot(
            *bodies, joint("jp", "c", "plate", "fixed"), joint("ja", "plate", "a"), joint("jc", "a", "cap", "fixed")
        )
        found = doubt_codes(source) if outcome == "doubt" else fault_codes(source)
        assert "negative-inertia" in found
