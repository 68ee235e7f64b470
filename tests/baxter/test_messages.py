"""Codecs: bytes and md5 sums as genpy has them, empty arrays, and bytes that are no message."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diffpbd.runtime.base.errors import MessageError
from diffpbd.runtime.records import messages as r
from diffpbd.runtime.records.definitions import DEFINITIONS
from diffpbd.runtime.ros1 import messages as m

# As in the robot's own documentation and in ROS.
MD5 = {
    "baxter_core_msgs/JointCommand": "19bfec8434dd568ab3c633d187c36f2e",
    "baxter_core_msgs/SEAJointState": "d36406dcbb6d860b1b39c4e28f81352b",
    "baxter_core_msgs/AssemblyState": "356d9dd237ce73b2667da9235f541933",
    "baxter_core_msgs/EndpointState": "44bea01d596ff699fa1447bec34167ac",
    "sensor_msgs/JointState": "3066dcd76a6cfaef579bd0f34173e9fd",
    "std_msgs/Header": "2176decaecbce78abc3b96ef049fabed",
    "std_msgs/Empty": "d41d8cd98f00b204e9800998ecf8427e",
    "std_msgs/Bool": "8b94c1b53db61fb6aed406028ad6332a",
    "std_msgs/Float64": "fdb28210bfa9d7c91146260178d9a584",
    "std_msgs/UInt16": "1df79edf208b629fe6b81923a544552d",
}

HEADER = r.Header(7, (1700000000, 123456789), "base")
NUMBERS = np.array([0.5, -1.25, np.nan, np.inf])
NAMES = ("left_s0", "left_é1", "", "w")
EXAMPLES = [
    m.Empty(), m.Bool(True), m.UInt16(1000), m.Float64(0.2), r.String("äb"),
    r.JointState(HEADER, NAMES, NUMBERS, NUMBERS[:0], -NUMBERS),
    r.JointState(HEADER),
    m.JointCommand(3, NUMBERS, NAMES),
    m.JointCommand(1, np.empty(0), ()),
    m.SEAJointState(HEADER, NAMES, actual_effort=NUMBERS, hyst_state=1.5),
    m.AssemblyState(True, False, True, False, 1, 3),
    m.EndpointState(HEADER, ((1.0, 2.0, 3.0), (0.0, 0.0, 0.6, 0.8)), ((1.0,) * 3, (2.0,) * 3),
                    ((3.0,) * 3, (4.0,) * 3)),
]  # fmt: skip


@pytest.mark.parametrize("name", MD5)
def test_md5_sums_are_those_of_ros(name: str) -> None:
    assert DEFINITIONS[name].md5 == MD5[name]


@pytest.mark.parametrize("message", EXAMPLES, ids=lambda message: type(message).__name__)
def test_round_trip_keeps_every_bit(message: r.Message) -> None:
    data = message.encode()
    back = type(message).decode(data)
    assert back.encode() == data
    for name, value in vars(message).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(back, name), value)
        else:
            assert getattr(back, name) == value


GENPY = """
import json, sys
sys.path += ["/usr/lib/python3/dist-packages"]
import importlib, io
answers = []
for name, text in json.load(sys.stdin):
    package, kind = name.split("/")
    message = getattr(importlib.import_module(package + ".msg"), kind)()
    message.deserialize(bytes.fromhex(text))
    out = io.BytesIO()
    message.serialize(out)
    answers.append([message._md5sum, message._full_text, out.getvalue().hex()])
json.dump(answers, sys.stdout)
"""


def test_genpy_reads_the_same_bytes(genpy_messages: Path) -> None:
    requests = [[message.DEFINITION.name, message.encode().hex()] for message in EXAMPLES]
    done = subprocess.run(
        ["/usr/bin/python3", "-c", GENPY], input=json.dumps(requests), capture_output=True, text=True,
        check=True, env={"PYTHONPATH": str(genpy_messages)},
    )  # fmt: skip
    for message, request, answer in zip(EXAMPLES, requests, json.loads(done.stdout), strict=True):
        assert answer[0] == message.DEFINITION.md5
        assert answer[2] == request[1]


@given(st.sampled_from(EXAMPLES), st.data())
def test_damaged_bytes_are_refused_or_read_but_never_crash(message: r.Message, data: st.DataObject) -> None:
    raw = bytearray(message.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(0, len(raw)))]
    try:
        type(message).decode(bytes(raw))
    except MessageError:
        pass


def test_a_length_beyond_the_message_is_refused_without_memory() -> None:
    with pytest.raises(MessageError, match="reaches byte"):
        m.JointCommand.decode(b"\3\0\0\0\xff\xff\xff\xff")
    with pytest.raises(MessageError, match="bytes are left"):
        m.Bool.decode(b"\1\1")
    with pytest.raises(MessageError, match="cannot hold"):
        m.UInt16(70000).encode()
