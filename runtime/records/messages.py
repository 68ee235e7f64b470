"""The messages that a run is recorded as, as frozen dataclasses with `encode` and `decode`.

Arrays may be empty wherever the definition allows it: check lengths before use. SI units.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.records.codec import Stamp, decode_values, encode_values
from diffpbd.runtime.records.definitions import DEFINITIONS, Definition

__all__ = ["Header", "JointState", "Message", "Receipt", "Stamped", "String", "Tick", "none"]

Self = TypeVar("Self", bound="Message")


def none() -> FloatArray:
    """No numbers: what an array holds that a message leaves out."""
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
class Stamped(Message):
    """Base of the messages that say when they were measured."""

    header: Header

    def __post_init__(self) -> None:
        if not isinstance(self.header, Header):
            object.__setattr__(self, "header", Header(*self.header))


@dataclass(frozen=True)
class String(Message):
    """A text."""

    DEFINITION = DEFINITIONS["std_msgs/String"]
    data: str


@dataclass(frozen=True, eq=False)
class JointState(Stamped):
    """Joint names, positions [rad], velocities [rad/s], efforts [N·m]; each array may be empty."""

    DEFINITION = DEFINITIONS["sensor_msgs/JointState"]
    name: tuple[str, ...] = ()
    position: FloatArray = field(default_factory=none)
    velocity: FloatArray = field(default_factory=none)
    effort: FloatArray = field(default_factory=none)


@dataclass(frozen=True, eq=False)
class Tick(Stamped):
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
    position: FloatArray = field(default_factory=none)
    velocity: FloatArray = field(default_factory=none)
    effort: FloatArray = field(default_factory=none)
    gravity: FloatArray = field(default_factory=none)
    law: FloatArray = field(default_factory=none)
    command: FloatArray = field(default_factory=none)
    note: str = ""


@dataclass(frozen=True)
class Receipt:
    """Where and when a message came in: publisher, monotonic time [s], and the bytes themselves."""

    topic: str
    publisher: str
    time: float
    data: bytes
