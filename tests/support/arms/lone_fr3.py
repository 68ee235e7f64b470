"""A simulated FR3 in this process, whose milliseconds pass when the loop sleeps: driver and physics in lock-step.

The driver is the real one, over the loopback interface; every state that it gets is answered before the next is made, so a run
is as quick as the machine and hangs on no clock.
"""

from __future__ import annotations

import contextlib
import select
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from diffpbd.runtime.arms.franka.arm import FrankaArm
from diffpbd.runtime.arms.franka.connection import connect
from diffpbd.runtime.arms.franka.load import mounted, with_payload
from diffpbd.runtime.arms.franka.model import flange_to_tip
from diffpbd.runtime.arms.franka.simulator import PERIOD, Simulation, serving
from diffpbd.runtime.loop.configuration import limits_of
from diffpbd.runtime.model.limits import Limits
from diffpbd.runtime.model.robot import Robot

ANSWER, STEADY = 0.02, 0.5
"""s for the driver to answer a state: while a motion begins or ends it answers none, and one that has answered the last one is
waited for, whatever else the machine does."""
READ = 2e-4
"""s for the reading thread to take a state that nobody answers."""
AWAKE = 0.1
"""s of the machine's clock without a new state after which the last one is sent again: libfranka drops what it knows already,
but gives a robot up after a second without any."""


class LockStep:
    """The loop's clock, and the record of what the robot was commanded in every millisecond."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.server = simulation._server.robot_servers[0]
        self.torques: list[np.ndarray] = []
        self.positions: list[np.ndarray] = []
        self.before: Callable[[], None] = lambda: None
        """Called before every millisecond."""
        self.frozen = False
        """Whether time passes without the robot."""
        self._extra = 0
        self._answered = False
        self._asked = np.zeros(7)
        self._control = simulation.robot.torque_control
        simulation.robot.torque_control = self._seen
        self._packed = b""
        """The last state, as it was sent."""
        self._pack = self.server._get_state_bytes
        self.server._get_state_bytes = self._remembered
        self._end = threading.Event()
        self._keeper = threading.Thread(target=self._keep_awake, daemon=True)
        self._keeper.start()

    def _remembered(self) -> bytes:
        self._packed = self._pack()
        return self._packed

    def close(self) -> None:
        """The robot may fall silent."""
        self._end.set()
        self._keeper.join()

    def _keep_awake(self) -> None:
        """However long the loop takes for a tick, the driver goes on waiting for it."""
        before, server = -1, self.server
        while not self._end.wait(AWAKE):
            ticks, socket = self.simulation.ticks, server._FrankaServer__udp_socket
            number = server._FrankaServer__message_id
            if ticks == before and number and not self.frozen:
                header = struct.pack(f"<{server._FrankaServer__state_message_id_type_struct}", number - 1)
                there = server._FrankaServer__client_address, server._FrankaServer__client_udp_port
                with contextlib.suppress(AttributeError, OSError, TypeError):  # it has hung up meanwhile
                    socket.sendto(header + self._packed, there)
            before = ticks

    def _seen(self, torques: np.ndarray, has_new_command: bool = True) -> None:
        """Note what the robot is asked for, without its own gravity compensation."""
        self._asked = np.array(torques, dtype=np.float64)
        self._control(torques, has_new_command)

    def now(self) -> float:
        return 1000.0 + PERIOD * (self.simulation.ticks + self._extra)

    def sleep(self, seconds: float) -> None:
        for _ in range(max(1, round(seconds / PERIOD))):
            self.before()
            if self.frozen:
                self._extra += 1
            else:
                self.tick()

    def tick(self) -> None:
        self.simulation.tick()
        if self.simulation.commanded:
            patience = STEADY if self._answered else ANSWER
            self._answered = bool(select.select([self.server._FrankaServer__udp_socket], [], [], patience)[0])
        else:
            self._answered = False
            time.sleep(READ)
        self.torques.append(self._asked if self.simulation.commanded else np.full(7, np.nan))
        self.positions.append(np.array(self.simulation.robot.inner_state.q))


@contextlib.contextmanager
def ticking(simulation: Simulation) -> Iterator[None]:
    """The robot lives by itself in this context, as while a driver connects."""
    end = threading.Event()
    thread = threading.Thread(target=simulation.run, args=(end.is_set,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


class Lone:
    """One robot, its driver, and arms on it."""

    def __init__(self, simulation: Simulation, robot: Robot) -> None:
        self.simulation, self.robot = simulation, robot
        self.clock = LockStep(simulation)
        with ticking(simulation):
            self.driver = connect(simulation.host)
            state = self.driver.state
            rotation, place = flange_to_tip(self.driver, robot, robot.alpha.defaults, np.array(state.q))
        self.alpha = with_payload(robot, robot.alpha.defaults, mounted(state).seen(rotation.T, -rotation.T @ place))

    def arm(self, limits: Limits | None = None, wrapped: Any = None, **options: Any) -> FrankaArm:
        """A new arm on the connection; `wrapped` stands in for the driver."""
        arm = FrankaArm(
            wrapped or self.driver, self.simulation.host, self.robot.joints, limits or limits_of(self.robot),
            clock=self.clock, **options,
        )  # fmt: skip
        arm._driver._taken = lambda: self._taken(arm._driver._turn)
        close = arm.close

        def closed() -> None:
            with ticking(self.simulation):  # the reading thread waits for one more state
                close()

        arm.close = closed
        return arm

    def settle(self) -> None:
        """Whatever a run has left behind in the driver ends."""
        end = time.monotonic() + 5.0
        with ticking(self.simulation):
            while time.monotonic() < end:
                with contextlib.suppress(Exception):
                    if self.driver.poll_motion():
                        return
                time.sleep(0.01)

    def _taken(self, lock: threading.Lock) -> bool:
        """Whoever holds the lock waits for the next state: the loop's own thread has to make it."""
        while not lock.acquire(timeout=READ):
            self.clock.tick()
        return True


@contextlib.contextmanager
def lone(robot: Robot, **options: Any) -> Iterator[Lone]:
    with serving(**options) as simulation:
        found = Lone(simulation, robot)
        try:
            yield found
        finally:
            found.clock.close()
