"""Meshes in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trimesh

from diffpbd.codegen.description.front.resolve import read_doubted
from diffpbd.codegen.description.recipe.recipe import default_recipe, with_options
from diffpbd.codegen.description.shapes.clearance import ShapeEntry


def angle() -> trimesh.Trimesh:
    """Two beams of 0.6 × 0.1 × 0.1 m at a right angle."""
    one, other = trimesh.creation.box((0.6, 0.1, 0.1)), trimesh.creation.box((0.1, 0.6, 0.1))
    other.apply_translation((0.25, 0.25, 0.0))
    return trimesh.util.concatenate([one, other])


def described(folder: Path, *entries: ShapeEntry) -> Any:
    angle().export(folder / "angle.stl")
    (folder / "arm.urdf").write_text(
        '<robot name="arm"><link name="base"/><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" '
        'ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="0 0 1" rpy="0.5 0 0"/><geometry>'
        '<mesh filename="angle.stl" scale="1 1 2"/></geometry></collision></link><joint name="j" type="continuous">'
        '<parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint></robot>'
    )
    return read_doubted(with_options(default_recipe(folder / "arm.urdf"), clearance=True, shape=entries))
