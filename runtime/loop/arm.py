"""What the loop asks of an arm: a second arm is a folder under `arms/` with one class that answers this."""

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
"""How the answer of `Arm.unable` begins where `Arm.request_enable` would help."""
OWN_TIMEOUT = "nothing more was sent after {}: the robot's own timeout makes it hold"
"""What became of an arm that was handed back, where the robot knows a timeout; {} is what came before."""


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
    """Why a run cannot go on, in words and by kind."""

    reason: Reason
    text: str


class Arm(Protocol):
    """An arm behind some link. Nothing is sent but by `transmit`, `suppress` and the requests named here.

    `joints` and `limits` are in the order of the generated robot; a state older than `stale_after` [s] is none;
    `handed_back` says what becomes of an arm that gets a short `set_timeout`, {} for what came before.
    """

    handed_back: str

    joints: tuple[str, ...]
    limits: Limits
    stale_after: float
    clock: Clock

    @property
    def state(self) -> LimbState | None:
        """The newest state that names every joint; its numbers may be anything."""

    @property
    def rejected(self) -> Counter[str]:
        """State messages that could not be used, by reason."""

    @property
    def dropped(self) -> int:
        """Commands that a newer one replaced because the link was full."""

    def open(self, rate: float) -> None:
        """Begin to watch the link, and ask for states at `rate` [Hz]; nothing that the motors obey."""

    def close(self) -> None:
        """End what `open` began; never blocks for long."""

    def missing(self, *, suppressing: bool) -> str:
        """What of the link is not there yet, in words; `suppressing`: gravity will be the model's."""

    def fault(self) -> Fault | None:
        """What is wrong with the link."""

    def others(self) -> tuple[str, ...]:
        """Other programs that command this arm."""

    def forget_trouble(self) -> None:
        """From now on `trouble` counts what is noted anew."""

    def trouble(self) -> str:
        """What speaks against moving, however short it was, or empty."""

    def unable(self) -> str:
        """Why the robot cannot obey right now (stopped, disabled, unknown), or empty."""

    def request_enable(self) -> None:
        """Ask a disabled robot to switch its motors on."""

    def set_timeout(self, seconds: float | None = None) -> None:
        """After how long without a command [s] the robot holds by itself; None: the robot's own default."""

    def transmit(self, mode: Mode, values: FloatArray) -> None:
        """Hand a command to the link; the gate has passed it."""

    def suppress(self) -> None:
        """One message of the stream that keeps the robot's own gravity compensation off."""
