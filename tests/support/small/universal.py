"""Arms of Universal Robots written from the figures that it publishes: Denavit–Hartenberg, masses, centres, limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
ALPHA = (math.pi / 2.0, 0.0, 0.0, math.pi / 2.0, -math.pi / 2.0, 0.0)  # rad


@dataclass(frozen=True)
class Figures:
    """d and a [m], masses [kg] and their centres [m] in the frames of Denavit and Hartenberg, limits [rad, rad/s, N·m].

    `radius` [m] of gyration is a stand-in: what is published has no inertias.
    """

    name: str
    d: tuple[float, ...]
    a: tuple[float, ...]
    mass: tuple[float, ...]
    centre: tuple[tuple[float, float, float], ...]
    limit: tuple[float, ...]
    speed: tuple[float, ...]
    torque: tuple[float, ...]
    radius: float


UR10E = Figures(
    "ur10e", (0.1807, 0.0, 0.0, 0.17415, 0.11985, 0.11655), (0.0, -0.6127, -0.57155, 0.0, 0.0, 0.0),
    (7.369, 13.051, 3.989, 2.1, 1.98, 0.615),
    ((0.021, 0.0, 0.027), (0.38, 0.0, 0.158), (0.24, 0.0, 0.068), (0.0, 0.007, 0.018), (0.0, 0.007, 0.018), (0.0, 0.0, -0.026)),
    (6.2831853, 6.2831853, 3.1415927, 6.2831853, 6.2831853, 6.2831853),
    (2.0943951, 2.0943951, 3.1415927, 3.1415927, 3.1415927, 3.1415927), (330.0, 330.0, 150.0, 56.0, 56.0, 56.0), 0.1,
)  # fmt: skip
UR5E = Figures(
    "ur5e", (0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996), (0.0, -0.425, -0.3922, 0.0, 0.0, 0.0),
    (3.761, 8.058, 2.846, 1.37, 1.3, 0.365),
    ((0.0, -0.02561, 0.00193), (0.2125, 0.0, 0.11336), (0.15, 0.0, 0.0265), (0.0, -0.0018, 0.01634), (0.0, 0.0018, 0.01634),
     (0.0, 0.0, -0.001159)),
    (6.2831853, 6.2831853, 3.1415927, 6.2831853, 6.2831853, 6.2831853), (3.1415927,) * 6,
    (150.0, 150.0, 150.0, 28.0, 28.0, 28.0), 0.06,
)  # fmt: skip


def write(path: Path, figures: Figures) -> Path:
    """The URDF. Turning about z and shifting along it commute, so that a link's frame lies behind the shift, at its body."""
    parts = [f'<robot name="{figures.name}"><link name="base"/>']
    parent, a, alpha = "base", 0.0, 0.0
    for k, joint in enumerate(JOINTS):
        before = (f"{a} {-math.sin(alpha) * figures.d[k]!r} {math.cos(alpha) * figures.d[k]!r}", f"{alpha} 0 0")
        a, alpha = figures.a[k], ALPHA[k]
        pose = (f"{a} 0 0", f"{alpha} 0 0")
        moment = figures.mass[k] * figures.radius**2
        parts.append(
            f'<joint name="{joint}" type="revolute"><origin xyz="{before[0]}" rpy="{before[1]}"/><axis xyz="0 0 1"/>'
            f'<parent link="{parent}"/><child link="{joint}_link"/><limit lower="{-figures.limit[k]}" '
            f'upper="{figures.limit[k]}" velocity="{figures.speed[k]}" effort="{figures.torque[k]}"/></joint>'
            f'<link name="{joint}_link"/>'
        )
        # what is published is in the frame behind the link's own
        parts.append(
            f'<joint name="{joint}_dh" type="fixed"><origin xyz="{pose[0]}" rpy="{pose[1]}"/>'
            f'<parent link="{joint}_link"/><child link="{joint}_body"/></joint><link name="{joint}_body"><inertial>'
            f'<origin xyz="{" ".join(map(str, figures.centre[k]))}"/><mass value="{figures.mass[k]}"/>'
            f'<inertia ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
        parent = f"{joint}_link"
    parts.append("</robot>\n")
    path.write_text("\n".join(parts))
    return path
