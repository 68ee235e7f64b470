"""The simulated arm's two topics, and its loop in real time."""

from __future__ import annotations

import threading
import time as clock

from diffpbd.runtime.arms.ros2.messages import DdsJointState, Float64MultiArray, joint_state, values_of
from diffpbd.runtime.arms.ros2.node import DEPTH, Node, Sample
from diffpbd.runtime.arms.ros2.simulated.arm import STEP, SimulatedArm
from diffpbd.runtime.arms.ros2.simulated.manager import offer
from diffpbd.runtime.base.latency import RealTime
from diffpbd.runtime.base.priority import punctual

__all__ = ["SimulatedNode"]

QUIET = 0.2
"""s without a command after which the next one is another run's, for which the forward controller is taken for active."""


class SimulatedNode(RealTime):
    """Publishes states, obeys commands; `run` until `stop` is set. Leave it with `close`."""

    def __init__(
        self, arm: SimulatedArm, node: Node, states: str, commands: str, *, rate: int, order: tuple[int, ...]
    ) -> None:
        """`rate` [Hz] of the states; `order`: where the controller's joints are among the arm's."""
        super().__init__()
        self.arm = arm
        self.rate = rate
        self._node = node
        self._order = list(order)
        self._lock = threading.Lock()
        self._parted = float("-inf")
        """Time [s] of the last command of a run whose arm another controller got."""
        self._states = node.write(states, DdsJointState, DEPTH)
        node.read(commands, Float64MultiArray, self._on_command)
        offer(node, commands, tuple(arm.joints[k] for k in order), self._hold)

    def _on_command(self, message: Float64MultiArray, sample: Sample) -> None:
        values = values_of(message)
        if len(values) == len(self._order):
            told = values.copy()
            values[self._order] = told
        with self._lock:
            if sample.received - self._parted < QUIET:
                self._parted = sample.received
            else:
                self.arm.command(values, sample.received)

    def _hold(self) -> None:
        with self._lock:
            self.arm.held = True
            self._parted = clock.monotonic()

    def run(self) -> None:
        """Simulate in real time and publish, until asked to stop."""
        self._node.start()
        with punctual():
            self._loop()

    def _loop(self) -> None:
        due = 0.0
        for now in self.ticks(STEP):
            with self._lock:
                self.arm.advance(now)
            if now >= due:
                due = max(due + 1.0 / self.rate, now - 1.0 / self.rate)
                with self._lock:
                    measured = self.arm.measured()
                self._states.write(joint_state(self.arm.joints, clock.time_ns(), *measured))

    def close(self) -> None:
        """Leave."""
        self.stop.set()
        self._node.close()
