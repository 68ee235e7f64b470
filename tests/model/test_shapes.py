"""The shapes of a URDF stand where the generated robot's kinematics put its links, in the page and in the movie."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.robots import generated, loaded

from diffpbd.codegen.description.front.resolve import find_recipe
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.cli import cli
from diffpbd.runtime.model.shapes import quaternion, read_shapes, simple
from diffpbd.runtime.report.movie import movie

trimesh = pytest.importorskip("trimesh")
SHAPES = {
    "box": '<box size="0.1 0.2 0.3"/>', "cylinder": '<cylinder radius="0.05" length="0.4"/>',
    "sphere": '<sphere radius="0.1"/>',
    "near": '<mesh filename="part.stl"/>', "package": '<mesh filename="package://arm/meshes/part.stl" scale="2 2 2"/>',
    "lost": '<mesh filename="package://arm/meshes/none.stl"/>', "strange": '<mesh filename="part.step"/>',
}  # fmt: skip


def described(folder: Path, *shapes: str, robot: str = "prismatic_skew") -> Path:
    """The URDF of a shipped robot with these shapes at its last link."""
    (folder / "arm" / "meshes").mkdir(parents=True, exist_ok=True)
    part = trimesh.creation.icosphere(2, 0.1)
    part.export(folder / "arm" / "meshes" / "part.stl")
    part.export(folder / "arm" / "part.stl")
    text = find_recipe(robot).urdf.read_text(encoding="utf-8")
    last = loaded(robot).links[-1]
    own = "".join(
        f'<visual><origin xyz="0 0 0.1" rpy="0.3 0.2 0.1"/><geometry>{SHAPES[s]}</geometry></visual>' for s in shapes
    )
    assert f'<link name="{last}">' in text
    file = folder / "arm" / "arm.urdf"
    file.write_text(text.replace(f'<link name="{last}">', f'<link name="{last}">{own}'), encoding="utf-8")
    return file


def test_links_are_where_the_generated_kinematics_put_them(tmp_path: Path) -> None:
    robot = loaded("prismatic_skew")
    shapes = read_shapes(described(tmp_path, "box"), robot)
    for q in np.random.default_rng(0).uniform(-2.0, 2.0, (5, robot.n)):
        frame, tip = shapes.poses(robot, q)[robot.manifest.robot.tips[0]], robot.tip_pose(q)
        np.testing.assert_allclose(frame[:3, 3], np.ravel(tip.position), atol=1e-12)
        np.testing.assert_allclose(frame[:3, :3], np.reshape(tip.rotation, (3, 3)), atol=1e-12)


def test_every_kind_of_shape_is_read_in_metres(tmp_path: Path) -> None:
    file = described(tmp_path, "box", "cylinder", "sphere", "near", "package", "lost", "strange")
    read = read_shapes(file, loaded("prismatic_skew"))
    found = [shape.mesh for shape in read.shapes]
    assert read.left_out == ("gripper: package://arm/meshes/none.stl", "gripper: part.step")
    assert len(found) == 5, "files that are not there, or of a kind that nothing reads, are left out"
    volumes = [0.1 * 0.2 * 0.3, np.pi * 0.05**2 * 0.4, *(4 / 3 * np.pi * r**3 for r in (0.1, 0.1, 0.2))]
    for mesh, volume in zip(found, volumes, strict=True):
        assert mesh.volume == pytest.approx(volume, rel=0.06)
        np.testing.assert_allclose(mesh.centroid, [0.0, 0.0, 0.1], atol=1e-3)
    assert max(len(simple(mesh).faces) for mesh in found) <= 80


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    robot = loaded("prismatic_skew")
    with pytest.raises(InputError, match="none of its shapes can be read"):
        read_shapes(described(tmp_path, "lost"), robot)
    with pytest.raises(InputError, match=r"it has no joint .*; prismatic_skew is another robot"):
        read_shapes(find_recipe("double_pendulum").urdf, robot)
    (tmp_path / "no.urdf").write_text("<robot>", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read as a URDF"):
        read_shapes(tmp_path / "no.urdf", robot)
    out = str(tmp_path / "run.csv")
    line = ["simulate", str(generated("prismatic_skew")), "--out", out, "--meshes", str(described(tmp_path, "box"))]
    done = CliRunner().invoke(cli, line)
    assert done.exit_code == 2 and "--meshes is of --view and --movie" in done.output and not Path(out).exists()


def test_quaternions_of_every_turn() -> None:
    rng = np.random.default_rng(1)
    for wanted in (*rng.normal(size=(20, 4)), [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]):
        w, x, y, z = wanted = np.array(wanted, dtype=float) / np.linalg.norm(wanted)
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        found = quaternion(np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross)
        assert abs(found @ wanted) == pytest.approx(1.0, abs=1e-12)


def test_a_movie_of_shapes(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    robot = loaded("prismatic_skew")
    shapes = read_shapes(described(tmp_path, "box", "sphere"), robot)
    time, content = np.linspace(0.0, 0.1, 3), io.BytesIO()
    movie(robot, time, np.linspace(np.zeros(robot.n), np.ones(robot.n), 3), content, title="it", shapes=shapes)
    frames = image.open(content)
    assert frames.n_frames == 3
    frames.seek(0)
    first = np.asarray(frames.convert("RGB"), dtype=int)
    frames.seek(2)
    last = np.asarray(frames.convert("RGB"), dtype=int)
    blue = (first[..., 2] > first[..., 0] + 25) & (first[..., 2] > 90)
    assert blue.sum() > 300, "faces, not lines"
    assert (np.abs(first - last).sum(axis=-1) > 60).sum() > 300, "they move"


def test_the_page_moves_the_shapes(tmp_path: Path) -> None:
    pytest.importorskip("viser")
    from diffpbd.runtime.arms.viewer_page import Page

    robot = loaded("prismatic_skew")
    shapes = read_shapes(described(tmp_path, "box"), robot)
    page = Page(robot, 0, shapes)
    try:
        q = np.full(robot.n, 0.4)
        page.pose(q)
        ((link, mesh),) = page._meshes
        frame = shapes.poses(robot, q)[link]
        np.testing.assert_allclose(mesh.position, frame[:3, 3], atol=1e-6)
        np.testing.assert_allclose(abs(mesh.wxyz @ quaternion(frame[:3, :3])), 1.0, atol=1e-6)
        assert not page._balls
    finally:
        page.server.stop()
