"""A UR10e written from the figures that Universal Robots publishes: Denavit–Hartenberg, masses, centres, limits."""

from __future__ import annotations

import math
from pathlib import Path

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
D = (0.1807, 0.0, 0.0, 0.17415, 0.11985, 0.11655)  # m
A = (0.0, -0.6127, -0.57155, 0.0, 0.0, 0.0)  # m
ALPHA = (1.5707963267948966, 0.0, 0.0, 1.5707963267948966, -1.5707963267948966, 0.0)  # rad
MASS = (7.369, 13.051, 3.989, 2.1, 1.98, 0.615)  # kg
CENTRE = ((0.021, 0.0, 0.027), (0.38, 0.0, 0.158), (0.24, 0.0, 0.068), (0.0, 0.007, 0.018), (0.0, 0.007, 0.018),
          (0.0, 0.0, -0.026))  # fmt: skip
"""[m] In the frames of Denavit and Hartenberg."""
RADIUS = 0.1  # m, of gyration: a stand-in, which only torques depend on; these stay below half of their limits
LIMIT = (6.2831853, 6.2831853, 3.1415927, 6.2831853, 6.2831853, 6.2831853)  # rad
SPEED = (2.0943951, 2.0943951, 3.1415927, 3.1415927, 3.1415927, 3.1415927)  # rad/s
TORQUE = (330.0, 330.0, 150.0, 56.0, 56.0, 56.0)  # N·m


def write(path: Path) -> Path:
    """The URDF. Turning about z and shifting along it commute, so that a link's frame lies behind the shift, at its body."""
    parts = ['<robot name="ur10e"><link name="base"/>']
    parent, a, alpha = "base", 0.0, 0.0
    for k, joint in enumerate(JOINTS):
        before = (f"{a} {-math.sin(alpha) * D[k]!r} {math.cos(alpha) * D[k]!r}", f"{alpha} 0 0")
        a, alpha = A[k], ALPHA[k]
        pose = (f"{a} 0 0", f"{alpha} 0 0")
        moment = MASS[k] * RADIUS**2
        parts.append(
            f'<joint name="{joint}" type="revolute"><origin xyz="{before[0]}" rpy="{before[1]}"/><axis xyz="0 0 1"/>'
            f'<parent link="{parent}"/><child link="{joint}_link"/><limit lower="{-LIMIT[k]}" upper="{LIMIT[k]}" '
            f'velocity="{SPEED[k]}" effort="{TORQUE[k]}"/></joint><link name="{joint}_link"/>'
        )
        # what is published is in the frame behind the link's own
        parts.append(
            f'<joint name="{joint}_dh" type="fixed"><origin xyz="{pose[0]}" rpy="{pose[1]}"/>'
            f'<parent link="{joint}_link"/><child link="{joint}_body"/></joint><link name="{joint}_body"><inertial>'
            f'<origin xyz="{CENTRE[k][0]} {CENTRE[k][1]} {CENTRE[k][2]}"/><mass value="{MASS[k]}"/>'
            f'<inertia ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
        parent = f"{joint}_link"
    parts.append("</robot>\n")
    path.write_text("\n".join(parts))
    return path
