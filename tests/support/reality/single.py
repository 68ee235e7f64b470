"""One bar on a hinge: the smallest arm of the reality bench."""

from __future__ import annotations

from pathlib import Path

ONE = (
    '<robot name="one"><link name="base"/><joint name="turn" type="revolute"><parent link="base"/><child link="bar"/>'
    '<origin xyz="0 0 0"/><axis xyz="{axis}"/><limit lower="-3" upper="3" effort="100" velocity="9"/></joint>'
    '<link name="bar"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>'
    '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
)


def bar(folder: Path, axis: str = "0 0 1") -> str:
    path = folder / "bar.urdf"
    path.write_text(ONE.format(axis=axis))
    return str(path)
