"""The messages of ROS 2 that an effort interface speaks, as DDS sees them: names and fields as ROS 2 maps them.

sensor_msgs/JointState comes, std_msgs/Float64MultiArray goes. Topics get the prefix `rt`, types the part `dds_` and a `_` at
their end (design.ros2.org, "Topic and Service name mapping to DDS"). The fields' types are read as they stand here, so no
annotation is put off.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64, int32, sequence, uint32

from diffpbd.runtime.arms.ros2.quick import read_parts
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import MessageError
from diffpbd.runtime.records.messages import Header, JointState

__all__ = ["DdsJointState", "Float64MultiArray", "joint_state", "states_of", "torques", "values_of"]

MOST_JOINTS = 1000
"""Names in a message; more is no robot."""
MOST_SECONDS = 2**31
LABEL = "joints"
"""The first word of a layout's label, before the joints' names in the order of the values."""


@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):  # type: ignore[call-arg, misc]
    """Seconds and nanoseconds."""

    sec: int32
    nanosec: uint32


@dataclass
class StdHeader(IdlStruct, typename="std_msgs::msg::dds_::Header_"):  # type: ignore[call-arg, misc]
    """When, and in which frame."""

    stamp: Time
    frame_id: str


@dataclass
class DdsJointState(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):  # type: ignore[call-arg, misc]
    """Names, positions [rad], velocities [rad/s], efforts [N·m]; each may be empty."""

    header: StdHeader
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]

    @classmethod
    def deserialize(cls, data: bytes, has_header: bool = True, use_version_2: bool | None = None) -> "DdsJointState":
        """The message in some bytes; what is as usual is read by ourselves, in a twentieth of the time."""
        parts = read_parts(data) if has_header and use_version_2 is None else None
        if parts is None:
            found: DdsJointState = super().deserialize(data, has_header, use_version_2)
            return found
        return cls(StdHeader(Time(parts.sec, parts.nanosec), parts.frame), parts.names, *parts.lists)


@dataclass
class MultiArrayDimension(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayDimension_"):  # type: ignore[call-arg, misc]
    """A label, and how many values."""

    label: str
    size: uint32
    stride: uint32


@dataclass
class MultiArrayLayout(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayLayout_"):  # type: ignore[call-arg, misc]
    """Meaning of the values; controllers do not look at it, people do."""

    dim: sequence[MultiArrayDimension]
    data_offset: uint32


@dataclass
class Float64MultiArray(IdlStruct, typename="std_msgs::msg::dds_::Float64MultiArray_"):  # type: ignore[call-arg, misc]
    """Values in the order of the controller's parameter `joints`."""

    layout: MultiArrayLayout
    data: sequence[float64]


def states_of(message: DdsJointState) -> JointState:
    """The state as the robot side has it; a MessageError if it is none."""
    stamp = message.header.stamp
    if len(message.name) > MOST_JOINTS:
        raise MessageError(f"more than {MOST_JOINTS} joints")
    if not (0 <= stamp.sec < MOST_SECONDS and 0 <= stamp.nanosec < 10**9):
        raise MessageError("a stamp that is no time")
    q, dq, effort = (
        np.array(values, dtype=np.float64) for values in (message.position, message.velocity, message.effort)
    )
    header = Header(0, (int(stamp.sec), int(stamp.nanosec)), message.header.frame_id)
    return JointState(header, tuple(message.name), q, dq, effort)


def joint_state(
    names: Sequence[str], nanoseconds: int, q: FloatArray, dq: FloatArray, tau: FloatArray
) -> DdsJointState:
    """A state measured at `nanoseconds` of the system's time."""
    stamp = Time(nanoseconds // 10**9, nanoseconds % 10**9)
    return DdsJointState(StdHeader(stamp, ""), list(names), q.tolist(), dq.tolist(), tau.tolist())


def torques(joints: Sequence[str], values: FloatArray) -> Float64MultiArray:
    """A command, with the joints' names for whoever looks at it."""
    count = len(values)
    label = f"{LABEL}: {' '.join(joints)}"
    return Float64MultiArray(MultiArrayLayout([MultiArrayDimension(label, count, count)], 0), values.tolist())


def values_of(message: Float64MultiArray) -> FloatArray:
    """The values; a MessageError if there are more than any arm has."""
    if len(message.data) > MOST_JOINTS:
        raise MessageError(f"more than {MOST_JOINTS} values")
    return np.array(message.data, dtype=np.float64)
