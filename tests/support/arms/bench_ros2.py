"""The bench robot behind the topics of an effort interface: the product's arm, messages as bytes, no middleware, no clock.

As ros2_control's forward controllers do, the robot obeys the last torque until another one comes. Its controller has its
joints in another order than the robot's states.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from support.arms.bench import LATENCY, Bench, BenchArm, gravity, inertial

from diffpbd.runtime.arms.ros2.arm import Ros2Arm
from diffpbd.runtime.arms.ros2.controllers import Answer
from diffpbd.runtime.arms.ros2.messages import (
    DdsJointState,
    Float64MultiArray,
    StdHeader,
    Time,
    states_of,
    torques,
)
from diffpbd.runtime.arms.ros2.said import Said
from diffpbd.runtime.control.gravity import GravityOwner
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.loop.arm import Fault
from diffpbd.runtime.records.messages import JointState


class Handed:
    """A switch of controllers that is done at once."""

    done = True

    def __init__(self, own: str) -> None:
        self.own = own


class BenchLink:
    """The two topics, on the bench's own wire."""

    states, commands, dropped = "/joint_states", "/effort_controller/commands", 0

    def __init__(self, bench: OverRos2, answer: Answer) -> None:
        self._bench = bench
        self._answer = answer
        self.offer: Callable[[JointState, float, str], None] = lambda *_: None
        self.open_ended = True
        self.others: set[str] = set()
        """Listeners to the commands besides the robot: a recorder, a plot."""

    def open(self, listener: Callable[[JointState, float, str], None]) -> None:
        self.offer = listener
        self._bench.advance(0.05)

    def send(self, joints: tuple[str, ...], values: np.ndarray) -> None:
        self._bench.told(torques(joints, values).serialize())

    def hears(self, participant: str) -> bool:
        listeners = {"/robot"} if self._bench.connected else set()
        listeners |= self.others
        return participant in listeners if participant else bool(listeners)

    def answer(self) -> Answer:
        return self._answer

    def hand_over(self, own: str) -> Handed:
        self._bench.hand_over()
        return Handed(own)

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

    def attach(
        self, gravity: Callable[[np.ndarray], np.ndarray], inertial: Callable[..., np.ndarray], said: Said | None = None,
        answer: Answer | None = None,
    ) -> None:  # fmt: skip
        """Once the robot is there; `said` of it on the command line, `answer` of its controller, by default what is so."""
        self.order = tuple(reversed(self.joints))
        self.timeout, self.parted = math.inf, False
        self.link = BenchLink(self, answer or Answer(self.order, "effort", True))
        self.said: list[str] = []
        self.inner = Ros2Arm(
            self.link, self.joints, self.limits, gravity, inertial, said or Said(), clock=self.clock, say=self.said.append
        )  # fmt: skip
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

    def obeyed(self) -> list[tuple[float, np.ndarray]]:
        """Commands to the robot once the first torque, a small part of what holds the arm, was seen to come into
        effect."""
        first = np.abs(self.wired[0][1]).max()
        full = next((k for k, (_, told) in enumerate(self.wired) if np.abs(told).max() > 10.0 * first), 0)
        return self.wired[full:]

    # The robot's side

    def hand_over(self) -> None:
        """Its own controller holds it where it is; what is on its way to the other one is not obeyed."""
        self.parted = True
        self._wire.append((self.time + LATENCY, lambda: self._obey(Mode.POSITION, tuple(self.q))))

    def told(self, data: bytes, factors: tuple[float, ...] | None = None) -> None:
        """A message came; `factors` on its values where the arm is wired otherwise."""
        message = Float64MultiArray.deserialize(data)
        data_of = [
            value * factor for value, factor in zip(message.data, factors or (1.0,) * len(self.order), strict=True)
        ]
        told = tuple(float(data_of[self.order.index(joint)]) for joint in self.joints)
        self.wired.append((self.time, np.array(told)))
        self._wire.append((self.time + LATENCY, lambda: self.parted or self._obey(Mode.TORQUE, told)))

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
        self.attach(gravity, inertial, Said(models=models))
