"""One line on a terminal that says how a loop fares.

The loop writes counters that it keeps anyway. A thread that has stepped back in the scheduler reads them a few times a second
and draws through a descriptor of its own: the loop never waits for the terminal, not even for one that was halted (Ctrl-S).
Nothing is drawn where no terminal is, nor by a job in the background. The cursor is never hidden and no mode of the terminal
is changed, so whatever ends the program, there is nothing to restore but the line itself, which goes on every way out.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
import time as clock
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO, TypeAlias

from diffpbd.runtime.base.latency import Latency

__all__ = ["Loop", "Parts", "Rate", "Share", "Simulating", "UNWATCHED", "Watch", "duration", "latency", "live_line"]

PERIOD = 0.25  # s between two pictures
NICENESS = 10  # of the drawing thread
RATE_WINDOW = 5  # pictures that a rate is taken over
LEAVE_WAIT = 0.5  # s for the thread to end; a halted terminal may hold it
MS = 1e3  # milliseconds a second
MINUTE, HOUR = 60.0, 3600.0  # s

Parts: TypeAlias = Sequence[tuple[str, str]]
"""Words and their meaning: good, warn, bad, or nothing in particular."""
STYLES = {"good": "green", "warn": "yellow", "bad": "bold red", "": ""}


@contextlib.contextmanager
def live_line(describe: Callable[[], Parts], *, wanted: bool = True) -> Iterator[bool]:
    """Draw what `describe` says, on standard error or else output, while this context lasts; whether there is a line."""
    file = _terminal() if wanted else None
    draw = None if file is None else _pen(file)
    if file is None or draw is None:
        if file is not None:
            file.close()
        yield False
        return
    end = threading.Event()

    def show() -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        with contextlib.suppress(OSError), file:  # the terminal is gone
            while True:
                if _in_front(file):
                    draw(describe())
                if end.wait(PERIOD):
                    break
            if _in_front(file):
                draw(None)

    thread = threading.Thread(target=show, name="live line", daemon=True)
    thread.start()
    try:
        yield True
    finally:
        end.set()
        thread.join(LEAVE_WAIT)


def _terminal() -> TextIO | None:
    """A file of our own on the terminal behind standard error or output, if there is one."""
    for stream in (sys.stderr, sys.stdout):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or without a descriptor
            if stream.isatty():
                return os.fdopen(os.dup(stream.fileno()), "w", encoding=stream.encoding, errors="replace")
    return None


def _in_front(file: TextIO) -> bool:
    """Whether this job may write: one in the background would be stopped by some terminals."""
    try:
        return os.tcgetpgrp(file.fileno()) == os.getpgrp()
    except OSError:  # not the terminal that controls this session
        return True


def _pen(file: TextIO) -> Callable[[Parts | None], None] | None:
    """Draws parts over the line, None erases it; no pen for a terminal that cannot do that."""
    try:
        from rich.console import Console
        from rich.control import Control
        from rich.segment import ControlType
        from rich.text import Text
    except ImportError:
        return None if os.environ.get("TERM", "") in ("", "dumb") else _plain_pen(file)
    console = Console(file=file)
    if not console.is_terminal or console.is_dumb_terminal:
        return None
    begin = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))

    def draw_on(console: Console, parts: Parts | None) -> None:
        words: list[Any] = [] if parts is None else [(text, STYLES[meaning]) for text, meaning in parts]
        line = Text.assemble(*words)
        line.truncate(max(console.width - 1, 0), overflow="ellipsis")  # a full line would wrap
        with console:  # written in one piece
            console.control(begin)
            console.print(line, end="", no_wrap=True, highlight=False)
        console.file.flush()

    # Once for nobody, so that what rich reads when it first draws is not read beside the loop.
    draw_on(Console(file=io.StringIO(), force_terminal=True), [("·…", meaning) for meaning in STYLES])
    return lambda parts: draw_on(console, parts)


def _plain_pen(file: TextIO) -> Callable[[Parts | None], None]:
    """Without rich: no colours."""

    def draw(parts: Parts | None) -> None:
        line = "" if parts is None else "".join(text for text, _ in parts)
        file.write("\r\x1b[2K" + line[: max(os.get_terminal_size(file.fileno()).columns - 1, 0)])
        file.flush()

    return draw


class Rate:
    """Counts a second over the last pictures, from a counter that only grows."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque(maxlen=RATE_WINDOW + 1)

    def of(self, count: int) -> float | None:
        """[1/s] up to this count, seen now; None at first."""
        now = clock.monotonic()
        self._seen.append((now, count))
        elapsed = now - self._seen[0][0]
        return (count - self._seen[0][1]) / elapsed if elapsed > 0.0 else None


def latency(found: Latency) -> str:
    """Median and 99th percentile [ms]."""
    return f"p50 {MS * found.percentile(0.5):.3f} p99 {MS * found.percentile(0.99):.3f} ms"


def duration(seconds: float) -> str:
    """A time for people: 12.3 s, 4:05 min, 2:30 h."""
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    whole, unit = (seconds, "min") if seconds < HOUR else (seconds / MINUTE, "h")
    return f"{int(whole // MINUTE)}:{int(whole % MINUTE):02d} {unit}"


@dataclass
class Loop:
    """Counters of a loop of known length, which the loop alone writes; calling it describes them."""

    count: int
    what: str
    """One of what it does, such as a tick."""
    done: int = 0
    latency: Latency = field(default_factory=Latency)
    remark: Callable[[], str] = lambda: ""
    _rate: Rate = field(default_factory=Rate)

    def add(self, seconds: float) -> None:
        """One more is done, in so many seconds."""
        self.done += 1
        self.latency.add(seconds)

    def __call__(self) -> Parts:
        """Parts of the line."""
        done = self.done
        rate = self._rate.of(done)
        words = [
            f"{done} of {self.count} {self.what}s",
            f"{100 * done // max(self.count, 1)} %",
            f"{rate:.0f} Hz" if rate else "- Hz",
            latency(self.latency),
        ]
        if remark := self.remark():
            words.append(remark)
        if rate:
            words.append(f"{duration((self.count - done) / rate)} left")
        return [("running", "good"), ("  " + "  ".join(words), "")]


class Simulating:
    """A simulated robot in one line: its `state`, the rate and lateness of its `loop` (which counts `lateness` and `skipped`),
    `more`, and the time; `limit` [s] of its length, None: until Ctrl-C."""

    def __init__(
        self, loop: Any, limit: float | None, state: Callable[[], tuple[str, str]], more: Callable[[], Parts] = list
    ) -> None:
        self._loop, self._limit, self._state, self._more = loop, limit, state, more
        self._begin, self._rate = clock.monotonic(), Rate()

    def __call__(self) -> Parts:
        """Parts of the line. Called by another thread than the loop."""
        loop, gone = self._loop, clock.monotonic() - self._begin
        rate = self._rate.of(loop.lateness.count) or 0.0
        return [
            self._state(), (f"  {rate:.0f} Hz  late {latency(loop.lateness)}", ""),
            (f"  skipped {loop.skipped}", "warn" if loop.skipped else ""), *self._more(),
            (f"  for {duration(gone)}" if self._limit is None else f"  {duration(max(self._limit - gone, 0.0))} left", ""),
        ]  # fmt: skip


class Share(str):
    """A line of progress, and the `share` [1] of the work that is done."""

    share: float

    def __new__(cls, text: str, share: float) -> Share:
        """With this share."""
        made = super().__new__(cls, text)
        made.share = share
        return made


@dataclass(frozen=True)
class Watch:
    """Who hears of long work: `line` of texts now and then, `loop` of every step. Neither by default."""

    line: Callable[[str], None] | None = None
    loop: Loop | None = None

    def say(self, text: str) -> None:
        """A line of progress."""
        if self.line is not None:
            self.line(text)

    def add(self, seconds: float) -> None:
        """One more step is done, in so many seconds."""
        if self.loop is not None:
            self.loop.add(seconds)


UNWATCHED = Watch()
