"""Exactly one side compensates gravity.

Baxter adds its own gravity and S1 spring compensation in every control mode, unless an empty message arrives
on its suppress topic faster than 5 Hz. Model gravity on top of that lifts the arm; none at all drops it.
Every wrong combination is refused before the arm moves.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.interface.controller import Mode

__all__ = ["SUPPRESS_RATE_MINIMUM", "GravityOwner", "GravitySettings", "check_gravity"]

SUPPRESS_RATE_MINIMUM = 5.0
"""Hz; a slower suppress stream lets the robot's own compensation come back between two messages."""


class GravityOwner(enum.Enum):
    """Who compensates gravity."""

    ROBOT = "robot"
    """The robot's own compensation stays on; the law's torque at rest on its reference is zero."""
    MODEL = "model"
    """The generated model's gravity is commanded and the robot's compensation is suppressed."""


@dataclass(frozen=True)
class GravitySettings:
    """All settings of gravity compensation, so that a wrong combination can be named."""

    mode: Mode
    add_model_gravity: bool
    suppress_robot: bool
    suppress_rate: float = 0.0
    """Hz; of the suppress stream, 0 if there is none."""
    spring_in_model: bool = False
    """Whether the model carries the S1 springs (alpha spring.stiffness of s1)."""
    without_spring_confirmed: bool = False
    """Whether the user confirmed that the arm has no springs or that the model may leave them out."""


def check_gravity(settings: GravitySettings) -> GravityOwner:
    """Who compensates gravity, or an InputError with every reason why the combination is refused."""
    reasons = []
    suppressing = settings.suppress_robot and settings.suppress_rate > SUPPRESS_RATE_MINIMUM
    if settings.add_model_gravity and settings.mode is not Mode.TORQUE:
        reasons.append(
            f"model gravity is a torque and cannot be added to a command in {settings.mode.name.lower()} mode"
        )
    if settings.add_model_gravity and not settings.suppress_robot:
        reasons.append(
            "gravity would be applied twice: the robot adds its own in every mode; suppress it, or leave the "
            "model's gravity out"
        )
    if settings.suppress_robot and not suppressing:
        reasons.append(
            f"the suppress message must be sent faster than {SUPPRESS_RATE_MINIMUM:g} Hz, found "
            f"{settings.suppress_rate:g} Hz: the robot's own gravity would come back between two messages"
        )
    if settings.suppress_robot and not settings.add_model_gravity:
        reasons.append(
            "gravity would not be compensated: the robot's compensation is suppressed and the model's is not added"
        )
    if settings.suppress_robot and not (settings.spring_in_model or settings.without_spring_confirmed):
        reasons.append(
            "the compensation of the external S1 springs is switched off with the robot's gravity: the model "
            "needs a spring term (alpha spring.stiffness of s1, as identified), or confirm that it may be "
            "left out"
        )
    if reasons:
        raise InputError("Refused before the arm is enabled: " + "; ".join(reasons) + ".")
    return GravityOwner.MODEL if settings.add_model_gravity else GravityOwner.ROBOT
