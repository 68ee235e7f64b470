"""Shapes of a description: as they are, enclosing ones, meshes of every sort, and what is refused by name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from diffpbd.codegen.description.front.resolve import read_doubted
from diffpbd.codegen.description.geometry.capsules import Capsule, about_cylinder, fitted
from diffpbd.codegen.description.read.srdf import disabled
from diffpbd.codegen.description.recipe.file import load_recipe
from diffpbd.codegen.description.recipe.recipe import default_recipe, with_options
from diffpbd.codegen.description.report import DescriptionError
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.runtime.base.errors import InputError

URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/><origin xyz="0 0 0.1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link><link name="tool">{tool}</link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="10" velocity="2"/></joint>
<joint name="f" type="fixed"><origin xyz="0 0 0.5" rpy="0 1.5707963267948966 0"/>
<parent link="arm"/><child link="tool"/></joint>
</robot>"""
SHAPE = '<collision><origin xyz="0.1 0 0" rpy="{rpy}"/><geometry>{form}</geometry></collision>'


def shape(form: str, rpy: str = "0 0 0") -> str:
    return SHAPE.format(form=form, rpy=rpy)


def read(folder: Path, shapes: str, tool: str = "") -> tuple[Robot, list[str]]:
    (folder / "r.urdf").write_text(URDF.format(shapes=shapes, tool=tool), encoding="utf-8")
    robot, doubts = read_doubted(with_options(default_recipe(folder / "r.urdf"), clearance=True))
    return robot, [doubt.message for doubt in doubts if doubt.code == "shape"]


def inside(capsule: Capsule, points: np.ndarray) -> float:
    """The greatest distance of points beyond a capsule [m]."""
    a, b = np.array(capsule.start), np.array(capsule.end)
    way = b - a
    t = np.clip((points - a) @ way / max(way @ way, 1e-300), 0.0, 1.0)
    return float(np.linalg.norm(points - a - t[:, None] * way, axis=1).max() - capsule.radius)


def test_shapes_are_taken_as_they_are(tmp_path: Path) -> None:
    forms = ['<sphere radius="0.1"/>', '<box size="0.2 0.4 0.6"/>', '<capsule radius="0.1" length="0.4"/>']
    robot, said = read(tmp_path, "".join(map(shape, forms)), shape('<sphere radius="0.05"/>'))
    assert [(s.name, s.kind, s.halves, s.radius) for s in robot.shapes] == [
        ("arm.1", "sphere", (), 0.1),
        ("arm.2", "box", (0.1, 0.2, 0.3), 0.0),
        ("arm.3", "capsule", (0.2,), 0.1),
        ("tool", "sphere", (), 0.05),
    ]
    assert robot.shapes[3].part == "tool"
    np.testing.assert_allclose(robot.shapes[3].centre, [0.0, 0.0, 0.4], atol=1e-15)  # the tool's x is down the arm
    assert said == []


@pytest.mark.parametrize(("radius", "length"), [(0.05, 0.5), (0.1, 0.1), (0.2, 0.01), (1e-3, 1.0)])
def test_the_capsule_about_a_cylinder(radius: float, length: float) -> None:
    """All of the rim is inside, and no other capsule on the axis is smaller."""
    found = about_cylinder(radius, length)
    angle = np.linspace(0.0, 2.0 * np.pi, 100)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(100, length / 2)], axis=1)
    assert inside(found, np.vstack([rim, -rim])) <= 0.0
    for x in np.linspace(0.0, length / 2, 200):
        other = Capsule((0.0, 0.0, x - length / 2), (0.0, 0.0, length / 2 - x), math.hypot(radius, x))
        assert found.volume <= other.volume * (1.0 + 1e-5)


def test_a_cylinder_says_what_it_becomes(tmp_path: Path) -> None:
    robot, said = read(tmp_path, shape('<cylinder radius="0.05" length="0.4"/>'))
    assert robot.shapes[0].kind == "capsule"
    assert "a cylinder becomes the capsule about it" in said[0]
    assert "times its volume" in said[0]


@pytest.mark.parametrize("seed", range(6))
def test_fitted_capsules_hold_every_vertex_and_are_tight(seed: int) -> None:
    """Points of a capsule's surface, turned at random: the capsule is found again."""
    rng = np.random.default_rng(seed)
    half, radius = rng.uniform(0.05, 0.4), rng.uniform(0.03, 0.1)
    made = trimesh.creation.capsule(2.0 * half, radius, count=[16, 16])
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    points = made.vertices @ R.T + rng.normal(size=3)
    found = fitted(points)
    assert inside(found, points) <= 0.0
    true = Capsule((0.0, 0.0, -half), (0.0, 0.0, half), radius)
    assert found.volume < 1.02 * true.volume
    cloud = rng.normal(size=(200, 3)) * [0.3, 0.1, 0.02]
    assert inside(fitted(cloud), cloud) <= 0.0


def test_meshes_open_flat_and_single(tmp_path: Path) -> None:
    box = trimesh.creation.box((0.2, 0.1, 0.4))
    box.faces = box.faces[:-3]
    box.export(tmp_path / "open.stl")
    trimesh.Trimesh([[0, 0, 0], [0.1, 0, 0], [0, 0.3, 0]], [[0, 1, 2]]).export(tmp_path / "flat.stl")
    robot, said = read(
        tmp_path, shape('<mesh filename="open.stl"/>') + shape('<mesh filename="file://flat.stl"/>', "0 0 1")
    )
    assert [s.kind for s in robot.shapes] == ["capsule", "capsule"]
    corners = np.array([[x, y, z] for x in (0.0, 0.2) for y in (-0.05, 0.05) for z in (-0.2, 0.2)])
    first = robot.shapes[0]
    way = np.array(first.rotation)[:, 2] * first.halves[0]
    ends = [tuple(np.array(first.centre) + sign * way) for sign in (-1, 1)]
    assert inside(Capsule(ends[0], ends[1], first.radius), corners) <= 0.0
    assert "open.stl of 8 vertices is in a capsule" in said[0]
    assert "times its hull" in said[0]
    assert "times its hull" not in said[1]


def test_a_package_is_found_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "far" / "parts" / "meshes").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    trimesh.creation.icosphere(1, 0.1).export(tmp_path / "far" / "parts" / "meshes" / "ball.stl")
    mesh = shape('<mesh filename="package://parts/meshes/ball.stl" scale="2 2 2"/>')
    with pytest.raises(
        DescriptionError, match=r'mesh "package://parts/meshes/ball.stl": no such file.*ROS_PACKAGE_PATH'
    ):
        read(tmp_path / "here", mesh)
    for path in (tmp_path / "far", tmp_path / "far" / "parts"):
        monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{path}")
        robot, _ = read(tmp_path / "here", mesh)
        assert robot.shapes[0].radius == pytest.approx(0.2, rel=1e-3)


def test_millimetres_and_broken_files_are_named(tmp_path: Path) -> None:
    trimesh.creation.box((200.0, 100.0, 400.0)).export(tmp_path / "mm.stl")
    (tmp_path / "broken.stl").write_bytes(b"solid nothing")
    (tmp_path / "text.obj").write_text("v 0 0 nan\nf 1 1 1\n", encoding="utf-8")
    for form, words in (
        ('<mesh filename="mm.stl"/>', r'mesh "mm.stl": it spans 400 m.*millimetres.*scale="0.001 0.001 0.001"'),
        ('<mesh filename="broken.stl"/>', r'mesh "broken.stl"'),
        ('<mesh filename="text.obj"/>', r'mesh "text.obj"'),
        ('<mesh filename=""/>', r'mesh "": no such file'),
        ('<cone radius="1"/>', r"<cone>: spheres, capsules.*\[\[shape\]\]"),
        ('<sphere radius="0"/>', r"<sphere> radius=0: at least 1e-09 m is expected"),
        ('<cylinder radius="1e-300" length="1e-300"/>', r"<cylinder> radius=1e-300: at least"),
        ('<box size="1 0 1"/>', r'<box> size="1 0 1": sides above 0 m'),
    ):  # fmt: skip
        with pytest.raises(DescriptionError, match=f'link "arm", shape 1: {words}'):
            read(tmp_path, shape(form))
    robot, _ = read(tmp_path, shape('<mesh filename="mm.stl" scale="0.001 0.001 0.001"/>'))
    assert robot.shapes[0].radius < 0.3


def test_lengths_that_are_a_thousand_times_too_large_are_doubted(tmp_path: Path) -> None:
    """A finger's mesh in millimetres spans less than a room; so does a box; a large light link and a hall do not."""
    for scale in (1.0, 1000.0):
        trimesh.creation.box((0.004 * scale, 0.004 * scale, 0.015 * scale)).export(tmp_path / "finger.stl")
        mesh, box = '<mesh filename="finger.stl"/>', f'<box size="{0.002 * scale} {0.01 * scale} {0.01 * scale}"/>'
        _, said = read(tmp_path, shape(mesh) + shape(box), shape(mesh))
        units = [words for words in said if "millimetres" in words]
        assert len(units) == (3 if scale > 1.0 else 0), said
    assert 'link "arm", shape 1: it spans 1' in units[0] and "kg/m³" in units[0] and "scale=" in units[0]
    assert 'link "arm", shape 2' in units[1] and 'link "tool", shape 1' in units[2] and "reaches 0.5 m" in units[2]
    for size, doubted in ((2.1, False), (2.3, True)):  # 1 kg in 9.3 and 12.2 m³
        _, said = read(tmp_path, shape(f'<box size="{size} {size} {size}"/>'))
        assert any("millimetres" in words for words in said) is doubted


def test_a_million_triangles(tmp_path: Path, count: Any) -> None:
    """A sphere with as many, in a capsule that is hardly larger, in seconds."""
    made = trimesh.creation.icosphere(count(5, 8), 0.1)  # 20 000, 1.3 million
    made.export(tmp_path / "fine.stl")
    robot, _ = read(tmp_path, shape('<mesh filename="fine.stl"/>'))
    assert robot.shapes[0].radius == pytest.approx(0.1, rel=1e-3)


RECIPE = """urdf = "r.urdf"
clearance = true
{more}
[[shape]]
name = "a"
link = "arm"
point = [0, 0, 0]
end = [0, 0, 0.4]
radius = 0.1
[[shape]]
name = "table"
link = "world"
normal = [0, 0, 2]
point = [0, 0, -0.1]
[[shape]]
name = "none"
link = "tool"
"""


def test_a_recipe_overrides(tmp_path: Path) -> None:
    read(tmp_path, shape('<sphere radius="0.1"/>'), shape('<sphere radius="0.1"/>'))
    (tmp_path / "r.toml").write_text(RECIPE.format(more=""), encoding="utf-8")
    robot, _ = read_doubted(load_recipe(tmp_path / "r.toml"))
    assert [(s.name, s.kind, s.link) for s in robot.shapes] == [("a", "capsule", 0), ("table", "plane", -1)]
    np.testing.assert_allclose(robot.shapes[0].centre, [0.0, 0.0, 0.2])
    for more, words in (
        ("size = [1, 1, 1]", 'shape "none": .*'),
        ("radius = -1.0", 'shape "none": radius -1 m is negative'),
        ("normal = [0, 0, 0]", 'shape "none": normal .* has no direction'),
        ("end = [0, 0, 1]", 'shape "none": radius is missing'),
        ("end = [0, 0, 1]\nsize = [1, 1, 1]", 'shape "none": it has end and size'),
    ):
        text = RECIPE.format(more="") + more
        (tmp_path / "r.toml").write_text(text, encoding="utf-8")
        if "size" in more and "end" not in more:
            assert read_doubted(load_recipe(tmp_path / "r.toml"))[0].shapes[-1].kind == "box"
            continue
        with pytest.raises(DescriptionError, match=words):
            read_doubted(load_recipe(tmp_path / "r.toml"))


def test_a_capsule_without_length_is_a_sphere(tmp_path: Path) -> None:
    read(tmp_path, "")
    (tmp_path / "r.toml").write_text(RECIPE.format(more="").replace("[0, 0, 0.4]", "[0, 0, 0]"), encoding="utf-8")
    assert read_doubted(load_recipe(tmp_path / "r.toml"))[0].shapes[0].kind == "sphere"


def test_an_srdf_beside_the_description_is_read(tmp_path: Path) -> None:
    text = '<robot name="r"><disable_collisions link1="arm" link2="base" reason="Adjacent"/></robot>'
    (tmp_path / "r.srdf").write_text(text, encoding="utf-8")
    robot, _ = read(tmp_path, shape('<sphere radius="0.1"/>'))
    assert robot.apart == (("arm", "base"),)
    (tmp_path / "bad.srdf").write_text('<robot><disable_collisions link1="arm"/></robot>', encoding="utf-8")
    with pytest.raises(InputError, match="no link1 and link2"):
        disabled(tmp_path / "bad.srdf")
    with pytest.raises(InputError, match="no such file"):
        disabled(tmp_path / "none.srdf")


MJCF = """<mujoco><asset><mesh name="m" vertex="0 0 0  0.2 0 0  0 0.1 0  0 0 0.4"/></asset><worldbody>
<geom type="plane" size="1 1 1"/><body name="arm" pos="0 0 1"><joint name="j" axis="0 1 0" range="-1 1"/>
<geom type="capsule" size="0.05 0.2"/><geom type="mesh" mesh="m" pos="0 0 0.3"/></body></worldbody></mujoco>"""


def test_an_mjcf_has_planes_and_meshes(tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_text(MJCF, encoding="utf-8")
    robot, doubts = read_doubted(with_options(default_recipe(tmp_path / "m.xml"), clearance=True))
    assert sorted(s.kind for s in robot.shapes) == ["capsule", "capsule", "plane"]
    mesh = max((s for s in robot.shapes if s.link == 0), key=lambda s: s.radius)
    way = np.array(mesh.rotation)[:, 2] * mesh.halves[0]
    a, b = (tuple(np.array(mesh.centre) + sign * way) for sign in (-1, 1))
    corners = np.array([[0, 0, 0.3], [0.2, 0, 0.3], [0, 0.1, 0.3], [0, 0, 0.7]])
    assert inside(Capsule(a, b, mesh.radius), corners) <= 1e-8  # MuJoCo's vertices are floats
    assert any("mesh of 4 vertices is in a capsule" in doubt.message for doubt in doubts)
