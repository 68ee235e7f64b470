"""Every attribute of URDF: read, harmless, or said. Inside of what it reads, the reader of the document judges words itself."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.description.read.source import DRAKE
from diffpbd.codegen.description.read.unread import Format, words

WHY: Final = "Limits are those of <limit>, and friction and springs of a joint those of <dynamics> and of alpha"
"""End of the warning."""

URDF: Final = Format(
    elements={
        "robot": words("name", "version"),
        "link": words("name", "type"),
        "joint": words("name type"),
        "safety_controller": words("", "", "k_position k_velocity soft_lower_limit soft_upper_limit"),
        "gap_joint": words("", "name", "L0 a b gear_ratio h mechanical_reduction phi0 r screw_reduction t0 theta0"),
        "passive_joint": words("", "", "name"),
        "simulated_actuated_joint": words("", "", "name passive_actuated_joint simulated_reduction"),
        "transmission": words("", "name type"),
    },
    read=frozenset(
        (
            "inertial", "joint/origin", "joint/parent", "joint/child", "axis", "limit", "dynamics", "mimic",
            "collision", "loop_joint",
            "transmission/joint", "transmission/actuator", "mechanicalReduction", "rotor_inertia", "gear_ratio",
        )
    ),
    harmless=frozenset(
        (
            "visual", "calibration", "robot/material", "robot/sensor", "leftActuator", "rightActuator",
            "flexJoint", "rollJoint",
            "use_simulated_gripper_joint",
        )
    ),
    said=frozenset(
        f"gazebo/{tag}" for tag in ("mu", "mu1", "mu2", "springStiffness", "springReference", "turnGravityOff", "gravity")
    ),
    prefix=DRAKE,
)  # fmt: skip
"""All of the schema, and what Gazebo adds that bears on motion."""
