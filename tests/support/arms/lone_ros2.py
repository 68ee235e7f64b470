"""A robot on a DDS domain, in a process of its own, that shares no line with the product: its own IDL, its own physics.

    python -m support.arms.lone_ros2 URDF GRAVITY POSE

GRAVITY is `robot` (added to what is told) or `model`; POSE [rad] a JSON list. States come at 250 Hz on rt/joint_states, with
names in the reverse order and a gripper among them; torques are obeyed on rt/effort_controller/commands, in the order w2 to
s0. It speaks by lines: `ready`, `commanded` at the first torque, and an account in JSON once a line comes in or its input ends.
"""

import json
import math
import os
import select
import sys
import time
from dataclasses import dataclass

from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64, int32, int64, sequence, uint8, uint32, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic


@dataclass
class Stamp(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclass
class Head(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Stamp
    frame_id: str


@dataclass
class States(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    header: Head
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]


@dataclass
class Dim(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayDimension_"):
    label: str
    size: uint32
    stride: uint32


@dataclass
class Layout(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayLayout_"):
    dim: sequence[Dim]
    data_offset: uint32


@dataclass
class Torques(IdlStruct, typename="std_msgs::msg::dds_::Float64MultiArray_"):
    layout: Layout
    data: sequence[float64]


@dataclass
class Parameter(IdlStruct, typename="rcl_interfaces::msg::dds_::ParameterValue_"):
    type: uint8
    bool_value: bool
    integer_value: int64
    double_value: float64
    string_value: str
    byte_array_value: sequence[uint8]
    bool_array_value: sequence[bool]
    integer_array_value: sequence[int64]
    double_array_value: sequence[float64]
    string_array_value: sequence[str]


@dataclass
class Asked(IdlStruct, typename="rcl_interfaces::srv::dds_::GetParameters_Request_"):
    guid: uint64
    seq: int64
    names: sequence[str]


@dataclass
class Answered(IdlStruct, typename="rcl_interfaces::srv::dds_::GetParameters_Response_"):
    guid: uint64
    seq: int64
    values: sequence[Parameter]


@dataclass
class Imu(IdlStruct, typename="sensor_msgs::msg::dds_::Imu_"):
    """Another message's name."""

    text: str


# rclcpp::SystemDefaultsQoS, as joint_state_broadcaster and forward_command_controller ask for: reliable, volatile
QOS = Qos(Policy.Reliability.Reliable(100_000_000), Policy.Durability.Volatile, Policy.History.KeepLast(10))
STATE_PERIOD = 0.004


class Parameters:
    """The controller's service, by which a caller learns the order of its joints."""

    NAME = "effort_controller/get_parameters"

    def __init__(self, participant: DomainParticipant, joints: list[str]) -> None:
        self.reader = DataReader(participant, Topic(participant, f"rq/{self.NAME}Request", Asked), qos=QOS)
        self.writer = DataWriter(participant, Topic(participant, f"rr/{self.NAME}Reply", Answered), qos=QOS)
        self.values = {
            "joints": Parameter(9, False, 0, 0.0, "", [], [], [], [], joints),
            "interface_name": Parameter(4, False, 0, 0.0, "effort", [], [], [], [], []),
        }

    def answer(self) -> None:
        for asked in self.reader.take(10):
            if asked.sample_info.valid_data:
                values = [self.values[name] for name in asked.names]
                self.writer.write(Answered(asked.guid, asked.seq, values))


def main() -> None:
    from support.arms.lone_baxter import EFFORT, LoneBaxter

    urdf, gravity, pose, *more = sys.argv[1:]
    period = float(more[0]) if more else STATE_PERIOD
    robot = LoneBaxter(urdf, time.monotonic())
    robot._sprung[:] = 0.0
    robot.place(json.loads(pose))
    robot.enable(True)
    robot.timeout = math.inf
    participant = DomainParticipant(int(os.environ["ROS_DOMAIN_ID"]))
    writer = DataWriter(participant, Topic(participant, "rt/joint_states", States), qos=QOS)
    reader = DataReader(participant, Topic(participant, "rt/effort_controller/commands", Torques), qos=QOS)
    parameters = Parameters(participant, list(reversed(robot.joints)))
    names = [*reversed(robot.joints), "gripper"]
    account = {"wrong_length": 0, "label": "", "rate": 0.0}
    before: tuple[float, list[float]] | None = None
    print("ready", flush=True)
    due = time.monotonic()
    while not select.select([sys.stdin], [], [], 0)[0]:
        now = time.monotonic()
        parameters.answer()
        for message in reader.take(10):
            if not message.sample_info.valid_data:
                continue
            if len(message.data) != 7:
                account["wrong_length"] += 1
                continue
            told = [message.data[6 - k] for k in range(7)]
            account["label"] = message.layout.dim[0].label if message.layout.dim else ""
            if before is None:
                print("commanded", flush=True)
            sent = message.sample_info.source_timestamp * 1e-9
            held = before is not None and max(abs(b) / e for b, e in zip(before[1], robot.effort, strict=True)) > 0.01
            if held and sent > before[0]:
                step = max(abs(a - b) / e for a, b, e in zip(told, before[1], robot.effort, strict=True))
                account["rate"] = max(account["rate"], step)
            before = sent, told
            robot.command(EFFORT, robot.joints, told, now)
        if gravity == "model":
            robot.suppress(now)
        robot.advance(now)
        q, dq, effort = robot.measured()
        stamp = time.time_ns()
        writer.write(States(
            Head(Stamp(stamp // 10**9, stamp % 10**9), "base"), names, [*q[::-1], 0.01], [*dq[::-1], 0.0], [*effort[::-1], 0.0]
        ))  # fmt: skip
        due = max(due + period, now)
        time.sleep(max(0.0, due - time.monotonic()))
    left = before[1] if before else []
    print(json.dumps({**account, **robot.account, "q": robot.q.tolist(), "dq": robot.dq.tolist(), "left": left,
                      "gravity": robot.gravity().tolist()}), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
