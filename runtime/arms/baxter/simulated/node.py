"""The simulated robot on a ROS 1 graph, through this project's own client: two nodes, like the robot."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.arms.baxter.simulated.robot import SimulatedBaxter
from diffpbd.runtime.base.latency import RealTime
from diffpbd.runtime.records.messages import Header, JointState, Message, Receipt
from diffpbd.runtime.ros1 import Node
from diffpbd.runtime.ros1.messages import (
    AssemblyState,
    Bool,
    Empty,
    EndpointState,
    Float64,
    JointCommand,
    SEAJointState,
    UInt16,
)

__all__ = ["SimulatedNode", "other_joints"]

ASSEMBLY_RATE, ENDPOINT_RATE, GRIPPER_RATE = 100.0, 100.0, 38.0  # Hz; as the robot's
LOOP = 1e-3  # s
RATE_RANGE = (1, 1000)  # Hz; what the robot takes for joint states


def other_joints(side: str) -> tuple[str, ...]:
    """The joints beside the simulated arm in the robot's joint states; they rest at zero."""
    other = "right" if side == "left" else "left"
    arm = (f"{other}_{joint}" for joint in ("e0", "e1", "s0", "s1", "w0", "w1", "w2"))
    return ("head_nod", "head_pan", *arm, "torso_t0")


def quaternion(rotation: list[list[float]]) -> tuple[float, float, float, float]:
    """A rotation matrix as the message has it, xyzw with w ≥ 0: from its largest component, so at every angle."""
    (a, b, c), (d, e, f), (g, h, i) = rotation
    squares = (1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i, 1.0 + a + e + i)  # 4 x², 4 y², 4 z², 4 w²
    largest = squares.index(max(squares))
    rows = (
        (squares[0], b + d, c + g, h - f), (b + d, squares[1], f + h, c - g), (c + g, f + h, squares[2], d - b),
        (h - f, c - g, d - b, squares[3]),
    )  # fmt: skip
    scale = 0.5 / max(squares) ** 0.5
    scale = -scale if rows[largest][3] < 0.0 else scale
    x, y, z, w = (scale * value for value in rows[largest])
    return x, y, z, w


class SimulatedNode(RealTime):
    """Publishes and obeys on the robot's topics; `run` until `stop` is set. Leave it with `close`."""

    def __init__(self, robot: SimulatedBaxter, *, master: str | None = None, rate: int = 100) -> None:
        """`rate` [Hz] of the arm's joint states until a client asks for another."""
        super().__init__()
        self.robot = robot
        self.rate = rate
        self._lock = threading.Lock()
        self._sequence = 0
        joints = robot.plant.joints
        side = joints[0].split("_")[0]
        names = sorted([*joints, *other_joints(side)])
        self._names = tuple(names)
        self._places = [names.index(joint) for joint in joints]
        self.node = Node("simulated_baxter", master=master)
        self.gripper_node = Node("simulated_baxter_gripper", master=master)
        limb = f"/robot/limb/{side}"
        self._states = self.node.publish("/robot/joint_states", JointState)
        self._assembly = self.node.publish("/robot/state", AssemblyState)
        self._gravity = self.node.publish(f"{limb}/gravity_compensation_torques", SEAJointState)
        self._endpoint = self.node.publish(f"{limb}/endpoint_state", EndpointState)
        self._gripper = self.gripper_node.publish("/robot/joint_states", JointState)
        self._gripper_joint = f"{side}_gripper_l_finger_joint"
        self._on(f"{limb}/joint_command", JointCommand, lambda message, time: robot.command(
            message.mode, message.names, message.command.tolist(), time))  # fmt: skip
        self._on(f"{limb}/joint_command_timeout", Float64, lambda message, _: setattr(robot, "timeout", message.data))
        self._on(f"{limb}/suppress_gravity_compensation", Empty, lambda *_: robot.suppress(clock.monotonic()))
        self._on("/robot/set_super_enable", Bool, lambda message, _: robot.super_enable(message.data))
        self._on("/robot/set_super_reset", Empty, lambda *_: robot.super_reset())
        self._on("/robot/set_super_stop", Empty, lambda *_: robot.super_stop())
        self._on("/robot/joint_state_publish_rate", UInt16, lambda message, _: setattr(
            self, "rate", min(max(message.data, RATE_RANGE[0]), RATE_RANGE[1])))  # fmt: skip

    def _on(self, topic: str, kind: type[Message], action: Callable[[Any, float], object]) -> None:
        """Act on a topic's messages and the times [s] at which they came, one at a time."""

        def act(message: Message, receipt: Receipt) -> None:
            with self._lock:
                action(message, receipt.time)

        self.node.subscribe(topic, kind, act)

    def run(self) -> None:
        """Simulate in real time and publish, until asked to stop."""
        due = {"joints": 0.0, "assembly": 0.0, "endpoint": 0.0, "gripper": 0.0}
        for now in self.ticks(LOOP):
            with self._lock:
                self.robot.advance(now)
            for name, rate, publish in (
                ("joints", self.rate, self._publish_joints),
                ("assembly", ASSEMBLY_RATE, self._publish_assembly),
                ("endpoint", ENDPOINT_RATE, self._publish_endpoint),
                ("gripper", GRIPPER_RATE, self._publish_gripper),
            ):
                if now >= due[name]:
                    due[name] = max(due[name] + 1.0 / rate, now - 1.0 / rate)
                    publish()

    def _header(self) -> Header:
        self._sequence += 1
        nanoseconds = clock.time_ns()
        return Header(self._sequence, (nanoseconds // 1_000_000_000, nanoseconds % 1_000_000_000), "")

    def _publish_joints(self) -> None:
        arrays = [np.zeros(len(self._names)) for _ in range(3)]
        with self._lock:
            measured = self.robot.joints()
        for array, values in zip(arrays, measured, strict=True):
            array[self._places] = values
        self._states.publish(JointState(self._header(), self._names, *arrays))

    def _publish_assembly(self) -> None:
        with self._lock:
            assembly = self.robot.assembly()
            whole, gravity = self.robot.gravity_efforts()
            q, dq, effort = self.robot.joints()
        self._assembly.publish(AssemblyState(*assembly))
        self._gravity.publish(SEAJointState(
            self._header(), self.robot.plant.joints, actual_position=q, actual_velocity=dq,
            actual_effort=effort, gravity_model_effort=whole, gravity_only=gravity,
        ))  # fmt: skip

    def _publish_endpoint(self) -> None:
        """In the frame of the description's root link; the wrench, which this robot does not estimate, is zero."""
        with self._lock:
            position, rotation, velocity, rate = (part.tolist() for part in self.robot.plant.endpoint())
        none = (0.0, 0.0, 0.0)
        self._endpoint.publish(EndpointState(
            self._header(), (tuple(position), quaternion(rotation)), (tuple(velocity), tuple(rate)), (none, none)
        ))  # fmt: skip

    def _publish_gripper(self) -> None:
        self._gripper.publish(JointState(
            self._header(), (self._gripper_joint,), np.array([0.02]), np.zeros(1), np.zeros(1)
        ))  # fmt: skip

    def close(self) -> None:
        """Leave the graph."""
        self.stop.set()
        self.node.close()
        self.gripper_node.close()


def description(urdf: str | Path) -> str:
    """The text for the parameter /robot_description."""
    return Path(urdf).read_text(encoding="utf-8")
