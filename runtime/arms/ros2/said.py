"""Statements about an arm on the command line, and whether it agrees with what the arm says before the first torque."""

from __future__ import annotations

from dataclasses import dataclass

from diffpbd.runtime.arms.ros2.controllers import Answer
from diffpbd.runtime.base.errors import InputError

__all__ = ["Said", "contradiction", "in_order"]

EFFORT = "effort"


@dataclass(frozen=True, kw_only=True)
class Said:
    """`models`: the commands hold the arm against gravity, not the robot; `order`: the controller's joints, None: it is asked;
    `any_listener`: whoever listens is the robot, not the participant alone that publishes its joint states;
    `allow_mismatch`: run although the arm says otherwise; `release` [s]: how long an arm that is released is served at the
    longest, None: until its own controller has it."""

    models: bool = True
    order: tuple[str, ...] | None = None
    any_listener: bool = False
    allow_mismatch: bool = False
    release: float | None = 0.0


def in_order(joints: tuple[str, ...], order: tuple[str, ...] | None) -> tuple[int, ...]:
    """Where the controller's joints are among ours; an InputError if they are not the same ones."""
    if order is None:
        return tuple(range(len(joints)))
    if sorted(order) != sorted(joints):
        raise InputError(
            f"The controller's joints are {', '.join(order) or 'none'}, expected those of the robot, each once: "
            f"{', '.join(joints)}."
        )
    return tuple(joints.index(joint) for joint in order)


def contradiction(answer: Answer, said: Said, joints: tuple[str, ...], commands: str) -> str:
    """Why the controller's answer forbids to send it anything, or empty."""
    if answer.active is False:
        return f"the controller that reads {commands} is loaded but not active: ros2 control switch_controllers --activate it"
    if answer.interface not in (None, EFFORT):
        return f"the controller that reads {commands} has the interface_name {answer.interface}, expected {EFFORT}"
    if answer.joints is not None:
        if sorted(answer.joints) != sorted(joints):
            return (
                f"the controller that reads {commands} has the joints {', '.join(answer.joints)}, expected those of the robot, "
                f"each once: {', '.join(joints)}"
            )
        if said.order not in (None, answer.joints):
            return (
                f"the controller that reads {commands} has its joints in the order {', '.join(answer.joints)}, "
                "--command-joints says another one: leave it out"
            )
        return ""
    unasked = f"the order of the joints in {commands} cannot be asked ({answer.unasked})"
    if said.order is None:
        return f"{unasked}: say it by --command-joints, as `ros2 param get` of the controller tells it"
    if said.models and not said.allow_mismatch:
        return f"{unasked}, and with --gravity model a wrong one throws the arm: --allow-mismatch takes the one that was said"
    return ""
