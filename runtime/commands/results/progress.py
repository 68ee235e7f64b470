"""Progress of a long command: one line that changes on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from diffpbd.runtime.base.live import Loop, Parts, duration, live_line

FORESEEN = 0.2
"""[1] Share of the work from which the time left is estimated: before it the estimate is several times too long."""

if TYPE_CHECKING:
    from diffpbd.codegen.heartbeat import Heartbeat  # the control PC has no generator to import

__all__ = ["progress", "staged", "watched"]


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A function that takes what is being done, a `Share` with how much of the work that leaves."""
    begin, said = time.perf_counter(), ["Reading"]

    def show() -> Parts:
        return [("running", "good"), (f"  {_worded(said[-1], time.perf_counter() - begin)}", "")]

    def tell(line: str) -> None:
        click.echo(line, err=True)  # what is printed is the result alone

    with live_line(show, wanted=sys.stdout.isatty()) as shown:
        if shown:
            yield said.append
            return
        from diffpbd.codegen.heartbeat import Heartbeat

        with Heartbeat(tell) as beat:
            yield _seldom(beat, begin)


@contextmanager
def staged() -> Iterator[Callable[[str], None]]:
    """A function that takes lines on standard error: on a terminal those with a share of the work as one that changes, the
    others after it; elsewhere each as it comes."""
    begin, now = time.perf_counter(), ["Reading"]
    kept: list[str] = []

    def show() -> Parts:
        return [("running", "good"), (f"  {_worded(now[-1], time.perf_counter() - begin)}", "")]

    try:
        with live_line(show, wanted=sys.stderr.isatty()) as shown:
            if shown:
                yield lambda text: (now if hasattr(text, "share") else kept).append(text)
            else:
                yield lambda text: click.echo(_worded(text, time.perf_counter() - begin, for_how_long=False), err=True)
    finally:
        for line in kept:
            click.echo(line, err=True)


def _seldom(beat: Heartbeat, begin: float) -> Callable[[str], None]:
    """Lines as they come, those with a share of the work at most every `PERIOD`."""
    from diffpbd.codegen.heartbeat import PERIOD

    last = 0.0  # a short command says nothing

    def say(text: str) -> None:
        nonlocal last
        now = time.perf_counter()
        if getattr(text, "share", None) is None or now - begin - last >= PERIOD:
            beat.say(_worded(text, now - begin, for_how_long=False))
            last = now - begin

    return say


def _worded(text: str, elapsed: float, *, for_how_long: bool = True) -> str:
    """With the share of the work and the time that is left, or else for how long it is at work."""
    share = getattr(text, "share", None)
    if share is None or not 0.0 < share <= 1.0:
        return f"{text}  for {duration(elapsed)}" if for_how_long else str(text)
    left = f", about {duration(elapsed * (1.0 - share) / share)} left" if share >= FORESEEN else ""
    return f"{text}: {100.0 * share:.0f} %{left}"


@contextmanager
def watched(loop: Loop, wanted: bool) -> Iterator[None]:
    """The loop's line on a terminal, or where there is none a line on standard error every few seconds."""
    with live_line(loop, wanted=wanted) as shown:
        if shown or not wanted:
            yield
            return
        end = threading.Event()

        from diffpbd.codegen.heartbeat import PERIOD

        def tell() -> None:
            while not end.wait(PERIOD):
                click.echo("".join(words for words, _ in loop()).replace("  ", ", "), err=True)

        thread = threading.Thread(target=tell, daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()
