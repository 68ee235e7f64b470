"""The messages that a Baxter speaks, as frozen dataclasses with `encode` and `decode`.

Arrays may be empty wherever the definition allows it: check lengths before use. SI units.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.ros1.codec import Stamp, decode_values, encode_values
from diffpbd.runtime.ros1.definitions import DEFINITIONS, Definition

__all__ = [
    "AssemblyState", "Bool", "Empty", "EndpointState", "Float64", "Header", "JointCommand", "JointState",
    "Message", "SEAJointState", "String", "Tick", "UInt16",
]  # fmt: skip

Vector = tuple[float, float, float]
Self = TypeVar("Self", bound="Message")


def _none() -> FloatArray:
    return np.empty(0)


class Message:
    """Base of the messages: field order in the class is that of the definition."""

    DEFINITION: ClassVar[Definition]

    def encode(self) -> bytes:
        """The serialized message, without the length that TCPROS puts in front."""
        return encode_values(self.DEFINITION, [_plain(value) for value in vars(self).values()])

    @classmethod
    def decode(cls: type[Self], data: bytes) -> Self:
        """The message in `data`; a MessageError if they are not exactly one."""
        return cls(*decode_values(cls.DEFINITION, data))


def _plain(value: Any) -> Any:
    return (value.seq, value.stamp, value.frame_id) if isinstance(value, Header) else value


@dataclass(frozen=True)
class Header:
    """Sequence number, time of measurement (seconds, nanoseconds), frame."""

    seq: int = 0
    stamp: Stamp = (0, 0)
    frame_id: str = ""

    @property
    def time(self) -> float:
        """The stamp [s]."""
        return self.stamp[0] + 1e-9 * self.stamp[1]


@dataclass(frozen=True)
class _Stamped(Message):
    header: Header

    def __post_init__(self) -> None:
        if not isinstance(self.header, Header):
            object.__setattr__(self, "header", Header(*self.header))


@dataclass(frozen=True)
class Empty(Message):
    """No content; its arrival is the message."""

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


@dataclass(frozen=True)
class String(Message):
    """A text."""

    DEFINITION = DEFINITIONS["std_msgs/String"]
    data: str


@dataclass(frozen=True, eq=False)
class JointState(_Stamped):
    """Joint names, positions [rad], velocities [rad/s], efforts [N·m]; each array may be empty."""

    DEFINITION = DEFINITIONS["sensor_msgs/JointState"]
    name: tuple[str, ...] = ()
    position: FloatArray = field(default_factory=_none)
    velocity: FloatArray = field(default_factory=_none)
    effort: FloatArray = field(default_factory=_none)


@dataclass(frozen=True, eq=False)
class JointCommand(Message):
    """Mode and one number a joint: [rad], [rad/s] or [N·m] by mode."""

    DEFINITION = DEFINITIONS["baxter_core_msgs/JointCommand"]
    mode: int
    command: FloatArray
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SEAJointState(_Stamped):
    """The robot's own account of a limb: commanded and actual state, gravity model [N·m]."""

    DEFINITION = DEFINITIONS["baxter_core_msgs/SEAJointState"]
    name: tuple[str, ...] = ()
    commanded_position: FloatArray = field(default_factory=_none)
    commanded_velocity: FloatArray = field(default_factory=_none)
    commanded_acceleration: FloatArray = field(default_factory=_none)
    commanded_effort: FloatArray = field(default_factory=_none)
    actual_position: FloatArray = field(default_factory=_none)
    actual_velocity: FloatArray = field(default_factory=_none)
    actual_effort: FloatArray = field(default_factory=_none)
    gravity_model_effort: FloatArray = field(default_factory=_none)
    gravity_only: FloatArray = field(default_factory=_none)
    hysteresis_model_effort: FloatArray = field(default_factory=_none)
    crosstalk_model_effort: FloatArray = field(default_factory=_none)
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
class EndpointState(_Stamped):
    """Pose (position [m], quaternion xyzw), twist and wrench of the hand, in the robot's base frame."""

    DEFINITION = DEFINITIONS["baxter_core_msgs/EndpointState"]
    pose: tuple[Vector, tuple[float, float, float, float]]
    twist: tuple[Vector, Vector]
    wrench: tuple[Vector, Vector]


@dataclass(frozen=True, eq=False)
class Tick(_Stamped):
    """One control tick in a log: what the controller saw, its law's torque, and what was sent.

    `time` [s] since the loop's start, `age` [s] of the state, angles [rad], rates [rad/s], torques [N·m];
    `status` is a `TickStatus`, `mode` and `command` are those of the JointCommand, mode 0 if none was sent.
    """

    DEFINITION = DEFINITIONS["diffpbd_msgs/Tick"]
    time: float = 0.0
    age: float = 0.0
    mode: int = 0
    status: int = 0
    name: tuple[str, ...] = ()
    position: FloatArray = field(default_factory=_none)
    velocity: FloatArray = field(default_factory=_none)
    effort: FloatArray = field(default_factory=_none)
    gravity: FloatArray = field(default_factory=_none)
    law: FloatArray = field(default_factory=_none)
    command: FloatArray = field(default_factory=_none)
    note: str = ""
