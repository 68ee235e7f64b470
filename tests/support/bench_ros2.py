"""The bench robot behind the topics of an effort interface: the product's arm, messages as bytes, no middleware, no clock.

As ros2_control's forward controllers do, the robot obeys the last torque until another one comes. Its controller has its
joints in another order than the robot's states.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from diffpbd.runtime.arms.ros2.arm import Ros2Arm
from diffpbd.runtime.arms.ros2.messages import (
    DdsJointState,
    Float64MultiArray,
    StdHeader,
    Time,
    states_of,
    torques,
)
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.loop.arm import Fault
from diffpbd.runtime.records.messages import JointState
from support.bench_arm import LATENCY, Bench, BenchArm, gravity, inertial


class BenchLink:
    """The two topics, on the bench's own wire."""

    states, commands, dropped = "/joint_states", "/effort_controller/commands", 0

    def __init__(self, bench: OverRos2) -> None:
        self._bench = bench
        self.offer: Callable[[JointState, float, str], None] = lambda *_: None
        self.open_ended = True
        self.others: set[str] = set()
        """Listeners to the commands besides the robot: a recorder, a plot."""

    def open(self, listener: Callable[[JointState, float, str], None]) -> None:
        self.offer = listener
        self._bench.advance(0.05)

    def send(self, joints: tuple[str, ...], values: np.ndarray) -> None:
        assert joints == self._bench.order
        self._bench.told(torques(joints, values).serialize())

    def hears(self, participant: str) -> bool:
        listeners = {"/robot"} if self._bench.connected else set()
        listeners |= self.others
        return participant in listeners if participant else bool(listeners)

    def unfit(self) -> str:
        return ""

    def commanders(self) -> tuple[str, ...]:
        return self._bench.commanders

    def seen(self) -> str:
        return "" if self._bench.connected else "nobody publishes it"

    def who(self, participant: str) -> str:
        return f"the process of {participant}"

    def close(self) -> None:
        self.open_ended = False


class OverRos2(BenchArm):
    """A bench robot whose loop's side is the product's arm."""

    handed_back = Ros2Arm.handed_back

    def attach(self, holding: Callable[[np.ndarray], np.ndarray], inertial: Callable[..., np.ndarray]) -> None:
        """Once the robot is there."""
        self.order = tuple(reversed(self.joints))
        self.timeout = math.inf
        self.link = BenchLink(self)
        self.inner = Ros2Arm(self.link, self.joints, self.limits, holding, inertial, order=self.order, clock=self.clock)
        self.wired: list[tuple[float, np.ndarray]] = []
        """Times and torques, in the order of the robot's joints, that the robot was told."""

    # The loop's side

    @property
    def state(self) -> LimbState | None:
        return self.inner.state

    @property
    def rejected(self):
        return self.inner.rejected

    def open(self, rate: float) -> None:
        self.inner.open(rate)

    def close(self) -> None:
        self.inner.close()
        self.closed = True

    def missing(self, *, suppressing: bool) -> str:
        return self.inner.missing(suppressing=suppressing)

    def fault(self) -> Fault | None:
        return self.lost or self.inner.fault()

    def others(self) -> tuple[str, ...]:
        return self.inner.others()

    def forget_trouble(self) -> None:
        self.inner.forget_trouble()

    def trouble(self) -> str:
        return self.inner.trouble()

    def unable(self) -> str:
        return self.inner.unable()

    def set_timeout(self, seconds: float | None = None) -> None:
        self.timeouts.append(0.2 if seconds is None else seconds)
        self.inner.set_timeout(seconds)

    def transmit(self, mode: Mode, values: np.ndarray) -> None:
        self.commands.append((self.time, mode, values.copy(), np.array(self.q), np.array(self.dq)))
        if self.in_run():
            self.begun = self.time if self.begun is None else self.begun
            self.last_law = self.time
        self.inner.transmit(mode, values)

    def suppress(self) -> None:
        self.inner.suppress()

    # The robot's side

    def told(self, data: bytes) -> None:
        message = Float64MultiArray.deserialize(data)
        told = tuple(float(message.data[self.order.index(joint)]) for joint in self.joints)
        self.wired.append((self.time, np.array(told)))
        self._wire.append((self.time + LATENCY, lambda: self._obey(Mode.TORQUE, told)))

    def _offer(self, message: JointState, source: str) -> None:
        seconds, nanoseconds = message.header.stamp
        sent = DdsJointState(
            StdHeader(Time(seconds, nanoseconds), ""), list(message.name),
            *(values.tolist() for values in (message.position, message.velocity, message.effort)),
        )  # fmt: skip
        self.link.offer(states_of(DdsJointState.deserialize(sent.serialize())), self.time, source)


class BenchRos2(OverRos2):
    """The double pendulum behind the topics."""

    def __init__(
        self, q: tuple[float, float] = (0.3, 0.9), bench: Bench | None = None, *, rate: float = 100.0,
        owner: GravityOwner = GravityOwner.ROBOT,
    ) -> None:  # fmt: skip
        super().__init__(q, bench, rate=rate)
        models = owner is GravityOwner.MODEL
        self.suppressed = math.inf if models else -math.inf
        self.attach(lambda q: gravity(q) if models else np.zeros(2), inertial)
