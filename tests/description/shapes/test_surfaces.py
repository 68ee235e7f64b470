"""Friction of contacts from collision shapes: MuJoCo's own contacts on the same file say which."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.front.resolve import read_doubted, resolve
from diffpbd.codegen.graph.model.parameters import alpha_entries

SCENE = """<mujoco><worldbody><geom name="ice" type="plane" size="5 5 1" {plane}/>
  <body name="puck" pos="0 0 0.049"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="0.5" {puck}/></body>
</worldbody></mujoco>"""
RECIPE = """urdf = "made.xml"
contact_from_collision = ["puck=ice"]
[[plane]]
name = "{name}"
link = "world"
point = [0, 0, 0]
normal = [0, 0, 1]
"""


def recipe(folder: Path, text: str, name: str = "ice") -> Path:
    (folder / "made.xml").write_text(text)
    path = folder / "made.toml"
    path.write_text(RECIPE.format(name=name).replace("puck=ice", f"puck={name}"))
    return path


def test_the_puck_has_its_own_friction_and_no_doubts(shared: Path) -> None:
    found, robot = resolve(str(shared / "cases" / "Q19-friction-of-the-file" / "puck.toml"))
    assert [contact.friction for contact in robot.contacts] == [0.9] * 8
    assert {doubt.code for doubt in read_doubted(found)[1]} == {"base"}  # the free joint, which is the base


@pytest.mark.parametrize(
    ("plane", "puck"),
    [
        ("", ""),
        ('friction="0.1"', 'friction="0.9"'),
        ('friction="0.8"', 'friction="0.3"'),
        ('friction="0.2" priority="1"', 'friction="0.9"'),
        ('friction="0.2"', 'friction="0.9" priority="2" condim="1"'),
        ('friction="0.2" condim="1"', 'friction="0.7" condim="4"'),
        ('condim="1"', 'condim="1"'),
    ],
)
def test_two_surfaces_have_the_friction_that_mujoco_gives_them(plane: str, puck: str, tmp_path: Path) -> None:
    text = SCENE.format(plane=plane, puck=puck)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    (contact, *_) = data.contact
    found, robot = resolve(str(recipe(tmp_path, text)))
    expected = contact.friction[0] if contact.dim > 1 else 0.0
    assert [own.friction for own in robot.contacts] == pytest.approx([expected] * 8, rel=1e-15)
    told = [doubt.message for doubt in read_doubted(found)[1]]
    assert any("turning or rolling" in message for message in told) is (contact.dim > 3)


def test_a_plane_that_the_file_does_not_have_leaves_the_shape_its_own(tmp_path: Path) -> None:
    text = SCENE.format(plane='friction="0.8"', puck='friction="0.3"')
    assert {own.friction for own in resolve(str(recipe(tmp_path, text, "table")))[1].contacts} == {0.3}
    assert {own.friction for own in resolve(str(recipe(tmp_path, text)))[1].contacts} == {0.8}


def test_an_inertia_of_shapes_is_no_placeholder() -> None:
    """Nor is one of a ball, with three equal moments; one that is written may be."""
    shaped = (
        '<mujoco><worldbody><body name="a"><joint/><geom type="box" size="0.3 0.1 0.1"/></body></worldbody></mujoco>'
    )
    ball = shaped.replace('type="box" size="0.3 0.1 0.1"', 'size="0.3"')
    wrong = shaped.replace("<joint/>", '<joint/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>')
    again = wrong.replace("<worldbody>", '<compiler inertiafromgeom="true"/><worldbody>')
    for text, doubted in ((shaped, False), (ball, False), (wrong, True), (again, False)):
        report = check(text.encode())
        assert report.passed(), report.text()
        assert bool({"gyration", "placeholder"} & {doubt.code for doubt in report.doubts}) is doubted, report.text()


FREE_BOX = """<robot name="made"><link name="puck"><inertial><mass value="1"/>
  <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision>{more}</link>{gazebo}</robot>"""


def boxed(folder: Path, base: str = "floating", more: str = "", gazebo: str = "") -> list[str]:
    """Entries of friction of a box by its `<collision>`."""
    (folder / "made.urdf").write_text(FREE_BOX.format(more=more, gazebo=gazebo))
    path = folder / "made.toml"
    path.write_text(f'base_joint = "{base}"\n{RECIPE.format(name="ice").replace("made.xml", "made.urdf")}')
    found, robot = resolve(str(path))
    return [f"{e.name} {e.default:g}" for e in alpha_entries(robot, found) if e.name.startswith("contact.friction.")]


def test_contacts_of_a_free_body_have_one_friction_that_of_the_file(tmp_path: Path) -> None:
    assert boxed(tmp_path) == ["contact.friction.puck 0.5"]
    said = '<gazebo reference="puck"><mu1>0.18</mu1></gazebo>'
    assert boxed(tmp_path, gazebo=said) == ["contact.friction.puck 0.18"]
    assert boxed(tmp_path, gazebo=said.replace("puck", "other")) == ["contact.friction.puck 0.5"]


def test_shapes_of_different_friction_keep_their_own(tmp_path: Path) -> None:
    text = SCENE.format(plane='friction="0.1"', puck='friction="0.9"')
    ball = '<geom type="sphere" size="0.02" friction="0.3" mass="0.1" pos="0 0 0.2"/></body>'
    found, robot = resolve(str(recipe(tmp_path, text.replace("</body>", ball))))
    names = [e.name for e in alpha_entries(robot, found) if e.name.startswith("contact.friction.")]
    assert len(names) == 9
