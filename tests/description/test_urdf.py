"""Reading mechanisms: merging, order, the choice of base, tips and held joints; refusals and doubts."""

from __future__ import annotations

import dataclasses
import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from description.random_trees import random_urdf
from description.reference import inverse_dynamics, mass_matrix, poses

from diffpbd.codegen.description.report import DescriptionError, Finding
from diffpbd.codegen.description.robot import JointType, Robot
from diffpbd.codegen.description.urdf import read_urdf
from diffpbd.codegen.description.validate import check
from diffpbd.runtime.errors import InputError

TENSOR = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.015"/>'
BODY = f'<inertial><mass value="1"/>{TENSOR}</inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="2"/>'


def link(name: str, body: str = BODY) -> str:
    return f'<link name="{name}">{body}</link>'


def joint(
    name: str, parent: str, child: str, kind: str = "revolute", more: str = "", at: str = "0 0 1"
) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{at}"/>'
        f'<parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>{more or LIMIT}</joint>'
    )


def robot(*parts: str) -> bytes:
    return ('<robot name="made">' + "".join(parts) + "</robot>").encode()


def chain(*kinds: str) -> bytes:
    """Links a, b, c … with the joint types given: ja moves a."""
    names = ["base", *"abcdefgh"[: len(kinds)]]
    joints = [joint(f"j{c}", p, c, kind) for p, c, kind in zip(names, names[1:], kinds, strict=False)]
    return robot(*map(link, names), *joints)


def fault_codes(source: bytes, **options: object) -> set[str]:
    report = check(source, **options)  # type: ignore[arg-type]
    if report.faults:
        with pytest.raises(DescriptionError):
            read_urdf(source, **options)  # type: ignore[arg-type]
    return {fault.code for fault in report.faults}


def doubt_codes(source: bytes, **options: object) -> set[str]:
    report = check(source, **options)  # type: ignore[arg-type]
    assert report.faults == ()
    return {doubt.code for doubt in report.doubts}


def pinocchio_columns(model: pinocchio.Model, robot: Robot) -> list[int]:
    return [model.joints[model.getJointId(each.name)].idx_v for each in robot.joints]


def test_random_trees_equal_pinocchio(count: Callable[[int, int], int]) -> None:
    """Merging, order, axes and rotations at once, on mechanisms nobody chose."""
    for seed in range(count(40, 1000)):
        text = random_urdf(seed)
        found = read_urdf(text.encode())
        model = pinocchio.buildModelFromXML(text)
        data = model.createData()
        columns = pinocchio_columns(model, found)
        assert sorted(columns) == list(range(model.nv))
        rng = np.random.default_rng(seed)
        q, dq, ddq = rng.uniform(-2.0, 2.0, (3, found.n))
        configuration = pinocchio.neutral(model)
        for each, position in zip(found.joints, q, strict=True):
            at = model.joints[model.getJointId(each.name)]
            turned = each.type is JointType.CONTINUOUS
            values = [np.cos(position), np.sin(position)] if turned else [position]
            configuration[at.idx_q : at.idx_q + at.nq] = values
        velocity, acceleration = np.zeros((2, model.nv))
        velocity[columns], acceleration[columns] = dq, ddq
        torque = pinocchio.rnea(model, data, configuration, velocity, acceleration)[columns]
        np.testing.assert_allclose(inverse_dynamics(found, q, dq, ddq), torque, rtol=1e-11, atol=1e-11)
        parents = [each.parent for each in found.joints]
        assert all(parent < i for i, parent in enumerate(parents))
        masses = sum(inertia.mass for inertia in list(model.inertias)[1:])
        assert found.total_mass == pytest.approx(masses, abs=1e-12)


def test_order_is_depth_first_in_file_order() -> None:
    source = robot(
        *map(link, ("base", "z", "a", "m", "b")),
        joint("to_z", "base", "z"),
        joint("to_a", "base", "a"),
        joint("to_m", "z", "m"),
        joint("to_b", "z", "b"),
    )
    found = read_urdf(source)
    assert [each.name for each in found.joints] == ["to_z", "to_m", "to_b", "to_a"]
    assert [each.name for each in found.links] == ["z", "m", "b", "a"]
    assert [tip.name for tip in found.tips] == ["m", "b", "a"]
    assert found.children == ((1, 2), (), (), ())


def test_tips_choose_the_tree_and_their_order() -> None:
    source = robot(
        *map(link, ("base", "palm", "thumb", "index", "ring", "nail")),
        joint("wrist", "base", "palm"),
        joint("t", "palm", "thumb"),
        joint("i", "palm", "index"),
        joint("r", "palm", "ring"),
        joint("n", "index", "nail", "fixed"),
    )
    found = read_urdf(source, tip=["nail", "thumb"])
    assert [each.name for each in found.joints] == ["wrist", "t", "i"]
    assert [(tip.name, tip.link, tip.translation) for tip in found.tips] == [
        ("nail", 2, (0.0, 0.0, 1.0)),
        ("thumb", 1, (0.0, 0.0, 0.0)),
    ]
    (unused,) = (
        doubt for doubt in check(source, tip=["nail", "thumb"]).doubts if doubt.code == "unused-branch"
    )
    assert unused.names == ("ring", "r")
    assert dict(unused.numbers) == {"mass": 1.0}
    assert "palm" in unused.message
    assert [each.name for each in read_urdf(source, tip="nail").joints] == ["wrist", "i"]


def test_side_ends_on_a_carrying_link_are_no_tips() -> None:
    source = robot(
        *map(link, ("base", "a", "camera", "b")),
        joint("ja", "base", "a"),
        joint("weld", "a", "camera", "fixed"),
        joint("jb", "a", "b"),
    )
    assert [tip.name for tip in read_urdf(source).tips] == ["b"]
    assert read_urdf(source).links[0].merged == ("camera",)
    assert read_urdf(source, tip="camera").n == 1


def test_held_joints_weld_what_they_carry() -> None:
    source = chain("revolute", "prismatic", "revolute")
    held = read_urdf(source, hold=["jb"])
    welded = read_urdf(chain("revolute", "fixed", "revolute"))
    assert held.links == welded.links
    assert held.joints == welded.joints
    assert read_urdf(source, tip="a", hold=["jb", "jc"]).total_mass == 3.0
    assert doubt_codes(source, tip="a", hold=["jb", "jc"]) == set()
    assert read_urdf(chain("floating", "revolute"), hold=["ja"]).n == 1
    assert fault_codes(source, hold=["nothing"]) == {"hold"}


def test_base_below_moving_joints_is_held_in_the_root_frame() -> None:
    source = chain("revolute", "revolute", "revolute")
    found = read_urdf(source, base="b")
    assert [each.name for each in found.joints] == ["jc"]
    assert (found.base, found.joints[0].parent, found.joints[0].translation) == ("b", -1, (0.0, 0.0, 3.0))
    held = [doubt.names for doubt in check(source, base="b").doubts if doubt.code == "held"]
    assert held == [("ja",), ("jb",)]
    floating = chain("floating", "revolute")
    assert read_urdf(floating, base="a").n == 1
    assert fault_codes(floating) == {"joint-type"}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"base": "nowhere"}, "base"),
        ({"tip": "nowhere"}, "tip"),
        ({"base": "b", "tip": "a"}, "tip"),
        ({"tip": "base"}, "immobile"),
        ({"tip": ["b", "b"]}, "tip"),
        ({"base": "c"}, "immobile"),
    ],
)
def test_impossible_choices(options: dict[str, object], code: str) -> None:
    assert fault_codes(chain("revolute", "revolute", "fixed"), **options) == {code}


def test_tip_welded_to_the_base_beside_a_moving_one() -> None:
    source = robot(
        *map(link, ("base", "arm", "lamp")), joint("j", "base", "arm"), joint("w", "base", "lamp", "fixed")
    )
    assert fault_codes(source, tip=["arm", "lamp"]) == {"immobile"}
    assert [tip.name for tip in read_urdf(source).tips] == ["arm"]


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
        (robot(link("a"), link("b", BODY + "<sensor/>"), joint("j", "a", "b")), "unknown-element"),
        (robot(link("a"), link("b", BODY + "<visuals/>"), joint("j", "a", "b")), "unknown-element"),
        (robot(link("a"), link("b"), joint("j", "a", "b", more="<gear/>")), "unknown-element"),
        (robot(link("a"), link("b"), joint("j", "a", "b", more='<limit jerk="1"/>')), "unknown-attribute"),
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


def test_merging_a_frame_changes_no_bit() -> None:
    alone = read_urdf(chain("revolute"))
    body = BODY.replace('value="1"', 'value="0.3"').replace("<mass", '<origin xyz="0.1 0.2 0.7"/><mass')
    source = chain("revolute").replace(link("a").encode(), link("a", body).encode())
    with_frame = robot(
        link("base"),
        link("a", body),
        link("tool", ""),
        joint("ja", "base", "a"),
        joint("w", "a", "tool", "fixed"),
    )
    assert read_urdf(with_frame).links[0].inertial == read_urdf(source).links[0].inertial
    assert alone.links[0].inertial != read_urdf(source).links[0].inertial


def test_three_thousand_welded_links() -> None:
    names = [f"l{i}" for i in range(3000)]
    welds = [joint(f"j{b}", a, b, "fixed") for a, b in zip(names, names[1:-1], strict=False)]
    source = robot(*map(link, names), *welds, joint("last", names[-2], names[-1]))
    found = read_urdf(source)
    assert (found.n, found.joints[0].translation) == (1, (0.0, 0.0, 2999.0))


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "räbot $x.urdf"
    path.write_bytes(chain("revolute"))
    assert read_urdf(path) == read_urdf(str(path)) == read_urdf(chain("revolute"))
    assert check(path).source == str(path)
    with pytest.raises(InputError, match="no such file"):
        check(tmp_path / "missing.urdf")
    with pytest.raises(InputError, match="not a file"):
        read_urdf(tmp_path)
    with pytest.raises(InputError, match="not a file"):
        read_urdf("/dev/zero")
    with pytest.raises(InputError):
        read_urdf("nul\0byte")


def test_the_robot_is_a_value() -> None:
    found = read_urdf(chain("revolute", "prismatic"))
    assert found == pickle.loads(pickle.dumps(found))
    assert len({found, read_urdf(chain("revolute", "prismatic"))}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.name = "other"  # type: ignore[misc]
    assert [each.type.unit for each in found.joints] == ["rad", "m"]
    assert [each.type.effort_unit for each in found.joints] == ["N·m", "N"]


def test_report_as_json_and_text() -> None:
    report = check(robot(link("a"), link("b", ""), joint("j", "a", "b")))
    content = json.loads(report.json())
    assert (content["joints"], content["faults"], content["total_mass"]) == (["j"], [], 1.0)
    (doubt,) = content["doubts"]
    assert (doubt["code"], doubt["links"], doubt["joints"]) == ("singular", ["b"], ["j"])
    assert report.text().splitlines()[-1] == "0 faults, 1 doubt"
    assert isinstance(report.doubts[0], Finding)
    assert json.loads(check(b"<robot/>").json())["faults"][0]["code"] == "no-links"


def test_massless_link_between_hinges_is_harmless_in_joint_space() -> None:
    """The reason that such a robot is doubted and not refused: its mass matrix is regular."""
    turned = joint("k", "b", "c").replace('"0 1 0"', '"1 0 0"')
    found = read_urdf(robot(*map(link, "ac"), link("b", ""), joint("j", "a", "b"), turned))
    assert np.linalg.eigvalsh(mass_matrix(found, [0.3, 0.4]))[0] > 1e-3
    assert np.linalg.norm(poses(found, [0.0, 0.0])[1][1]) == 2.0
