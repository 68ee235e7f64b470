"""An arm of five joints, a slide among them, with shapes of every kind as `<collision>`."""

from __future__ import annotations

from pathlib import Path

LINK = """<link name="{name}"><inertial><mass value="1"/><origin xyz="0 0 0.1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link>"""
SHAPE = '<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{form}</geometry></collision>'
JOINT = """<joint name="{name}" type="{kind}"><origin xyz="{xyz}" rpy="{rpy}"/><parent link="{parent}"/><child link="{child}"/>
<axis xyz="{axis}"/><limit lower="-2.8" upper="2.8" effort="10" velocity="2"/></joint>"""


def shape(form: str, xyz: str = "0 0 0.15", rpy: str = "0 0 0") -> str:
    return SHAPE.format(form=form, xyz=xyz, rpy=rpy)


URDF = "\n".join([
    '<robot name="shaped">',
    f'<link name="base">{shape("<sphere radius=&quot;0.1&quot;/>".replace("&quot;", chr(34)), "0 0 0")}</link>',
    LINK.format(name="one", shapes=shape('<capsule radius="0.05" length="0.2"/>')),
    LINK.format(name="two", shapes=shape('<box size="0.08 0.1 0.3"/>', rpy="0.1 0 0.3")),
    LINK.format(name="three", shapes=shape('<cylinder radius="0.04" length="0.25"/>', rpy="0 0.4 0")),
    LINK.format(name="slid", shapes=shape('<sphere radius="0.06"/>', "0 0 0.1")),
    LINK.format(name="hand", shapes=shape('<sphere radius="0.05"/>') + shape('<box size="0.1 0.02 0.06"/>', "0 0.02 0.2")),
    JOINT.format(name="a", kind="revolute", xyz="0 0 0.1", rpy="0 0 0", parent="base", child="one", axis="0 0 1"),
    JOINT.format(name="b", kind="revolute", xyz="0 0 0.3", rpy="0.2 0 0", parent="one", child="two", axis="0 1 0"),
    JOINT.format(name="c", kind="revolute", xyz="0 0 0.3", rpy="0 0 1", parent="two", child="three", axis="0.6 0 0.8"),
    JOINT.replace("2.8", "0.2").format(
        name="s", kind="prismatic", xyz="0.1 0 0.1", rpy="0 0 0", parent="three", child="slid", axis="1 0 0"
    ),
    JOINT.format(name="d", kind="revolute", xyz="0 0 0.12", rpy="0 0 0", parent="slid", child="hand", axis="0 1 0"),
    "</robot>",
])  # fmt: skip


def write(folder: Path) -> Path:
    """Its file."""
    path = folder / "shaped.urdf"
    path.write_text(URDF, encoding="utf-8")
    return path
