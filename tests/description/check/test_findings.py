"""What is refused and what is doubted, by code, and the report that says so."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.description.builders import BODY, chain, doubt_codes, fault_codes, joint, link, robot
from support.description.reference import mass_matrix, poses

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.report import DescriptionError, Finding
from diffpbd.codegen.description.robot.singular import massless_links, singular_links


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (b"", "source"),
        (b"   \n", "source"),
        (b"robot", "source"),
        (b"<robot><link name='a'></robot>", "source"),
        (b"<robot name='x'/>" + b"\xff", "source"),
        (b"\xff\xfe<robot/>", "source"),
        (b'<?xml version="1.0" encoding="utf-7"?><robot/>', "source"),
        (b'<?xml version="1.0" encoding="nonsense"?><robot/>', "source"),
        (b"<xacro:robot/>", "source"),
        (b"<robot><link name='a' name='b'/></robot>", "source"),
        (b"<robot>&undefined;</robot>", "source"),
        (b"<sdf/>", "root"),
        (b"<robot name='x'/>", "no-links"),
        (robot(link("")), "link-name"),
        (robot(link("a")), "immobile"),
        (robot(link("a"), link("a")), "duplicate-link"),
        (robot(link("a"), link("b"), joint("", "a", "b")), "joint-name"),
        (robot(link("a"), link("b"), joint("j", "a", "c")), "unknown-link"),
        (robot(link("a"), link("b"), joint("j", "c", "b")), "unknown-link"),
        (robot(link("a"), joint("j", "a", "a")), "circle"),
        (robot(link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")), "circle"),
        (
            robot(*map(link, "abcd"), joint("j", "a", "b"), joint("k", "c", "d"), joint("l", "d", "c")),
            "circle",
        ),
        (robot(link("a"), link("b"), joint("j", "a", "b", "ball")), "joint-type"),
        (robot(link("a"), link("b"), joint("j", "a", "b", "Revolute")), "joint-type"),
        (robot(link("a"), link("b"), joint("j", "a", "b", more='<mimic joint="k"/>')), "mimic"),
        (
            robot(link("a"), link("b"), '<joint name="j" type="revolute"><parent link="a"/></joint>'),
            "no-child",
        ),
        (
            robot(link("a"), link("b"), '<joint name="j" type="revolute"><child link="b"/></joint>'),
            "no-parent",
        ),
        (
            robot(link("a"), link("b"), joint("j", "a", "b", more='<dynamics damping="-1"/>')),
            "negative-friction",
        ),
        (robot(link("a"), link("b"), joint("j", "a", "b", more='<limit lower="inf"/>')), "limit"),
        (robot(link("a"), link("b"), joint("j", "a", "b", more='<limit upper="nan"/>')), "number"),
        (robot(link("a"), link("b"), joint("j", "a", "b", more='<origin xyz="1 0 0"/>')), "repeated-element"),
        (robot(link("a", BODY + BODY)), "repeated-element"),
        (robot(link("a", '<inertial><mass value="1"/></inertial>')), "no-inertia"),
        (robot(link("a", BODY.replace('<mass value="1"/>', ""))), "no-mass"),
        (robot(link("a", BODY.replace('value="1"', ""))), "no-number"),
        (robot(link("a", BODY.replace('value="1"', 'valu="1"'))), "unknown-attribute"),
        (robot(link("a", BODY.replace('ixy="0"', ""))), "no-number"),
        (robot(link("a", BODY.replace("<mass", '<origin quat_xyzw="0 0 0 1"/><mass'))), "unknown-attribute"),
        (robot(link("a", BODY.replace("0.015", "-0.015"))), "negative-inertia"),
        (robot(link("a", BODY.replace('ixy="0"', 'ixy="0.1"'))), "negative-inertia"),
        (robot(link("a", BODY.replace('value="1"', 'value="-1"'))), "negative-mass"),
        (robot(link("a", BODY.replace('value="1"', 'value="1e300"'))), "number"),
        (robot(link("${side}_a"), link("b"), joint("j", "${side}_a", "b")), "xacro"),
    ],
)
def test_refused(source: bytes, code: str) -> None:
    assert code in fault_codes(source)


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


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (robot(link("a"), link("b", ""), joint("j", "a", "b")), "singular"),
        (robot(*map(link, "ac"), link("b", ""), joint("j", "a", "b"), joint("k", "b", "c")), "massless"),
        (robot(link("a"), link("b", BODY.replace("0.015", "0.5")), joint("j", "a", "b")), "triangle"),
        (
            robot(link("a"), link("b", BODY.replace('value="1"', 'value="0"')), joint("j", "a", "b")),
            "massless",
        ),
        (robot(link("a"), link("b", BODY + "<sensor/>"), joint("j", "a", "b")), "ignored"),
        (robot(link("a"), link("b", BODY + "<visuals/>"), joint("j", "a", "b")), "ignored"),
        (robot(link("a"), link("b"), joint("j", "a", "b", more="<gear/>")), "ignored"),
        (robot(link("a"), link("b"), joint("j", "a", "b", more='<limit jerk="1"/>')), "ignored"),
        (
            robot(link("a"), link("b"), joint("j", "a", "b", more='<limit effort="1" velocity="1"/>')),
            "zero-range",
        ),
        (robot(link("a"), link("b"), joint("j", "a", "b", more='<limit upper="1"/>')), "half-range"),
        (robot(link("a"), link("b"), joint("j", "a", "b", more='<limit upper="1"/>')), "no-bound"),
        (robot(link("a"), link("b"), joint("j", "a", "b").replace('<axis xyz="0 1 0"/>', "")), "no-axis"),
        (b"<robot>" + robot(link("a"), link("b"), joint("j", "a", "b"))[19:], "robot-name"),
    ],
)
def test_doubted(source: bytes, code: str) -> None:
    assert code in doubt_codes(source)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("inertial", "Inertial"),
        ("inertial", "inertal"),
        ("limit", "limits"),
        ("axis", "axes"),
        ("origin", "ORIGIN"),
        ("mass", "mas"),
        ("link ", "Link "),
    ],
)
def test_a_misspelt_element_is_not_silently_left_out(right: str, wrong: str) -> None:
    source = chain("revolute", "prismatic").replace(f"<{right}".encode(), f"<{wrong}".encode())
    source = source.replace(f"</{right.strip()}".encode(), f"</{wrong.strip()}".encode())
    assert fault_codes(source) >= {"misspelt-element"}


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
