"""The messages of a Baxter, as frozen dataclasses with `encode` and `decode`.

Arrays may be empty wherever the definition allows it: check lengths before use. SI units.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.records.definitions import DEFINITIONS
from diffpbd.runtime.records.messages import Message, Stamped, none

__all__ = [
    "AssemblyState", "Bool", "Empty", "EndpointState", "Float64", "JointCommand", "SEAJointState", "UInt16",
]  # fmt: skip

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Empty(Message):
    """A message without content."""

    DEFINITION = DEFINITIONS["std_msgs/Empty"]


@dataclass(frozen=True)
class Bool(Message):
    """A truth value."""

    DEFINITION = DEFINITIONS["std_msgs/Bool"]
    data: bool


@dataclass(frozen=True)
class UInt16(Message):
    """A number from 0 to 65535."""

    DEFINITION = DEFINITIONS["std_msgs/UInt16"]
    data: int


@dataclass(frozen=True)
class Float64(Message):
    """A number."""

    DEFINITION = DEFINITIONS["std_msgs/Float64"]
    data: float


@dataclass(frozen=True, eq=False)
class JointCommand(Message):
    """Mode and one number per joint: [rad], [rad/s] or [N·m] by mode."""

    DEFINITION = DEFINITIONS["baxter_core_msgs/JointCommand"]
    mode: int
    command: FloatArray
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SEAJointState(Stamped):
    """State of a limb from the robot: commanded and actual state, gravity model [N·m]."""

    DEFINITION = DEFINITIONS["baxter_core_msgs/SEAJointState"]
    name: tuple[str, ...] = ()
    commanded_position: FloatArray = field(default_factory=none)
    commanded_velocity: FloatArray = field(default_factory=none)
    commanded_acceleration: FloatArray = field(default_factory=none)
    commanded_effort: FloatArray = field(default_factory=none)
    actual_position: FloatArray = field(default_factory=none)
    actual_velocity: FloatArray = field(default_factory=none)
    actual_effort: FloatArray = field(default_factory=none)
    gravity_model_effort: FloatArray = field(default_factory=none)
    gravity_only: FloatArray = field(default_factory=none)
    hysteresis_model_effort: FloatArray = field(default_factory=none)
    crosstalk_model_effort: FloatArray = field(default_factory=none)
    hyst_state: float = 0.0


@dataclass(frozen=True)
class AssemblyState(Message):
    """Whether the robot is ready, enabled, stopped or in error, and its e-stop."""

    DEFINITION = DEFINITIONS["baxter_core_msgs/AssemblyState"]
    ready: bool
    enabled: bool
    stopped: bool
    error: bool
    estop_button: int = 0
    estop_source: int = 0


@dataclass(frozen=True)
class EndpointState(Stamped):
    """Pose (position [m], quaternion xyzw), twist and wrench of the hand, in the robot's base frame."""

    DEFINITION = DEFINITIONS["baxter_core_msgs/EndpointState"]
    pose: tuple[Vector, tuple[float, float, float, float]]
    twist: tuple[Vector, Vector]
    wrench: tuple[Vector, Vector]
