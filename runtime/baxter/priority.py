"""Priority over ordinary work, where the system allows it."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

__all__ = ["prioritized"]

NICENESS = -15
"""Of the loop's and the reading thread; needs root or a limit set for the user (`nice` in limits.conf)."""


@contextlib.contextmanager
def prioritized() -> Iterator[bool]:
    """Raise the calling thread's priority within this context; whether that was allowed."""
    thread = threading.get_native_id()
    try:
        before = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, min(NICENESS, before))
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, before)
