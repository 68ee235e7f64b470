"""The bytes on the wire against CDR written out by hand, and what is no message."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest

from diffpbd.runtime.arms.ros2.messages import (
    DdsJointState,
    Float64MultiArray,
    StdHeader,
    Time,
    joint_state,
    states_of,
    torques,
    values_of,
)
from diffpbd.runtime.arms.ros2.node import domain_of, topic_name
from diffpbd.runtime.arms.ros2.quick import read_parts
from diffpbd.runtime.base.errors import InputError, MessageError


class Cdr:
    """Little-endian CDR, version 1: every number at a multiple of its size."""

    def __init__(self) -> None:
        self.data = b""

    def put(self, form: str, *values: float) -> Cdr:
        size = struct.calcsize(form)
        for value in values:
            self.data += b"\0" * (-len(self.data) % size) + struct.pack("<" + form, value)
        return self

    def text(self, words: str) -> Cdr:
        coded = words.encode() + b"\0"
        self.put("I", len(coded)).data += coded
        return self

    def doubles(self, *values: float) -> Cdr:
        return self.put("I", len(values)).put("d", *values)

    def whole(self) -> bytes:
        return b"\0\1\0\0" + self.data


def unpadded(data: bytes) -> bytes:
    """Without padding at the end, which is the sender's choice, and without its count in the header."""
    return data[:2] + b"\0\0" + data[4:].rstrip(b"\0")


def test_joint_states() -> None:
    by_hand = Cdr().put("i", 12).put("I", 345).text("base").put("I", 2)
    by_hand = by_hand.text("arm_e").text("a").doubles(1.5, -2.0).doubles().doubles(3.0, 4.0)
    message = DdsJointState.deserialize(by_hand.whole())
    state = states_of(message)
    assert state.header.stamp == (12, 345) and state.header.frame_id == "base" and state.name == ("arm_e", "a")
    assert state.position.tolist() == [1.5, -2.0] and len(state.velocity) == 0 and state.effort.tolist() == [3.0, 4.0]
    assert unpadded(message.serialize()) == unpadded(by_hand.whole())
    assert joint_state(("a",), 5 * 10**9 + 7, *np.ones((3, 1))).header.stamp == Time(5, 7)


@pytest.mark.parametrize(
    "names, numbers", [(["left_s0", "b"], 2), ([], 0), (["ä"], 3), (["a"] * 1000, 1000), (["a"], 1001)]
)
def test_what_is_read_at_once_is_what_the_middleware_reads(names: list[str], numbers: int) -> None:
    random = np.random.default_rng(numbers)
    for empty in range(4):
        lists = [[] if k == empty else random.normal(size=numbers).tolist() for k in range(3)]
        whole = DdsJointState(StdHeader(Time(12, 345), "base"), names, *lists).serialize()
        message = DdsJointState.deserialize(whole)
        assert message == DdsJointState.__idl__.deserialize(whole)
        assert (read_parts(whole) is not None) == (numbers <= 1000)
        assert message == DdsJointState.deserialize(whole[:3] + b"\0" + whole[4:])


def test_damaged_bytes_are_read_as_the_middleware_reads_them() -> None:
    whole = bytes(DdsJointState(StdHeader(Time(1, 2), "base"), ["a", "bcd"], [1.0, 2.0], [], [3.0, 4.0]).serialize())
    random = np.random.default_rng(1)

    def read(reader: Callable[[bytes], DdsJointState], data: bytes) -> DdsJointState | None:
        try:
            return reader(data)
        except Exception:
            return None

    cut = [whole[:k] for k in range(4, len(whole))]
    changed = []
    for _ in range(200):
        data = bytearray(whole)
        data[random.integers(4, len(data))] = random.integers(256)
        changed.append(bytes(data))
    for data in cut + changed:
        parts = read_parts(data)
        if parts is not None:
            assert repr(DdsJointState.deserialize(data)) == repr(read(DdsJointState.__idl__.deserialize, data))


def test_a_message_of_torques_has_the_bytes_of_the_standard() -> None:
    values = np.array([1.0, -2.5])
    by_hand = Cdr().put("I", 1).text("joints: b a").put("I", 2, 2, 0).doubles(*values)
    assert unpadded(torques(("b", "a"), values).serialize()) == unpadded(by_hand.whole())
    assert values_of(Float64MultiArray.deserialize(by_hand.whole())).tolist() == values.tolist()


def test_names_are_those_of_ros() -> None:
    assert DdsJointState.__idl_typename__.replace(".", "::") == "sensor_msgs::msg::dds_::JointState_"
    assert Float64MultiArray.__idl_typename__.replace(".", "::") == "std_msgs::msg::dds_::Float64MultiArray_"
    assert topic_name("/joint_states") == topic_name("joint_states") == "rt/joint_states"
    assert topic_name("/arm_1/effort_controller/commands") == "rt/arm_1/effort_controller/commands"
    for wrong in ("", "/", "/a//b", "/1a", "a b", "/a/", "~/a", "/ä", "/a\n"):
        with pytest.raises(InputError, match="expected a name such as /joint_states"):
            topic_name(wrong)


def test_the_domain_is_the_environments() -> None:
    assert domain_of({}) == domain_of({"ROS_DOMAIN_ID": ""}) == 0
    assert domain_of({"ROS_DOMAIN_ID": " 42 "}) == 42 and domain_of({"ROS_DOMAIN_ID": "232"}) == 232
    for wrong in ("233", "-1", "4.0", "a", "²"):
        with pytest.raises(InputError, match="ROS_DOMAIN_ID: expected a whole number"):
            domain_of({"ROS_DOMAIN_ID": wrong})


@pytest.mark.parametrize("stamp", [Time(-1, 0), Time(0, 10**9)])
def test_a_stamp_that_is_no_time(stamp: Time) -> None:
    with pytest.raises(MessageError, match="no time"):
        states_of(DdsJointState(StdHeader(stamp, ""), [], [], [], []))


def test_more_than_a_robot_has() -> None:
    def state(count: int) -> DdsJointState:
        return DdsJointState(StdHeader(Time(1, 0), ""), ["a"] * count, [], [], [])

    assert len(states_of(state(1000)).name) == 1000
    with pytest.raises(MessageError, match="1000 joints"):
        states_of(state(1001))
    with pytest.raises(MessageError, match="1000 values"):
        values_of(torques((), np.zeros(1001)))
