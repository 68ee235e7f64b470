"""One arm of a Baxter on a ROS 1 graph: state by name with age, gated commands, gravity suppression."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.controller import Mode
from diffpbd.runtime.limits import Limits
from diffpbd.runtime.loop.gate import CommandGate
from diffpbd.runtime.loop.guard import POSITION_TOLERANCE
from diffpbd.runtime.ros1 import Node, Receipt
from diffpbd.runtime.ros1.errors import RefusedError
from diffpbd.runtime.ros1.joint_states import JointStateReader, LimbState
from diffpbd.runtime.ros1.messages import (
    AssemblyState,
    Bool,
    Empty,
    Float64,
    JointCommand,
    JointState,
    Message,
    SEAJointState,
    UInt16,
)  # fmt: skip

__all__ = ["ASSEMBLY_TIMEOUT", "DEFAULT_TIMEOUT", "BaxterArm", "Listener", "Robot", "Side"]

Side = Literal["left", "right"]
Listener = Callable[[Message, Receipt], None]

DEFAULT_TIMEOUT = 0.2
"""s without a command after which the robot leaves the commanded mode; the robot's own default."""
ASSEMBLY_TIMEOUT = 0.5
"""s; /robot/state comes at 100 Hz, so this long a silence means that the robot is gone."""
SUPPRESS_LIMIT = 0.1
"""s; half of the 0.2 s after which the robot's own gravity compensation comes back."""


@dataclass(frozen=True)
class Robot:
    """/robot/state and when it came (monotonic [s])."""

    state: AssemblyState
    received: float

    @property
    def trouble(self) -> str:
        """Why this robot cannot move, or empty."""
        if self.state.estop_button not in (0, 3) or (self.state.stopped and self.state.estop_source == 1):
            return "the e-stop is pressed"
        if self.state.stopped:
            return f"the robot is stopped (source {self.state.estop_source})"
        if self.state.error:
            return "the robot reports an error"
        return "" if self.state.enabled else "the robot is disabled"


class BaxterArm:
    """An arm; owns its topics on `node`. Nothing is sent but by `send`, `suppress` and the named requests.

    `listener` gets every message that comes in, for a log; it runs in the reading thread.
    """

    def __init__(
        self,
        side: Side,
        joints: tuple[str, ...],
        limits: Limits,
        node: Node,
        *,
        stale_after: float = 0.1,
        listener: Listener | None = None,
    ) -> None:
        """`joints` and `limits` in the order of the generated robot; `stale_after` [s]: see CommandGate."""
        stray = [joint for joint in joints if not joint.startswith(f"{side}_")]
        if stray:
            raise RefusedError(
                f"The generated robot has joints not of the {side} arm: {', '.join(stray)}. Generate "
                "the robot with that arm alone, or choose the other side."
            )
        self.side = side
        self.joints = joints
        self.limits = limits
        self.node = node
        self.reader = JointStateReader(joints)
        self.stale_after = stale_after
        self._gate = CommandGate(limits, stale_after)
        self._listener = listener
        self.state: LimbState | None = None
        """The last usable message's state; its numbers may be NaN, see `good`."""
        self.good: LimbState | None = None
        """The last state with finite numbers within the limits' tolerance."""
        self.robot: Robot | None = None
        self.trouble = ""
        """The first thing that went wrong with the robot since `clear_trouble`, however short."""
        self.sent = 0
        self._suppressed_at = float("-inf")
        limb = f"/robot/limb/{side}"
        self.command = node.publish(f"{limb}/joint_command", JointCommand)
        self.timeout = node.publish(f"{limb}/joint_command_timeout", Float64, latch=True)
        self.suppress_topic = node.publish(f"{limb}/suppress_gravity_compensation", Empty)
        self.states = node.subscribe("/robot/joint_states", JointState, self._on_joints)
        self.assembly = node.subscribe("/robot/state", AssemblyState, self._on_robot)
        self.gravity_topic = node.subscribe(f"{limb}/gravity_compensation_torques", SEAJointState, self._on_gravity)
        self._enable = node.publish("/robot/set_super_enable", Bool)
        self._rate = node.publish("/robot/joint_state_publish_rate", UInt16, latch=True)

    # What comes in, in the reading thread

    def _on_joints(self, message: JointState, receipt: Receipt) -> None:
        if self._listener is not None:
            self._listener(message, receipt)
        state = self.reader.offer(message, receipt.time, receipt.publisher)
        if self.reader.second_source:
            self._note(f"two sources of the arm's joint states: {self.reader.second_source}")
        if state is None:
            return
        self.state = state
        if state.finite and self._within(state.q):
            self.good = state

    def _within(self, q: FloatArray) -> bool:
        low, high = self.limits.lower - POSITION_TOLERANCE, self.limits.upper + POSITION_TOLERANCE
        return bool(((q >= low) & (q <= high)).all())

    def _on_robot(self, message: AssemblyState, receipt: Receipt) -> None:
        if self._listener is not None:
            self._listener(message, receipt)
        self.robot = Robot(message, receipt.time)
        self._note(self.robot.trouble)

    def _on_gravity(self, message: SEAJointState, receipt: Receipt) -> None:
        if self._listener is not None:
            self._listener(message, receipt)

    def _note(self, trouble: str) -> None:
        if trouble and not self.trouble:
            self.trouble = trouble

    # What the loop asks

    def clear_trouble(self) -> None:
        """Forget what was noted; call it right before arming."""
        self.trouble = ""

    def standing_trouble(self, now: float) -> str:
        """What speaks against moving at monotonic time `now` [s]; empty if nothing does."""
        count = len(self.assembly.publishers)
        if count > 1:
            return f"/robot/state has {count} publishers: more than one robot or simulator is on this graph"
        if self.trouble:
            return self.trouble
        if self.robot is None or now - self.robot.received > ASSEMBLY_TIMEOUT:
            return "/robot/state is silent"
        return self.robot.trouble

    def refused_topics(self) -> list[str]:
        """Publishers whose message type is not the one expected, in words."""
        return [
            f"{topic.topic}: {text}"
            for topic in (self.states, self.assembly, self.gravity_topic)
            for text in list(topic.refusals.values())
        ]

    # What goes out

    def send(self, mode: Mode, values: FloatArray, state: LimbState, *, model_gravity: bool) -> float:
        """Send a command that was made from `state`; the monotonic time [s] after it.

        A RefusedError, and nothing sent, if the gate refuses it, or if it carries the model's gravity while
        the suppress stream is not alive.
        """
        now = clock.monotonic()
        reason = self._gate.refusal(mode, values, state.age(now))
        if model_gravity and now - self._suppressed_at > SUPPRESS_LIMIT:
            reason = reason or (
                f"model gravity, but the last suppress message left {now - self._suppressed_at:.3f} s ago: "
                "the robot's own gravity may be back"
            )
        if reason:
            raise RefusedError(f"Not sent: {reason}.")
        self.command.publish(JointCommand(int(mode), values, self.joints))
        self.sent += 1
        return clock.monotonic()

    def hold(self, state: LimbState) -> None:
        """Position mode at a measured pose, clipped to the limits."""
        self.send(Mode.POSITION, np.clip(state.q, self.limits.lower, self.limits.upper), state, model_gravity=False)

    def suppress(self) -> None:
        """One message of the stream that keeps the robot's own gravity compensation off."""
        self.suppress_topic.publish(Empty())
        self._suppressed_at = clock.monotonic()

    def set_timeout(self, seconds: float = DEFAULT_TIMEOUT) -> None:
        """How long the robot obeys without a new command [s]."""
        self.timeout.publish(Float64(seconds))

    def set_state_rate(self, rate: int) -> None:
        """Ask for joint states at this rate [Hz]."""
        self._rate.publish(UInt16(rate))

    def request_enable(self, on: bool = True) -> None:
        """Ask the robot to enable or disable its motors."""
        self._enable.publish(Bool(on))
