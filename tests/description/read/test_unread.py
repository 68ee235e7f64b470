"""Nothing is lost in silence: every attribute of both schemas is in one of three lists, and the lists tell the truth."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import pytest
from support.description import builders

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.read.mjcf.attributes import MJCF
from diffpbd.codegen.description.read.mjcf.attributes import WHY as MJCF_WHY
from diffpbd.codegen.description.read.mjcf.document import file_defaults, read_mjcf
from diffpbd.codegen.description.read.source import Element
from diffpbd.codegen.description.read.unread import HARMLESS, READ, SAID, Format, unread
from diffpbd.codegen.description.read.urdf.attributes import URDF
from diffpbd.codegen.description.tree.elements import Document

Path_ = tuple[str, ...]
INDENT = 3  # blanks a level of MuJoCo's print
HEAD = re.compile(r"( *)(\S+) +\([!?*R]\)(.*)")


def schema_of_mujoco() -> list[tuple[Path_, str]]:
    """Every attribute that this MuJoCo knows, by the path of its element."""
    found: list[tuple[Path_, str]] = []
    path: list[str] = []
    for line in mujoco.mj_printSchema(False, True).splitlines():
        head = HEAD.match(line)
        if head:
            path[len(head[1]) // INDENT :] = [head[2].replace("(world)body", "body")]
        found += [(tuple(path), attribute) for attribute in (head[3] if head else line).split()]
    return found


# Elements of urdfdom's urdf.xsd with their attributes.
URDF_SCHEMA = """
robot: name version
robot/link: name type
robot/link/inertial/origin: xyz rpy
robot/link/inertial/mass: value
robot/link/inertial/inertia: ixx ixy ixz iyy iyz izz
robot/link/visual/origin: xyz rpy
robot/link/visual/geometry/box: size
robot/link/visual/geometry/cylinder: radius length
robot/link/visual/geometry/sphere: radius
robot/link/visual/geometry/mesh: filename scale
robot/link/visual/material: name
robot/link/visual/material/color: rgba
robot/link/visual/material/texture: filename
robot/link/collision: name
robot/link/collision/origin: xyz rpy
robot/link/collision/geometry/box: size
robot/link/collision/geometry/cylinder: radius length
robot/link/collision/geometry/sphere: radius
robot/link/collision/geometry/mesh: filename scale
robot/link/collision/verbose: value
robot/joint: name type
robot/joint/origin: xyz rpy
robot/joint/parent: link
robot/joint/child: link
robot/joint/axis: xyz
robot/joint/calibration: reference_position rising falling
robot/joint/dynamics: damping friction
robot/joint/limit: lower upper effort velocity
robot/joint/safety_controller: soft_lower_limit soft_upper_limit k_position k_velocity
robot/joint/mimic: joint multiplier offset
robot/transmission: name type
robot/transmission/leftActuator: mechanicalReduction name
robot/transmission/rightActuator: mechanicalReduction name
robot/transmission/flexJoint: mechanicalReduction name
robot/transmission/rollJoint: mechanicalReduction name
robot/transmission/gap_joint: L0 a b gear_ratio h mechanical_reduction name phi0 r screw_reduction t0 theta0
robot/transmission/passive_joint: name
robot/transmission/actuator: name
robot/transmission/joint: name
robot/material: name
robot/material/color: rgba
robot/material/texture: filename
robot/sensor: name update_rate
robot/sensor/origin: xyz rpy
robot/sensor/parent: link
robot/sensor/camera/image: width height format hfov near far
robot/sensor/ray/horizontal: samples resolution min_angle max_angle
robot/sensor/ray/vertical: samples resolution min_angle max_angle
"""


def schema_of_urdf() -> list[tuple[Path_, str]]:
    lines = (line.split(": ") for line in URDF_SCHEMA.strip().splitlines())
    return [(tuple(path.split("/")), attribute) for path, attributes in lines for attribute in attributes.split()]


def test_every_attribute_of_both_schemas_is_in_a_list() -> None:
    for form, schema, least in ((MJCF, schema_of_mujoco(), 1000), (URDF, schema_of_urdf(), 90)):
        assert len(schema) > least
        lost = [("/".join(path), attribute) for path, attribute in schema if form.kind(path, attribute) is None]
        assert not lost, lost
        for own in form.elements.values():
            assert not (own.read & own.harmless or own.read & own.said or own.harmless & own.said)
        for one, other in ((form.read, form.harmless), (form.read, form.said), (form.harmless, form.said)):
            assert one.isdisjoint(other)


def element(path: Path_, attribute: str, value: str) -> Element:
    """A file with one attribute."""
    (tag, *rest) = path
    if not rest:
        return Element(tag, "", {attribute: value}, (), 1)
    return Element(tag, "", {}, (element(tuple(rest), attribute, value),), 1)


@pytest.mark.parametrize("form", [MJCF, URDF])
def test_what_is_in_the_third_list_is_said_and_nothing_else(form: Format) -> None:
    told = 0
    for path, attribute in schema_of_mujoco() if form is MJCF else schema_of_urdf():
        value = {"flag": "enable" if attribute == "override" else "disable"}.get(path[-1], "1")
        said = unread([element(path, attribute, value)], form, "")
        expected = form.kind(path, attribute) == SAID
        assert bool(said) is expected, (path, attribute)
        if said:
            assert f"<{path[-1]}> {attribute}" in said[0].message
        told += len(said)
    assert told >= {id(MJCF): 150, id(URDF): 16}[id(form)]


def test_what_a_newer_format_adds_is_said() -> None:
    (finding,) = unread([element(("mujoco", "worldbody", "geom"), "stickiness", "1")], MJCF, MJCF_WHY)
    assert "<geom> stickiness" in finding.message
    assert not unread([element(("mujoco", "option", "flag"), "contact", "enable")], MJCF, "")


TEXT = """<mujoco><compiler angle="radian" inertiagrouprange="0 3"/><option {option}><flag {flag}/></option>
<worldbody><body name="one" {body}><joint name="j1" type="hinge" axis="0 1 0" {joint}/>
<inertial pos="0 0 0.1" mass="1" diaginertia="0.02 0.03 0.04"/><geom type="sphere" size="0.1" {geom}/>
<body name="two" pos="0 0 0.2"><joint name="j2"/><geom name="g2" size="0.2" {shape}/></body></body></worldbody>
<equality><connect body1="two" anchor="0.1 0 0" {connect}/></equality>
<actuator><position joint="j1" kp="3" {position}/></actuator></mujoco>"""
SLOTS = ("option", "flag", "body", "joint", "geom", "shape", "connect", "position")

CHANGES = {
    "joint": {
        "armature": "0.3", "damping": "0.4", "frictionloss": "0.5", "range": "-1 2", "ref": "0.3", "pos": "0 0 0.1",
        "stiffness": "3", "springdamper": "0.1 1", "actuatorfrcrange": "-2 3", "margin": "0.1",
        "solreflimit": "0.1 1", "solimplimit": "0.8 0.9 0.1 0.5 2", "solreffriction": "0.1 1",
        "solimpfriction": "0.8 0.9 0.1 0.5 2", "actuatorgravcomp": "true", "group": "2", "springyield": "2",
    },
    "geom": {
        "friction": "0.3 0 0", "condim": "1", "priority": "2", "contype": "0", "pos": "0 0 1", "margin": "0.1", "gap": "0.1",
        "solref": "0.1 1", "solimp": "0.8 0.9 0.1 0.5 2", "solmix": "3", "rgba": "1 0 0 1", "group": "2",
        "fluidcoef": "1 1 1 1 1", "surfacevel": "1 0 0 0 0 0", "adhesion": "2",
    },
    "shape": {"mass": "3", "density": "500", "shellinertia": "true"},
    "body": {"pos": "0 0 1", "euler": "1 0 0", "gravcomp": "1", "quat": "1 1 0 0"},
    "connect": {"active": "false", "solref": "0.1 1", "solimp": "0.8 0.9 0.1 0.5 2"},
    "position": {
        "gear": "3", "forcerange": "-2 3", "armature": "0.1", "damping": "0.2", "kv": "2", "dampratio": "1", "timeconst": "0.1",
        "ctrlrange": "-1 1", "inheritrange": "0", "group": "2", "delay": "0.1",
    },
    "option": {
        "gravity": "1 2 3", "density": "1.2", "viscosity": "0.1", "timestep": "0.1", "integrator": "implicit", "wind": "1 0 0",
        "actuatorgroupdisable": "1", "cone": "elliptic", "impratio": "2",
    },
    "flag": {
        "gravity": "disable", "spring": "disable", "damper": "disable", "contact": "disable",
        "limit": "disable", "energy": "enable",
    },
}  # fmt: skip
NEEDS = {
    ("joint", "springyield"): 'stiffness="2"', ("position", "delay"): 'nsample="20"', ("position", "gear"): 'forcerange="-1 1"',
    ("geom", "contype"): 'conaffinity="0"',
}  # fmt: skip
TAGS = {"shape": "geom"}
UNTOUCHED = {("position", "ctrlrange"), ("joint", "springyield")}
"""Read for plain motors alone; refused by a fault of its own."""


def document(slot: str, words: str) -> tuple[Document, dict[str, object]]:
    text = TEXT.format(**{name: words if name == slot else "" for name in SLOTS})
    return read_mjcf(text.encode(), ()), text


@pytest.mark.parametrize(("slot", "attribute"), [(slot, name) for slot, values in CHANGES.items() for name in values])
def test_the_lists_tell_the_truth(slot: str, attribute: str, tmp_path: Path) -> None:
    """A word that is read changes the robot or is judged, a harmless one changes nothing, a named one the doubt alone."""
    tag = TAGS.get(slot, slot)
    needs = NEEDS.get((slot, attribute), "")
    path = next(p for p, a in schema_of_mujoco() if p[-1] == tag and a == attribute and "default" not in p)
    kind = MJCF.kind(path, attribute)
    found = []
    for name, words in (("plain", needs), ("changed", f'{needs} {attribute}="{CHANGES[slot][attribute]}"')):
        made, text = document(slot, words)
        file = tmp_path / f"{name}.xml"
        file.write_text(text)
        doubts = tuple(doubt for doubt in made.doubts if doubt.code != "unread")
        said = [doubt.message for doubt in made.doubts if doubt.code == "unread"]
        found.append(
            (
                (
                    made.links,
                    made.joints,
                    made.loops,
                    made.passive,
                    made.shapes,
                    made.faults,
                    doubts,
                    file_defaults(file),
                ),
                said,
            )
        )
    (before, quiet), (after, loud) = found
    if (slot, attribute) not in UNTOUCHED:
        assert (before != after) is (kind == READ), (kind, attribute)
    assert (quiet != loud) is (kind == SAID)
    assert any(f"<{tag}>" in message and attribute in message for message in loud) is (kind == SAID)
    assert kind in (READ, HARMLESS, SAID)


def test_included_files_are_walked_too(tmp_path: Path) -> None:
    (tmp_path / "main.xml").write_text(
        '<mujoco><include file="part.xml"/><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>'
    )
    (tmp_path / "part.xml").write_text('<mujocoinclude><default><joint margin="0.1"/></default></mujocoinclude>')
    assert any("<joint> margin" in doubt.message for doubt in check(tmp_path / "main.xml").doubts)


def test_what_a_urdf_says_beyond_the_robot() -> None:
    inside = '<safety_controller k_velocity="1" soft_lower_limit="-1"/><calibration rising="0"/><limit lower="-1" upper="1"/>'
    rest = '<gazebo reference="b"><mu1>0.9</mu1><kp>1e6</kp></gazebo><material name="red"><color rgba="1 0 0 1"/></material>'
    text = builders.robot(builders.link("a"), builders.link("b"), builders.joint("j", "a", "b", more=inside), rest)
    (doubt,) = [doubt for doubt in check(text).doubts if doubt.code == "unread"]
    assert "<mu1>" in doubt.message and "<safety_controller> k_velocity, soft_lower_limit" in doubt.message
    assert "red" not in doubt.message and "rising" not in doubt.message and "kp" not in doubt.message
    plain = builders.robot(builders.link("a"), builders.link("b"), builders.joint("j", "a", "b"))
    assert not [doubt for doubt in check(plain).doubts if doubt.code == "unread"]
