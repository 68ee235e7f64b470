"""Progress lines during long computations that print nothing themselves."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Final

PERIOD: Final = 5.0
"""[s] without output after which a line says what is being done, and for how long."""

NEARLY: Final = 0.9
"""[1] Of a stage is done at most, until the next one begins."""


class Stage(str):
    """A line that begins a stage of the work, of which `share` [1] is done by now: from `start` on towards `end`, as fast as
    what came before took `elapsed` [s], and never quite there."""

    def __new__(cls, text: str, start: float, end: float, elapsed: float) -> Stage:
        """With the part of the work that the stage is."""
        made = super().__new__(cls, text)
        made._start, made._end, made._begun = start, end, time.perf_counter()
        made._expected = elapsed * (end - start) / start if start > 0.0 else math.inf
        return made

    _start: float
    _end: float
    _begun: float
    _expected: float

    @property
    def share(self) -> float:
        """[1] Of the whole work."""
        gone = (time.perf_counter() - self._begun) / self._expected if self._expected > 0.0 else 1.0
        return self._start + (self._end - self._start) * min(gone, NEARLY)

    def beside(self, text: str) -> Stage:
        """Another line of the same stage."""
        made = Stage(text, self._start, self._end, 0.0)
        made._begun, made._expected = self._begun, self._expected
        return made


class Heartbeat:
    """A context that passes lines to `say`, and adds a line after every `PERIOD` without one."""

    def __init__(self, say: Callable[[str], None], period: float = PERIOD) -> None:
        """`period` [s]: the time without output after which a line is added."""
        self._say, self._period = say, period
        self._doing, self._since = "", time.perf_counter()
        self._spoken, self._over = threading.Event(), False
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def say(self, line: str) -> None:
        """A line that says what begins."""
        self._doing, self._since = line, time.perf_counter()
        self.note(line)

    def note(self, line: str) -> None:
        """A line about something else."""
        self._spoken.set()
        self._say(line)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._spoken.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over:
            if self._spoken.wait(self._period):
                self._spoken.clear()
            elif self._doing:
                again = f"{self._doing} ({time.perf_counter() - self._since:.0f} s)"
                self._say(self._doing.beside(again) if isinstance(self._doing, Stage) else again)
