"""Reasons why a run ended, and requests to end it."""

from __future__ import annotations

import enum
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from diffpbd.runtime.base.latency import Latency
from diffpbd.runtime.loop.guard import TickStatus
from diffpbd.runtime.loop.reflexes import Reflex

__all__ = ["Phase", "Reason", "Report", "StopRequest", "StopRun"]

EXIT_STOPPED = 1
EXIT_INTERRUPTED = 130  # 128 + SIGINT


class Phase(enum.Enum):
    """Phase of a run; a stop may be requested in each."""

    CHECK = "check"
    ENABLE = "enable"
    HOLD = "hold"
    RUN = "run"
    STOP = "stop"
    DONE = "done"


class Reason(enum.Enum):
    """Why a run ended."""

    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    REFUSED = "refused"
    ROBOT = "robot"
    """E-stop, disabled, error, a silent robot, or a second one on the graph."""
    STALE_STATE = "stale state"
    BAD_STATE = "bad state"
    """Ticks or messages refused for longer than the patience: not finite, absurd, names missing, or the controller failed."""
    REFLEX = "reflex"
    """The motion broke a threshold of `Reflex`; the report says which."""
    LOST_ROBOT = "lost robot"
    LOST_MASTER = "lost master"
    PAUSED = "paused"
    """This process was paused for a while."""
    GATE = "gate"
    LOG_FAILED = "log failed"
    FAILED = "failed"
    """An exception: a fault of this program."""


class StopRun(Exception):
    """Leaves a phase of a run for the clean stop."""

    def __init__(self, reason: Reason, text: str, reflex: Reflex | None = None) -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text
        self.reflex = reflex


class StopRequest:
    """A request to stop, with its origin; `signals` turns Ctrl-C and termination into requests instead of exceptions."""

    def __init__(self) -> None:
        self.text = ""

    def ask(self, text: str) -> None:
        """Ask the run to stop."""
        self.text = self.text or text

    @contextmanager
    def signals(self) -> Iterator[StopRequest]:
        """In this context SIGINT, SIGTERM, SIGHUP and SIGQUIT request a stop; no effect outside the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return

        def handle(number: int, frame: FrameType | None) -> None:
            self.ask(signal.Signals(number).name)

        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
        before = {number: signal.signal(number, handle) for number in numbers}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


CUT = " (torque or its change cut to a limit)"


@dataclass
class Report:
    """Report of a run: its end, what was sent, and timing."""

    reason: Reason = Reason.FINISHED
    text: str = ""
    reflex: Reflex | None = None
    phase: Phase = Phase.CHECK
    """The phase in which it ended."""
    ending: str = ""
    """What the clean stop did."""
    ticks: int = 0
    sent: int = 0
    overruns: int = 0
    """Periods that were skipped because a tick came late."""
    dropped: int = 0
    """Commands that a newer one replaced because the link was full."""
    counts: Counter[TickStatus] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    lateness: Latency = field(default_factory=Latency)
    """From the time a tick was due to its start."""
    work: Latency = field(default_factory=Latency)
    """From a tick's start to its command handed to the kernel."""
    latency: Latency = field(default_factory=Latency)
    """Sum of both: the loop's own latency."""
    age: Latency = field(default_factory=Latency)
    """Age of the state when its command was sent."""
    remark: str = ""
    """The load that the model did not have, at the end."""
    away: dict[str, Any] | None = None
    """At the last tick: the joint, or the tip, its distance [unit] and from what; None without a goal."""

    @property
    def good(self) -> bool:
        """Whether the run ended as the user wanted."""
        return self.reason in (Reason.FINISHED, Reason.INTERRUPTED)

    @property
    def exit_code(self) -> int:
        """0 finished, 130 interrupted, a reflex's number, 1 all else."""
        if self.reason is Reason.INTERRUPTED:
            return EXIT_INTERRUPTED
        if self.good:
            return 0
        return EXIT_STOPPED if self.reflex is None else int(self.reflex)

    def facts(self) -> dict[str, Any]:
        """The report as plain data, times in s."""
        times = {"lateness": self.lateness, "work": self.work, "latency": self.latency, "age": self.age}
        return {
            "reason": self.reason.value, "reflex": None if self.reflex is None else self.reflex.name.lower(),
            "phase": self.phase.value, "text": self.text, "ending": self.ending, "remark": self.remark,
            "away": self.away, "exit_code": self.exit_code,
            "ticks": self.ticks, "sent": self.sent, "dropped": self.dropped, "overruns": self.overruns,
            "statuses": {status.words: count for status, count in self.counts.items()}, "rejected": dict(self.rejected),
            **{name: {"p50": t.percentile(0.5), "p99": t.percentile(0.99), "max": t.maximum} for name, t in times.items()},
        }  # fmt: skip

    def __str__(self) -> str:
        which = "" if self.reflex is None else f" {self.reflex.name.lower()} (exit code {int(self.reflex)})"
        lines = [
            f"{self.reason.value}{which} in phase {self.phase.value}" + (f": {self.text}" if self.text else ""),
            f"clean stop: {self.ending or 'nothing had been sent'}",
            *([f"note: {self.remark}"] if self.remark else []),
            *(["at the last tick {of} was {distance:.4g} {unit} from {aim}".format(**self.away)] if self.away else []),
            f"{self.ticks} ticks, {self.sent} commands sent, {self.dropped} dropped by the link, "
            f"{self.overruns} periods skipped",
        ]
        if self.ticks:
            lines += [f"loop latency {self.latency}", f"  lateness {self.lateness}; work {self.work}"]
            lines.append(f"state age at sending {self.age}")
        bad = {status: count for status, count in self.counts.items() if status is not TickStatus.OK}
        lines += [
            f"ticks {status.words}{CUT if status is TickStatus.LIMITED else ''}: {count}"
            for status, count in bad.items()
        ]
        lines += [f"joint states rejected, {reason}: {count}" for reason, count in self.rejected.items()]
        return "\n".join(lines)
