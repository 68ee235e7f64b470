"""A screw: read as Drake writes it, equal to Pinocchio's helical joint, and to a slide that follows a hinge."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from support.described import Described
from support.description.builders import BODY as TENSOR_BODY
from support.description.builders import LIMIT, doubt_codes, joint, link
from support.made.screwed import PART, PITCH, PLACES, screw, screwed_arm, thread, with_prefix

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.export import urdf_text
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.codegen.description.robot.robot import Mimic
from diffpbd.codegen.generate import generate
from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.model.shapes import read_shapes


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Described:
    file = tmp_path_factory.mktemp("screw") / "arm.urdf"
    file.write_bytes(screwed_arm())
    return Described.of(file)


def peer() -> pinocchio.Model:
    model = pinocchio.Model()
    places = [np.array([float(x) for x in place.split()]) for place in PLACES]
    turned = pinocchio.rpy.rpyToMatrix(0.3, -0.2, 0.5)
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    kinds = (
        pinocchio.JointModelRY(),
        pinocchio.JointModelHelicalUnaligned(axis, PITCH / math.tau),
        pinocchio.JointModelRY(),
    )
    tensor = np.array([[0.04, 0.002, -0.003], [0.002, 0.05, 0.001], [-0.003, 0.001, 0.03]])
    body = pinocchio.Inertia(1.5, np.array([0.1, -0.05, 0.2]), tensor)
    parent = 0
    for kind, rotation, place in zip(kinds, (np.eye(3), turned, np.eye(3)), places, strict=True):
        parent = model.addJoint(parent, kind, pinocchio.SE3(rotation, place), f"j{parent}")
        model.appendBodyToJoint(parent, body, pinocchio.SE3.Identity())
    return model


def test_pinocchio_has_the_same_joint(described: Described) -> None:
    model, rng = peer(), np.random.default_rng(3)
    data = model.createData()
    assert [described.robot.joints[i].name for i in described.robot.independent] == ["first", "screw", "last"]
    for _ in range(20):
        q, v, a, u = rng.uniform(-2.0, 2.0, (4, 3))
        expected = {
            "inverse_dynamics": ((q, v, a), pinocchio.rnea(model, data, q, v, a)),
            "forward_dynamics": ((q, v, u), pinocchio.aba(model, data, q, v, u)),
            "gravity": ((q,), pinocchio.computeGeneralizedGravity(model, data, q)),
            "mass_matrix": ((q,), pinocchio.crba(model, data, q)),
        }
        for name, (given, value) in expected.items():
            np.testing.assert_allclose(
                described(name, *given), value, rtol=0, atol=2e-12 * max(1.0, np.abs(value).max())
            )


def test_it_is_a_slide_that_follows_a_hinge(described: Described) -> None:
    joints = described.robot.joints
    assert [j.type.name for j in joints] == ["revolute", "revolute", "prismatic", "revolute"]
    assert [frame.name for frame in described.robot.frames] == ["base", "arm", "nut", "hand"]
    assert joints[2].mimic == Mimic(1, PITCH / math.tau, 0.0) and (joints[1].lower, joints[1].effort) == (-1.0, 5.0)
    again = read_urdf(urdf_text(described.robot).encode())
    assert [j.mimic for j in again.joints] == [j.mimic for j in joints]


@pytest.fixture(scope="module")
def jack(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Robot]:
    """A nut on a vertical screw, its mass on the axis."""
    file = tmp_path_factory.mktemp("jack") / "jack.urdf"
    upright = screw("base", "nut", at="0 0 0").replace('<axis xyz="0 1 0"', '<axis xyz="0 0 1"')
    box = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    file.write_bytes(with_prefix(link("base"), link("nut", TENSOR_BODY + box), upright))
    recipe = {"functions": "joint_step", "passive": ["screw"]}
    return file, load(generate(file, out=file.parent / "jack", **recipe).folder)


def test_it_falls_down_its_thread(jack: tuple[Path, Robot]) -> None:
    # q'' = -m g r / (J + m r²) is constant.
    robot, way, end = jack[1], PITCH / math.tau, 0.2
    change = -9.81 * way / (0.015 + way**2)
    ways = []
    for steps in (10, 20):
        p, pd = [0.2], [1.0]
        for _ in range(steps):
            p, pd = robot.joint_step(p, pd, [0.0], h=end / steps)
        np.testing.assert_allclose(pd, 1.0 + change * end, rtol=0, atol=1e-11)
        ways.append(p[0] - 0.2 - end - change * end**2 / 2.0)
    assert robot.joints == ("screw",) and abs(ways[0]) < 1e-3
    assert ways[0] / ways[1] == pytest.approx(4.0, rel=0.05)


def test_it_is_drawn_where_it_is(jack: tuple[Path, Robot]) -> None:
    frame = read_shapes(*jack).poses(jack[1], np.array([1.2]))["nut"]
    np.testing.assert_allclose(frame[:3, 0], [math.cos(1.2), math.sin(1.2), 0.0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(frame[:3, 3], [0.0, 0.0, PITCH * 1.2 / math.tau], rtol=0, atol=1e-15)


def test_it_is_held_driven_and_followed_as_one(described: Described) -> None:
    assert read_urdf(screwed_arm(), hold=["screw"]).n == 2
    assert doubt_codes(screwed_arm()) == {"axis-length"}
    follower = joint("last", "nut", "hand", more=f'{LIMIT}<mimic joint="screw"/>')
    chain = with_prefix(*map(link, ("base", "nut", "hand")), screw("base", "nut"), follower)
    assert [j.mimic and j.mimic.joint for j in read_urdf(chain).joints] == [None, 0, 0]


def test_a_report_names_what_the_file_does() -> None:
    light = with_prefix(link("base"), link("nut", ""), screw("base", "nut"))
    reports = [check(light), *(check(screwed_arm(), **chosen) for chosen in ({"base": "nut"}, {"tip": "arm"}))]
    told = [[(doubt.code, doubt.links, doubt.joints) for doubt in report.doubts] for report in reports]
    assert told[0] == [("singular", ("nut",), ("screw",))]
    assert told[1] == [("held", (), ("first",)), ("held", (), ("screw",))]
    assert told[2] == [("unused-branch", ("nut", "hand"), ("screw",))]


def test_its_slide_has_no_numbers(jack: tuple[Path, Robot]) -> None:
    (told,), names = jack[1].manifest.robot.joints, jack[1].alpha.names
    assert (told.type, told.child, told.unit) == ("screw", "nut", "rad")
    assert "friction.viscous.screw" in names and "rotor_inertia.screw" in names and not [n for n in names if ":" in n]


@pytest.mark.parametrize("option", ["wrench", "passive"])
def test_its_slide_has_no_name_in_a_recipe(jack: tuple[Path, Robot], option: str) -> None:
    with pytest.raises(InputError, match=f'"{PART}"'):
        generate(jack[0], out=jack[0].parent / option, functions="gravity", **{option: [PART]})


def test_several_turns_are_no_degrees() -> None:
    wide = LIMIT.replace("1", "30")
    hinge = joint("hinge", "nut", "hand", more=wide)
    parts = with_prefix(*map(link, ("base", "nut", "hand")), screw("base", "nut", thread().replace(LIMIT, wide)), hinge)
    assert [doubt.joints for doubt in check(parts).doubts if doubt.code == "degrees"] == [("hinge",)]
    assert check(parts).joints == ("screw", "hinge")


def test_what_drake_says_besides_is_named() -> None:
    more = thread().replace("effort=", 'drake:acceleration="3" effort=') + '<drake:damping value="1"/>'
    more += '<safety_controller k_velocity="1"/>'
    said = {doubt.message for doubt in check(with_prefix(link("base"), link("nut"), screw("base", "nut", more))).doubts}
    assert {m.split(" was ")[0] for m in said if "was ignored" in m} == {
        'unknown attribute "drake:acceleration" of <limit>', "unknown <drake:damping> in <joint>"
    }  # fmt: skip
    assert any("<safety_controller> k_velocity" in m for m in said)
