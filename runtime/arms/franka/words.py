"""Messages of libfranka, in words that tell what to do: modes, error flags and exceptions."""

from __future__ import annotations

import re
from typing import Any

from diffpbd.runtime.loop.arm import DISABLED, Fault
from diffpbd.runtime.loop.stopping import Reason

__all__ = ["READY", "REFLEX", "describe", "fault_of", "flags", "trouble_of"]

READY = ("Idle", "Move")
"""Modes in which the robot obeys."""
REFLEX = "Reflex"
"""The mode after an error, which `recover_from_errors` ends."""
MODES = {
    "Guiding": "the robot is in guiding mode: somebody leads it by hand",
    "UserStopped": "the robot is stopped by its user: release the emergency stop or activate the enabling device",
    "AutomaticErrorRecovery": "the robot is recovering from an error",
    "Other": "the robot is in a mode that takes no commands: unlock its brakes and activate FCI in Desk",
}
ERRORS = {
    "joint_position_limits_violation": "a joint came to its position limit; lead it back by hand",
    "joint_velocity_violation": "a joint was faster than the robot allows at its angle",
    "cartesian_velocity_violation": "the tip was faster than the robot allows",
    "cartesian_position_limits_violation": "the tip left the robot's workspace",
    "self_collision_avoidance_violation": "the arm came too near to itself",
    "joint_reflex": "a joint met more torque than the collision thresholds allow",
    "cartesian_reflex": "the tip met more force than the collision thresholds allow",
    "power_limit_violation": "more power than the robot allows",
    "tau_j_range_violation": "a joint's torque sensor is out of its range",
    "controller_torque_discontinuity": "torque changed by more than 1 N·m in a millisecond",
    "communication_constraints_violation": "too few commands arrived in time; a cable, a real-time kernel and an idle PC help",
    "force_control_safety_violation": "the force control's safety limits were left",
    "instability_detected": "the robot saw an oscillation; lower stiffness or more damping helps",
    "joint_move_in_wrong_direction": "a joint that stands beyond its limit moved further out",
    "base_acceleration_initialization_timeout": "the base's acceleration sensor did not start; restart the robot",
    "base_acceleration_invalid_reading": "the base's acceleration sensor reads what cannot be; is the base bolted down?",
}
"""libfranka's errors that a run can meet; others are called by their own name."""
LINK = ("NetworkException", "ProtocolException")
"""Exceptions after which the connection is gone."""
DEAD = "Net Exception"
"""Text of the plain RuntimeError of reads from a connection that is gone already."""


def flags(errors: Any) -> tuple[str, ...]:
    """The names of the errors that are set; as a text they are a list of them."""
    return tuple(re.findall(r"\w+", str(errors)))


def describe(names: tuple[str, ...]) -> str:
    """Errors by name, with what they mean where a run can meet them."""
    return "; ".join(f"{name} ({ERRORS[name]})" if name in ERRORS else name for name in names)


def trouble_of(mode: str, errors: tuple[str, ...]) -> str:
    """Why a robot in this mode with these errors cannot move, or empty."""
    if mode == REFLEX or (mode in READY and errors):
        return f"{DISABLED} by an error: {describe(errors) or 'it does not say which'}"
    return "" if mode in READY else MODES.get(mode, f"the robot is in mode {mode}")


def fault_of(error: BaseException) -> Fault:
    """Fault of a run that an exception of the driver means."""
    kind, text = type(error).__name__, " ".join(str(error).split())
    if kind in LINK or text == DEAD:
        return Fault(Reason.LOST_ROBOT, f"the connection to the robot is lost ({text})")
    if kind == "TorqueSignalTimeoutException":
        return Fault(Reason.PAUSED, f"the driver had no new torque for too long and ended the motion ({text})")
    found = tuple(name for name in ERRORS if name in text)
    words = f"{describe(found)}; " if found else ""
    return Fault(Reason.ROBOT, f"the robot ended the motion: {words}{kind}: {text}")
