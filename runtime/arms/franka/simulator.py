"""A simulated robot: `franky-sim` (MuJoCo physics behind libfranka's protocol), with a payload and frictions of one's choice.

It has no reflexes and no joint torque sensors: measured torque is the commanded one with its own gravity compensation.
"""

from __future__ import annotations

import itertools
import sys
import time as clock
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.latency import Latency

__all__ = ["HOSTS", "READY_POSE", "Payload", "Simulation", "serving"]

PERIOD = 1e-3
"""s of physics and of the protocol, a tick."""
CATCH_UP = 0.05
"""s that a pause of the simulator is made up for; what is beyond is left out."""
READY_POSE = (0.0, -0.785398163397, 0.0, -2.35619449019, 0.0, 1.57079632679, 0.785398163397)
"""rad; the pose from which libfranka's own examples start."""
HOSTS = tuple(f"127.0.0.{k}" for k in range(1, 255))
"""Addresses of this machine that are tried in turn."""
PREFIX = "robot0_"
SIDE = 0.02
"""m; half of the side of the cube that a payload counts as."""


@dataclass(frozen=True)
class Payload:
    """A cube of `mass` [kg] whose centre is at `com` [m] in the frame of the hand (its flange, turned by −45°)."""

    mass: float
    com: tuple[float, float, float] = (0.0, 0.0, 0.1034)

    def __post_init__(self) -> None:
        if not 0.0 < self.mass <= 20.0:
            raise InputError(f"A simulated payload has more than 0 and at most 20 kg, found {self.mass:g} kg.")

    def add_to(self, hand: ElementTree.Element) -> None:
        """Weld it to the hand, without a shape: it meets nothing."""
        place = " ".join(map(repr, self.com))
        body = ElementTree.SubElement(hand, "body", name=f"{PREFIX}payload", pos=place)
        moment = repr(self.mass * (2.0 * SIDE) ** 2 / 6.0)
        ElementTree.SubElement(
            body, "inertial", pos="0 0 0", mass=repr(self.mass), diaginertia=f"{moment} {moment} {moment}"
        )


INVALID = 2
"""The protocol's answer to an argument that makes no sense."""


def _refuse_wrong_loads(server: Any) -> None:
    """Answer a load that is no body as a robot does; the server itself would end with the exception of its model."""
    import pinocchio
    from franky_sim.franka_robot_protocol import RobotCommand, SetLoadCommand

    class Checked(SetLoadCommand):  # type: ignore[misc]
        """The command, whose figures are looked at first."""

        def handle(self, server: Any) -> None:
            """Take the load, or say what is wrong with it."""
            com, inertia = np.array(self.F_x_Cload), np.array(self.I_load).reshape(3, 3)
            try:
                if not (self.m_load >= 0.0 and np.isfinite([self.m_load, *com, *inertia.flat]).all()):
                    raise RuntimeError(
                        f"expected a mass of at least 0 and finite figures, found {self.m_load:g} kg at {com} m"
                    )
                pinocchio.Inertia(self.m_load, com, inertia)
            except RuntimeError as error:
                print(f"refused a load: {error}\n{inertia} kg·m²", file=sys.stderr, flush=True)
                self.reply(INVALID)
            else:
                super().handle(server)

    server._FrankaServer__command_class_map[RobotCommand.kSetLoad] = Checked


class Simulation:
    """The server with its robot and physics; `tick` is one millisecond."""

    def __init__(self, server: Any, simulator: Any) -> None:
        self._server = server
        self.simulator = simulator
        self.robot = simulator.robots[0]
        self.ticks = self.skipped = 0
        self.lateness = Latency()

    @property
    def host(self) -> str:
        """Where it answers."""
        return str(self.robot.hostname)

    @property
    def connected(self) -> bool:
        """Whether a program is connected."""
        return bool(self._server.robot_servers[0].tcp_connected)

    @property
    def commanded(self) -> bool:
        """Whether a motion runs."""
        return bool(self._server.robot_servers[0].current_motion_id)

    def tick(self) -> None:
        """Take commands, advance by a millisecond, send the state."""
        self._server.run_once(False)
        self.ticks += 1

    def run(self, ended: Callable[[], bool]) -> None:
        """Tick a thousand times a second until `ended`; short delays are made up for, as a robot's clock does not stop."""
        due = clock.monotonic()
        while not ended():
            now = clock.monotonic()
            if now < due:
                clock.sleep(due - now)
                now = clock.monotonic()
            elif now - due > CATCH_UP:
                self.skipped += int((now - due) / PERIOD)
                due = now
            self.lateness.add(now - due)
            self.tick()
            due += PERIOD


@contextmanager
def serving(
    hosts: Iterable[str] = HOSTS,
    *,
    pose: Sequence[float] = READY_POSE,
    payload: Payload | None = None,
    coulomb: Sequence[float] | None = None,
    viscous: Sequence[float] | None = None,
) -> Iterator[Simulation]:
    """A simulated robot at the first of `hosts` that is free, at rest at `pose` [rad].

    `payload` is what the robot's gravity compensation does not know of; `coulomb` [N·m] and `viscous` [N·m·s/rad] by joint
    replace the frictions of its description.
    """
    from franky_sim import SimulationServer
    from franky_sim.mujoco_simulator import MujocoSimulator

    tried = itertools.islice(iter(hosts), len(HOSTS))
    with MujocoSimulator() as simulator:
        simulator.add_robot(initial_q=tuple(float(angle) for angle in pose))
        if payload is not None:
            hand = simulator.worldbody.find(f".//body[@name='{PREFIX}hand']")
            assert hand is not None
            payload.add_to(hand)
        with _bound(SimulationServer, simulator, tried) as server:
            for name, values in (("dof_frictionloss", coulomb), ("dof_damping", viscous)):
                if values is not None:
                    getattr(simulator.model, name)[_columns(simulator)] = np.asarray(values, dtype=np.float64)
            yield Simulation(server, simulator)


@contextmanager
def _bound(kind: Any, simulator: Any, hosts: Iterable[str]) -> Iterator[Any]:
    server = kind(simulator, hostname_candidates=list(hosts))
    try:
        server.init()
        for each in server.robot_servers:
            _refuse_wrong_loads(each)
    except OSError as error:
        raise InputError(f"The simulated robot has no address to answer at: {error}.") from None
    except RuntimeError as error:
        raise InputError(f"The simulated robot did not start: {error}.") from None
    try:
        yield server
    finally:
        for each in server.robot_servers:
            each.reset_state()  # hangs up; its own clean-up leaves that to the garbage collection
        server.cleanup()


def _columns(simulator: Any) -> list[int]:
    """Where MuJoCo has the arm's joints among its rates."""
    return [int(simulator.model.joint(f"{PREFIX}fr3_joint{k}").dofadr[0]) for k in range(1, 8)]
