"""Progress of a long call without a callback: one changing line on a terminal, removed at the end."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator

__all__ = ["terminal"]

CLEAR = "\r\x1b[K"
"""Go to the begin of the line and clear it."""


@contextlib.contextmanager
def terminal(progress: Callable[[str], None] | None) -> Iterator[Callable[[str], None] | None]:
    """`progress`, or if it is None and standard error is a terminal a function that writes there. Warnings stay."""
    if progress is not None or not sys.stderr.isatty():
        yield progress
        return

    def say(line: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        stays = line.startswith("warning ")
        sys.stderr.write(f"{CLEAR}{line if stays else line[:width]}" + ("\n" if stays else ""))
        sys.stderr.flush()

    try:
        yield say
    finally:
        sys.stderr.write(CLEAR)
        sys.stderr.flush()
