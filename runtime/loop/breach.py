"""Reasons that end a run in motion: the reflexes by name and exit code, and the thresholds that a run may choose."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import option

__all__ = ["Breach", "Reflex", "ReflexSettings"]


class Reflex(enum.IntEnum):
    """The reflex that stopped the run; the value is the exit code of `diffpbd run`."""

    STATE = 20
    """Refused states or outputs for longer than the patience."""
    SPEED = 21
    """A measured speed above the limit."""
    POSITION = 22
    """A joint that could soon not be stopped before its limit."""
    MOTION = 23
    """Measured positions and speeds contradict each other."""
    FROZEN = 24
    """New stamps with values that do not change although they must."""
    TRACKING = 25
    """The arm is far from its law's reference."""
    CONTACT = 26
    """Torque that the model does not explain: contact, payload, another spring."""
    POWER = 27
    """The law puts more power into the arm than allowed."""
    COLLISION = 28
    """The arm comes too near to itself or to a plane."""
    LATENESS = 29
    """Too many missed deadlines."""

    @property
    def may_be_a_person(self) -> bool:
        """Whether the cause may be a person whom the arm touches."""
        return self in (Reflex.CONTACT, Reflex.TRACKING)

    @property
    def distrusts_state(self) -> bool:
        """Whether the states that it saw must not be used."""
        return self in (Reflex.MOTION, Reflex.FROZEN)


@dataclass(frozen=True)
class ReflexSettings:
    """Thresholds that a run may choose.

    `speed` times the limit; `margin` [rad] of the soft position limits; `tracking` [rad]; `contact` as a share of the
    effort limit; `power` [W]. `yielding`: after CONTACT and TRACKING the arm yields
    instead of holding.
    """

    speed: float = 1.1
    """The law's torque fades out at 1.0: above it something else drives the joint. Stops within 1.2."""
    margin: float = 0.02
    """Fifty encoder steps; a joint must not lean on its limit."""
    tracking: float = 0.5
    """A compliant law of 30 N·m/rad yields that far to a hand with 15 N·m."""
    contact: float = option(
        "Share of the effort limits, not explained by the model, at which the run stops.",
        0.3,
        span=(0.0, 1.0),
        open=True,
    )
    """15 N·m at the shoulder: above a hand that leads the arm, below what hurts it."""
    power: float = 80.0
    """W; limit of ISO 10218-1:2006 for the dynamic power of a robot near people."""
    yielding: bool = True
    """A person may be between the arm and something else: a holding arm would clamp them."""

    def __post_init__(self) -> None:
        if not (1.0 <= self.speed <= 1.5 and 0.0 < self.margin < 0.5 and 0.0 < self.tracking <= 3.2):
            raise InputError(
                f"Reflexes: expected a speed from 1 to 1.5, 0 < margin < 0.5 rad and 0 < tracking <= 3.2 rad, found {self}."
            )
        if not (0.0 < self.contact <= 1.0 and 0.0 < self.power <= 1000.0):
            raise InputError(f"Reflexes: expected 0 < contact <= 1 and 0 < power <= 1000 W, found {self}.")


@dataclass(frozen=True)
class Breach:
    """Which reflex, and the figures in words."""

    reflex: Reflex
    text: str
