"""A line now and then while something long is silent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

PERIOD: Final = 5.0
"""[s] Of silence after which it is said what is being done, and for how long."""


class Heartbeat:
    """What `say` does, and after every `PERIOD` of silence what is being done; a context."""

    def __init__(self, say: Callable[[str], None], period: float = PERIOD) -> None:
        """With the silence [s] that is borne."""
        self._say, self._period = say, period
        self._doing, self._since = "", time.perf_counter()
        self._spoken, self._over = threading.Event(), False
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def say(self, line: str) -> None:
        """What is being done from now on."""
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
                self._say(f"{self._doing} ({time.perf_counter() - self._since:.0f} s)")
