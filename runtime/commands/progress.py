"""What a long command is doing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from diffpbd.runtime.live import Parts, duration, live_line

__all__ = ["progress"]


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A line that changes on a terminal, plain lines elsewhere."""
    begin, said = time.perf_counter(), ["Reading"]

    def show() -> Parts:
        return [("running", "good"), (f"  {said[-1]}  for {duration(time.perf_counter() - begin)}", "")]

    with live_line(show, wanted=sys.stdout.isatty()) as shown:
        yield said.append if shown else click.echo
