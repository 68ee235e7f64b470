"""The services of a controller and of its manager, as rmw_cyclonedds writes them; fields' types are read as they stand here.

The manager's differ between releases of ros2_control: those of Jazzy and later, and those of Humble, which begin alike.
"""

from dataclasses import dataclass

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64, int32, int64, sequence, uint8, uint16, uint32, uint64

__all__ = [
    "STRING", "STRINGS", "ControllerState", "GetParametersReply", "GetParametersRequest", "ListControllersReply",
    "ListControllersRequest", "ParameterValue", "SwitchControllerReply", "SwitchControllerRequest",
    "SwitchRequestHumble", "value_of",
]  # fmt: skip

STRING, STRINGS = 4, 9
"""Numbers of parameters' types."""
STATES = {"unconfigured", "inactive", "active", "finalized"}


@dataclass
class ParameterValue(IdlStruct, typename="rcl_interfaces::msg::dds_::ParameterValue_"):  # type: ignore[call-arg, misc]
    """A value of a node's parameter; the others of its fields are empty."""

    type: uint8
    bool_value: bool = False
    integer_value: int64 = 0
    double_value: float64 = 0.0
    string_value: str = ""
    byte_array_value: sequence[uint8] = ()
    bool_array_value: sequence[bool] = ()
    integer_array_value: sequence[int64] = ()
    double_array_value: sequence[float64] = ()
    string_array_value: sequence[str] = ()


def value_of(value: ParameterValue) -> str | tuple[str, ...] | None:
    """A text or texts; None for every other type."""
    if value.type == STRING:
        return value.string_value
    return tuple(value.string_array_value) if value.type == STRINGS else None


@dataclass
class GetParametersRequest(IdlStruct, typename="rcl_interfaces::srv::dds_::GetParameters_Request_"):  # type: ignore[call-arg, misc]
    """Which parameters."""

    guid: uint64
    seq: int64
    names: sequence[str]


@dataclass
class GetParametersReply(IdlStruct, typename="rcl_interfaces::srv::dds_::GetParameters_Response_"):  # type: ignore[call-arg, misc]
    """Their values, in the order of the names; none at all if one is unknown."""

    guid: uint64
    seq: int64
    values: sequence[ParameterValue]


@dataclass
class ListControllersRequest(IdlStruct, typename="controller_manager_msgs::srv::dds_::ListControllers_Request_"):  # type: ignore[call-arg, misc]
    """Nothing; a message has a field at least."""

    guid: uint64
    seq: int64
    structure_needs_at_least_one_member: uint8


@dataclass
class ChainConnection(IdlStruct, typename="controller_manager_msgs::msg::dds_::ChainConnection_"):  # type: ignore[call-arg, misc]
    """Unused."""

    name: str
    reference_interfaces: sequence[str]


@dataclass
class ControllerState(IdlStruct, typename="controller_manager_msgs::msg::dds_::ControllerState_"):  # type: ignore[call-arg, misc]
    """A loaded controller."""

    name: str
    state: str
    type: str
    is_async: bool
    update_rate: uint16
    claimed_interfaces: sequence[str]
    required_command_interfaces: sequence[str]
    required_state_interfaces: sequence[str]
    is_chainable: bool
    is_chained: bool
    exported_state_interfaces: sequence[str]
    reference_interfaces: sequence[str]
    chain_connections: sequence[ChainConnection]


@dataclass
class ControllerStateHumble(IdlStruct, typename="controller_manager_msgs::msg::dds_::ControllerState_"):  # type: ignore[call-arg, misc]
    """A loaded controller."""

    name: str
    state: str
    type: str
    claimed_interfaces: sequence[str]
    required_command_interfaces: sequence[str]
    required_state_interfaces: sequence[str]
    is_chainable: bool
    is_chained: bool
    reference_interfaces: sequence[str]
    chain_connections: sequence[ChainConnection]


@dataclass
class ListControllersReplyHumble(IdlStruct, typename="controller_manager_msgs::srv::dds_::ListControllers_Response_"):  # type: ignore[call-arg, misc]
    """The controllers."""

    guid: uint64
    seq: int64
    controller: sequence[ControllerStateHumble]


@dataclass
class ListControllersReply(IdlStruct, typename="controller_manager_msgs::srv::dds_::ListControllers_Response_"):  # type: ignore[call-arg, misc]
    """The controllers; those of Humble are read, too."""

    guid: uint64
    seq: int64
    controller: sequence[ControllerState]

    @classmethod
    def deserialize(cls, data: bytes, has_header: bool = True, use_version_2: bool | None = None):  # type: ignore[no-untyped-def]
        """The release whose states are words that there are and whose bytes are all read."""
        for read in (super().deserialize, ListControllersReplyHumble.deserialize):
            try:
                found = read(data, has_header, use_version_2)
            except Exception:
                continue
            if all(one.state in STATES for one in found.controller) and len(found.serialize()) == len(data):
                return found
        raise ValueError("controllers of another release")


@dataclass
class Duration(IdlStruct, typename="builtin_interfaces::msg::dds_::Duration_"):  # type: ignore[call-arg, misc]
    """Seconds and nanoseconds."""

    sec: int32
    nanosec: uint32


@dataclass
class SwitchControllerRequest(IdlStruct, typename="controller_manager_msgs::srv::dds_::SwitchController_Request_"):  # type: ignore[call-arg, misc]
    """All of it or nothing, with strictness 2."""

    guid: uint64
    seq: int64
    activate_controllers: sequence[str]
    deactivate_controllers: sequence[str]
    strictness: int32
    activate_asap: bool
    timeout: Duration


@dataclass
class SwitchRequestHumble(IdlStruct, typename="controller_manager_msgs::srv::dds_::SwitchController_Request_"):  # type: ignore[call-arg, misc]
    """With the names that were deprecated then."""

    guid: uint64
    seq: int64
    activate_controllers: sequence[str]
    deactivate_controllers: sequence[str]
    start_controllers: sequence[str]
    stop_controllers: sequence[str]
    strictness: int32
    start_asap: bool
    activate_asap: bool
    timeout: Duration


@dataclass
class SwitchControllerReply(IdlStruct, typename="controller_manager_msgs::srv::dds_::SwitchController_Response_"):  # type: ignore[call-arg, misc]
    """Whether all were switched; later releases add a message, which is not read."""

    guid: uint64
    seq: int64
    ok: bool
