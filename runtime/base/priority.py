"""Priority over ordinary work, where the system allows it, and what else makes a thread wake on time."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
import threading
from collections.abc import Iterator

__all__ = ["prioritized", "punctual"]

NICENESS = -15
"""Niceness of the loop's and the reading thread; needs root or a limit set for the user (`nice` in limits.conf)."""
TIMER_SLACK = 1000  # ns; how much later than asked the kernel may wake us (its default is 50 000)
PR_SET_TIMERSLACK = 29  # of Linux's prctl
SWITCH_INTERVAL = 2e-4  # s; how long the reading thread may keep the interpreter from the loop


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


@contextlib.contextmanager
def punctual() -> Iterator[None]:
    """Wake on time and let no garbage collection of old objects stand in the way."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, TIMER_SLACK, 0, 0, 0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()
    try:
        with prioritized():
            yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(interval)
