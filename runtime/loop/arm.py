"""Interface of an arm: another arm is a folder under `arms/` with one class that implements it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.interface.controller import Mode
from diffpbd.runtime.interface.limb_state import LimbState
from diffpbd.runtime.loop.stopping import Reason
from diffpbd.runtime.model.limits import Limits

__all__ = ["DISABLED", "OWN_TIMEOUT", "Arm", "Clock", "Fault", "SystemClock"]

DISABLED = "the robot is disabled"
"""Begin of the answer of `Arm.unable` if `Arm.request_enable` would help."""
OWN_TIMEOUT = "nothing more was sent after {}: the robot's own timeout makes it hold"
"""How an arm with a command timeout was handed back; {}: what came before."""


class Clock(Protocol):
    """The time base of states and commands [s]; a simulated arm brings its own."""

    def now(self) -> float:
        """Monotonic time [s]."""

    def sleep(self, seconds: float) -> None:
        """Let time pass."""


class SystemClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        """Monotonic time [s]."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)


@dataclass(frozen=True)
class Fault:
    """Why a run cannot continue, in words and by kind."""

    reason: Reason
    text: str


class Arm(Protocol):
    """An arm behind some link. Only `transmit`, `suppress` and the requests below send anything.

    `joints` and `limits` are in the order of the generated robot; a state older than `stale_after` [s] is
    ignored; `handed_back` describes how an arm is handed back by a short `set_timeout`, {} for what came before.
    """

    handed_back: str

    joints: tuple[str, ...]
    limits: Limits
    stale_after: float
    clock: Clock

    @property
    def state(self) -> LimbState | None:
        """The newest state that names every joint; its numbers are not checked."""

    @property
    def rejected(self) -> Counter[str]:
        """State messages that could not be used, by reason."""

    @property
    def dropped(self) -> int:
        """Commands that a newer one replaced because the link was full."""

    def open(self, rate: float) -> None:
        """Connect and request states at `rate` [Hz]; no motor command."""

    def close(self) -> None:
        """Disconnect; never blocks for long."""

    def missing(self, *, suppressing: bool) -> str:
        """Which connections are still missing, in words; `suppressing`: the model will compensate gravity."""

    def fault(self) -> Fault | None:
        """The fault of the link, if it has one."""

    def others(self) -> tuple[str, ...]:
        """Other programs that command this arm."""

    def forget_trouble(self) -> None:
        """Forget past faults that `trouble` reports."""

    def trouble(self) -> str:
        """A present fault, or one since `forget_trouble`, however short, or empty."""

    def unable(self) -> str:
        """Why the robot cannot obey right now (stopped, disabled, unknown), or empty."""

    def request_enable(self) -> None:
        """Ask a disabled robot to switch its motors on."""

    def set_timeout(self, seconds: float | None = None) -> None:
        """Time without a command [s] after which the robot holds by itself; None: its default."""

    def transmit(self, mode: Mode, values: FloatArray) -> None:
        """Send a command that the gate has passed."""

    def suppress(self) -> None:
        """Send one message of the stream that suppresses the robot's own gravity compensation."""
