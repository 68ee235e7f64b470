"""Answers of the controller behind a topic of commands about itself, and the arm's own controller, which gets it back.

A forward controller obeys numbers by their place, so its parameters `joints` and `interface_name` are asked for; the manager
says whether it is active, and which other controllers are loaded.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass

from diffpbd.runtime.arms.ros2.node import Node
from diffpbd.runtime.arms.ros2.service_types import (
    ControllerState,
    Duration,
    GetParametersReply,
    GetParametersRequest,
    ListControllersReply,
    ListControllersRequest,
    SwitchControllerReply,
    SwitchControllerRequest,
    SwitchRequestHumble,
    value_of,
)
from diffpbd.runtime.arms.ros2.services import Client

__all__ = ["Answer", "Controllers", "names_of"]

DISCOVERY = 0.7
"""s in which a node's services become known once its topics are."""
LOOK = 0.02  # s
SWITCH_TIME = 5  # s for a switch of controllers
STRICT = 2
"""All controllers are switched, or none."""
HOLDS = "JointTrajectoryController"
"""End of the type of a controller that holds the measured pose from its activation on."""

Stop = Callable[[], bool]


@dataclass(frozen=True)
class Answer:
    """Answers: the controller's `joints` and `interface`, whether it is `active`, and the arm's `own` controller; each
    None if it was not said. `unasked`: why nothing could be asked."""

    joints: tuple[str, ...] | None = None
    interface: str | None = None
    active: bool | None = None
    own: str | None = None
    unasked: str = ""


def names_of(commands: str) -> tuple[str, str]:
    """The node of the controller that reads a topic, and the node of its manager: /a/b and /a/controller_manager of /a/b/c."""
    controller = "/" + commands.strip("/").rpartition("/")[0]
    return controller, f"{controller.rpartition('/')[0]}/controller_manager"


class Controllers:
    """One controller and its manager; one thread at a time."""

    def __init__(self, node: Node, commands: str, own: str | None) -> None:
        """`own`: the name of the arm's own controller, if it was said."""
        self.controller, manager = names_of(commands)
        self._own = own
        self._parameters = Client(node, f"{self.controller}/get_parameters", GetParametersReply)
        self._list = Client(node, f"{manager}/list_controllers", ListControllersReply)
        self._switch = Client(node, f"{manager}/switch_controller", SwitchControllerReply)
        self._humble = False

    def ask(self, stop: Stop) -> Answer:
        """Ask all of it; takes up to some seconds."""
        end = clock.monotonic() + DISCOVERY
        while not (self._parameters.servers() or stop() or clock.monotonic() > end):
            clock.sleep(LOOK)
        if self._parameters.foreign:
            return Answer(
                unasked="its middleware is not Cyclone DDS, whose services alone can be called (RMW_IMPLEMENTATION="
                "rmw_cyclonedds_cpp on the robot)"
            )
        if not self._parameters.offered:
            return Answer(unasked=f"no node offers {self._parameters.service}")
        joints, interface = self._parameter("joints", stop), self._parameter("interface_name", stop)
        if not isinstance(joints, tuple):
            return Answer(unasked=f"{self.controller} does not tell its parameter joints")
        active, own = self._loaded(joints, stop)
        return Answer(joints, interface if isinstance(interface, str) else None, active, own)

    def _parameter(self, name: str, stop: Stop) -> str | tuple[str, ...] | None:
        reply = self._parameters.call(GetParametersRequest, [name], stop=stop)
        return value_of(reply.values[0]) if reply is not None and len(reply.values) == 1 else None

    def _loaded(self, joints: tuple[str, ...], stop: Stop) -> tuple[bool | None, str | None]:
        """Whether our controller is active, and the arm's own one; None for what is not known."""
        reply = self._list.call(ListControllersRequest, 0, stop=stop)
        if reply is None:
            return None, self._own
        self._humble = any(not isinstance(one, ControllerState) for one in reply.controller)
        states = {one.name: one.state for one in reply.controller}
        ours = states.get(self._name)
        for one in reply.controller:
            moved = {name.partition("/")[0] for name in one.required_command_interfaces}
            if self._own is None and one.type.endswith(HOLDS) and one.state == "inactive" and moved >= set(joints):
                return None if ours is None else ours == "active", one.name
        return None if ours is None else ours == "active", self._own

    @property
    def _name(self) -> str:
        return self.controller.rpartition("/")[2]

    def hand_over(self, own: str, stop: Stop) -> bool:
        """Give the arm to its own controller; whether it has it."""
        on, off, wait = [own], [self._name], Duration(SWITCH_TIME, 0)
        if self._humble:
            reply = self._switch.call(
                SwitchRequestHumble, on, off, [], [], STRICT, False, True, wait, stop=stop, patience=SWITCH_TIME
            )  # fmt: skip
        else:
            reply = self._switch.call(
                SwitchControllerRequest, on, off, STRICT, True, wait, stop=stop, patience=SWITCH_TIME
            )
        return reply is not None and bool(reply.ok)
