"""A sled on a rail that carries a wheel: two joints that know nothing of each other until a payload is off the wheel's axis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from support.robots import generated

from diffpbd.runtime import Robot, load

MASS = 2.5  # kg of both links, which the rail carries
LAWS = ("asymmetric", "stribeck")
URDF = """<robot name="sled">
  <link name="base"/>
  <link name="sled">
    <inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="wheel">
    <inertial><mass value="0.5"/><inertia ixx="0.02" iyy="0.02" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="sled"/><axis xyz="1 0 0"/>
    <limit lower="-50" upper="50" effort="100" velocity="50"/></joint>
  <joint name="hub" type="continuous"><parent link="sled"/><child link="wheel"/><axis xyz="0 0 1"/></joint>
</robot>
"""


def description(folder: Path, text: str = URDF) -> Path:
    """The file in a folder."""
    urdf = folder / "sled.urdf"
    urdf.write_text(text)
    return urdf


def sled(folder: Path, laws: Sequence[str] = LAWS) -> Robot:
    """Generated once; `folder` holds its description."""
    urdf = description(folder)
    return load(
        generated(
            str(urdf),
            friction_law=list(laws),
            variants=["variational_direct", "paper_direct"],
            functions=[
                "joint_step",
                "jac_alpha_joint_step",
                "vjp_step",
                "estimate_torque",
                "joint_step_unrolled",
                "forward_dynamics",
                "torque_terms",
            ],
        )
    )


def law(v: np.ndarray | float, numbers: Sequence[float]) -> np.ndarray:
    """Friction's size against the motion, written once more: c, d, v_t, δ, ε, s, v_s of one joint."""
    c, d, width, delta, epsilon, s, fall = numbers
    side = np.tanh(np.asarray(v) / width)
    return (c + delta * side + s * np.exp(-((np.asarray(v) / fall) ** 2))) * side + (d + epsilon * side) * v


def friction(rail: Sequence[float], hub: Sequence[float] | None = None) -> dict[str, float]:
    """Entries of alpha for the seven numbers of `law` of each joint."""
    kinds = (
        "coulomb", "viscous", "transition_velocity", "coulomb_asymmetry", "viscous_asymmetry", "stribeck", "stribeck_velocity",
    )  # fmt: skip
    both = {"rail": rail} if hub is None else {"rail": rail, "hub": hub}
    return {f"friction.{kind}.{j}": x for j, own in both.items() for kind, x in zip(kinds, own, strict=True)}
