"""Settings of a run, and the result of a tick."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.options import option
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.reflexes import Breach, ReflexSettings

__all__ = ["Decision", "GravityModel", "Settings"]

GravityModel = Callable[[FloatArray], FloatArray]
"""Torque [N·m] that holds the arm against gravity (and springs) at q [rad]."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run: tick `period` [s], `ramp` [s] over which the law's torque comes in, `patience` [s] of refused
    ticks in a row before the run has to stop, and the thresholds of the reflexes."""

    period: float
    ramp: float = option("Seconds over which the controller's torque is faded in.", 1.0, span=(0.0, 60.0))
    patience: float = 0.07
    reflexes: ReflexSettings = field(default_factory=ReflexSettings)

    def __post_init__(self) -> None:
        if not (0.0 < self.period <= self.patience <= 0.5 and 0.0 <= self.ramp <= 60.0):
            raise InputError(
                f"Settings: expected 0 < period <= patience <= 0.5 s and a ramp from 0 to 60 s, found {self}."
            )


@dataclass(frozen=True, eq=False)
class Decision:
    """The command of a tick: `command` in the controller's mode; `law` and `gravity` [N·m] are its parts in torque
    mode. `breach` is the reason to leave the run, if there is one."""

    status: TickStatus
    mode: Mode
    command: FloatArray
    law: FloatArray
    gravity: FloatArray
    breach: Breach | None = None
    yielding: bool = False
    """Whether the arm yields."""

    @property
    def stop(self) -> str:
        """The reason to leave the run in words, or empty."""
        return "" if self.breach is None else f"{self.breach.reflex.name.lower()}: {self.breach.text}"
