"""Meshes as several capsules: the surface is held, volume falls where that is worth it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from support.made.meshed import angle, described

from diffpbd.codegen.description.geometry.capsules import Capsule
from diffpbd.codegen.description.geometry.mesh_parts import capsules_of, cut
from diffpbd.codegen.description.shapes.clearance import ShapeEntry


def triangles(mesh: trimesh.Trimesh) -> np.ndarray:
    return np.asarray(mesh.vertices)[np.asarray(mesh.faces)]


def outside(points: Any, capsules: list[Capsule]) -> float:
    """How far the furthest point lies outside of all capsules [m]."""
    least = np.full(len(points), np.inf)
    for c in capsules:
        start, way = np.array(c.start), np.array(c.end) - np.array(c.start)
        t = np.clip((points - start) @ way / max(way @ way, 1e-30), 0.0, 1.0)
        least = np.minimum(least, np.linalg.norm(points - start - t[:, None] * way, axis=1) - c.radius)
    return float(least.max())


def test_an_angle_is_two_capsules() -> None:
    mesh = angle()
    one, several = capsules_of(triangles(mesh), 1), capsules_of(triangles(mesh), 4)
    assert sum(c.volume for c in several) < 0.35 * one[0].volume
    assert len(several) <= 4
    points = trimesh.sample.sample_surface(mesh, 5000, seed=1)[0]
    assert outside(points, one) <= 0.0
    assert outside(points, several) <= 1e-12
    assert capsules_of(triangles(mesh), 4) == several


def test_a_ball_stays_one() -> None:
    assert len(capsules_of(triangles(trimesh.creation.icosphere(1, 0.1)), 3)) == 1


def test_a_cut_keeps_the_surface() -> None:
    """Area and corners on either side, with corners and edges on the plane too."""

    def area(found: np.ndarray) -> float:
        a, b, c = found[:, 0], found[:, 1], found[:, 2]
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)

    whole = triangles(trimesh.creation.icosphere(2, 0.1))
    for axis, height in (((0, 0, 1), 0.0), ((0, 0, 1), 0.03), ((0.6, 0, 0.8), -0.02), ((1, 0, 0), 0.1)):
        low, high = cut(whole, np.array(axis, float), height)
        assert area(low) + area(high) == pytest.approx(area(whole), rel=1e-12)
        assert (low @ np.array(axis) <= height + 1e-12).all()
        assert (high @ np.array(axis) >= height - 1e-12).all()


def test_in_a_recipe(tmp_path: Path) -> None:
    robot, doubts = described(tmp_path, ShapeEntry("angle", "a", capsules=3))
    names = [s.name for s in robot.shapes]
    assert names == [f"a.{k + 1}" for k in range(len(names))]
    assert 2 <= len(names) <= 3
    assert any(f"is in {len(names)} capsules of radii" in doubt.message for doubt in doubts)
    placed = triangles(angle()).reshape(-1, 3) * [1, 1, 2]
    c, s = np.cos(0.5), np.sin(0.5)
    placed = placed @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]).T + [0, 0, 1]
    found = []
    for shape in robot.shapes:
        z = np.array(shape.rotation)[:, 2] * shape.halves[0]
        ends = [tuple(np.array(shape.centre) + k * z) for k in (-1, 1)]
        found.append(Capsule(ends[0], ends[1], shape.radius))
    assert outside(placed, found) <= 1e-12
