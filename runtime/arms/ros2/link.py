"""The two topics of an effort interface, and a thread that watches their peers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from cyclonedds.core import DDSException

from diffpbd.runtime.arms.ros2.controllers import Answer, Controllers
from diffpbd.runtime.arms.ros2.messages import DdsJointState, Float64MultiArray, states_of, torques
from diffpbd.runtime.arms.ros2.node import Node, Sample
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.records.messages import JointState

__all__ = ["Handing", "Link", "Listener", "Ros2Link"]

MOST_COMMANDERS = 100
"""That are named; one is enough to end a run."""
WATCH_PERIOD = 0.1  # s between two checks of the peers

Listener = Callable[[JointState, float, str], None]
"""Takes a state, the monotonic time [s] at which it came, and the participant that sent it."""


class Link(Protocol):
    """Interface of an arm's link."""

    states: str
    """The topic of the states."""
    commands: str

    @property
    def dropped(self) -> int:
        """Commands that did not leave."""

    def open(self, listener: Listener) -> None:
        """Begin to read states and to watch the peers."""

    def send(self, joints: tuple[str, ...], values: FloatArray) -> None:
        """Command torques [N·m], in this order of joints."""

    def hears(self, participant: str) -> bool:
        """Whether this participant, or any where it is empty, reads the commands."""

    def commanders(self) -> tuple[str, ...]:
        """Others that write the commands, in words."""

    def seen(self) -> str:
        """A fault of the states' topic in words, or empty."""

    def unfit(self) -> str:
        """Readers of the commands whose quality of service ours does not fit, in words, or empty."""

    def answer(self) -> Answer | None:
        """The controller's answer about itself; None until it is asked."""

    def hand_over(self, own: str) -> Handing:
        """Begin to give the arm to its own controller."""

    def who(self, participant: str) -> str:
        """A participant in words."""

    def close(self) -> None:
        """Leave."""


class Handing(Protocol):
    """A switch of controllers, to the arm's `own` one."""

    own: str

    @property
    def done(self) -> bool | None:
        """Whether the other controller has the arm; None as long as it is not known."""


class _Handing:
    """A switch in a thread of its own: the arm is served meanwhile."""

    def __init__(self, controllers: Controllers, own: str, stop: Callable[[], bool]) -> None:
        self.own = own
        self.done: bool | None = None
        self._call: Callable[[], bool] = lambda: controllers.hand_over(own, stop)
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        try:
            self.done = self._call()
        except DDSException:
            self.done = False


class Ros2Link:
    """Topics on a node that it closes."""

    def __init__(self, node: Node, states: str, commands: str, own: str | None = None) -> None:
        """`own`: the name of the arm's own controller, if it was said."""
        self.states, self.commands = states, commands
        self._node = node
        self._listener: Listener = lambda message, received, participant: None
        self._reader = node.read(states, DdsJointState, self._on_state)
        self._others = node.read(commands, Float64MultiArray, self._on_command)
        self._writer = node.write(commands, Float64MultiArray)
        self._controllers = Controllers(node, commands, own)
        self._answer: Answer | None = None
        self._hearers: frozenset[str] = frozenset()
        self._commanders: dict[str, str] = {}
        self._commanded: dict[str, str] = {}
        """Participants whose commands came, which the robot got, too: they stay, whether or not they are there still."""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="dds watch", daemon=True)

    @property
    def dropped(self) -> int:
        """Commands that did not leave."""
        return self._writer.dropped

    def open(self, listener: Listener) -> None:
        """Begin to read states and to watch the peers."""
        self._listener = listener
        self._node.start()
        self._thread.start()

    def _on_state(self, message: DdsJointState, sample: Sample) -> None:
        self._listener(states_of(message), sample.received, sample.participant)

    def _on_command(self, message: Float64MultiArray, sample: Sample) -> None:
        if sample.participant not in self._commanded and len(self._commanded) < MOST_COMMANDERS:
            self._commanded[sample.participant] = f"{self._node.who(sample.participant)}, whose commands reach the arm"

    def _watch(self) -> None:
        while not self._closing.is_set():
            try:
                self._look()
            except DDSException:  # an end that went while it was looked at
                pass
            self._closing.wait(WATCH_PERIOD)

    def _look(self) -> None:
        self._hearers = self._writer.participants()
        if self._hearers and self._answer is None:
            self._answer = self._controllers.ask(self._closing.is_set)
        others = self._others.participants()
        if others != self._commanders.keys():
            self._commanders = {one: self._commanders.get(one) or self._node.who(one) for one in others}

    def send(self, joints: tuple[str, ...], values: FloatArray) -> None:
        """Command torques [N·m], in this order of joints."""
        self._writer.write(torques(joints, values))

    def hears(self, participant: str) -> bool:
        """Whether this participant, or any where it is empty, reads the commands."""
        return participant in self._hearers if participant else bool(self._hearers)

    def commanders(self) -> tuple[str, ...]:
        """Others that write the commands, in words."""
        return tuple({**self._commanders, **self._commanded}.values())

    def unfit(self) -> str:
        """Readers of the commands whose quality of service ours does not fit, in words, or empty."""
        return "; ".join(self._node.unfit(self._writer))

    def answer(self) -> Answer | None:
        """The controller's answer about itself; None until it is asked."""
        return self._answer

    def hand_over(self, own: str) -> Handing:
        """Begin to give the arm to its own controller."""
        return _Handing(self._controllers, own, self._closing.is_set)

    def who(self, participant: str) -> str:
        """A participant in words."""
        return self._node.who(participant)

    def seen(self) -> str:
        """A fault of the states' topic in words, or empty."""
        types = self._node.types(self.states)
        own = DdsJointState.__idl_typename__.replace(".", "::")
        if not types:
            return f"nobody in domain {self._node.domain} publishes {self.states} (ROS_DOMAIN_ID, the network)"
        if own not in types:
            return f"{self.states} is published as {', '.join(types)}, expected {own}"
        return "; ".join(f"{count} messages: {reason}" for reason, count in self._reader.broken.items())

    def close(self) -> None:
        """Leave."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(1.0)
        self._node.close()
