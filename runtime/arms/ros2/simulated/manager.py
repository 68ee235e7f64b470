"""The services of the simulated arm's controller and of its manager, as ros2_control offers them.

Two controllers are loaded: the one that forwards efforts, which takes the arm with a run's first command, and a trajectory
controller, which holds it where it is.
"""

from __future__ import annotations

from collections.abc import Callable

from diffpbd.runtime.arms.ros2.controllers import names_of
from diffpbd.runtime.arms.ros2.node import Node
from diffpbd.runtime.arms.ros2.service_types import (
    STRING,
    STRINGS,
    ControllerState,
    GetParametersReply,
    GetParametersRequest,
    ListControllersReply,
    ListControllersRequest,
    ParameterValue,
    SwitchControllerReply,
    SwitchControllerRequest,
)
from diffpbd.runtime.arms.ros2.services import serve

__all__ = ["OWN", "offer"]

OWN = "joint_trajectory_controller"
"""The name of the controller that holds the arm."""


def offer(node: Node, commands: str, joints: tuple[str, ...], hold: Callable[[], None]) -> None:
    """Offer the services of the controller that reads `commands`, with its `joints` in its order; `hold` holds the arm."""
    controller, manager = names_of(commands)
    values = {
        "joints": ParameterValue(STRINGS, string_array_value=list(joints)),
        "interface_name": ParameterValue(STRING, string_value="effort"),
    }
    forward = controller.rpartition("/")[2]

    def parameters(request: GetParametersRequest) -> tuple[list[ParameterValue]]:
        known = all(name in values for name in request.names)
        return ([values[name] for name in request.names] if known else [],)

    def loaded(request: ListControllersRequest) -> tuple[list[ControllerState]]:
        return ([
            _state(forward, "active", "forward_command_controller/ForwardCommandController", joints, "effort"),
            _state(OWN, "inactive", f"{OWN}/JointTrajectoryController", joints, "position"),
        ],)  # fmt: skip

    def switch(request: SwitchControllerRequest) -> tuple[bool]:
        if (request.activate_controllers, request.deactivate_controllers) == ([OWN], [forward]):
            hold()
            return (True,)
        return (False,)

    serve(node, f"{controller}/get_parameters", GetParametersRequest, GetParametersReply, parameters)
    serve(node, f"{manager}/list_controllers", ListControllersRequest, ListControllersReply, loaded)
    serve(node, f"{manager}/switch_controller", SwitchControllerRequest, SwitchControllerReply, switch)


def _state(name: str, state: str, kind: str, joints: tuple[str, ...], interface: str) -> ControllerState:
    interfaces = [f"{joint}/{interface}" for joint in joints]
    claimed = interfaces if state == "active" else []
    return ControllerState(name, state, kind, False, 500, claimed, interfaces, [], False, False, [], [], [])
