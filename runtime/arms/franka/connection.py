"""One connection to a robot's control interface, or the reason why there is none."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from diffpbd.runtime.base.errors import RefusedError

__all__ = ["HOST_LINE", "connect", "real_time_kernel"]

HOST_LINE = "FR3_HOST="
"""How the first line of `diffpbd sim-fr3` begins."""

ANSWER = 5.0  # s; a robot answers in some milliseconds
REAL_TIME = Path("/sys/kernel/realtime")
"""Holds 1 on a PREEMPT_RT kernel."""


def real_time_kernel() -> bool:
    """Whether this machine's kernel keeps real time."""
    try:
        return REAL_TIME.read_text(encoding="ascii").strip() == "1"
    except OSError:
        return False


def connect(host: str, *, wait: float = ANSWER) -> Any:
    """A `franky.Robot` at a name or address; a RefusedError where none answers within `wait` [s].

    The driver puts the thread that connects on the highest real-time priority and leaves it there, and children would inherit
    that: so a thread connects that ends with it. Only the driver's own control thread asks for real time, on such a kernel.
    """
    import franky

    config = franky.RealtimeConfig.Enforce if real_time_kernel() else franky.RealtimeConfig.Ignore
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(franky.Robot(host, realtime_config=config))
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=work, name="connect", daemon=True)
    thread.start()
    thread.join(wait)
    if not found:
        raise RefusedError(
            f"The robot at {host} accepts a connection and does not answer: another program holds it, on this machine or "
            "another one. One program to an arm: end it."
        )
    if not isinstance(found[0], Exception):
        return found[0]
    raise RefusedError(f"The robot at {host} cannot be used: {_words(found[0])}.") from None


def _words(error: Exception) -> str:
    kind, text = type(error).__name__, " ".join(str(error).split()).rstrip(".")
    if kind == "IncompatibleVersionException":
        return f"its system speaks another version of the interface than the driver ({text}); install the one that fits"
    if kind == "RealtimeException":
        return f"the driver may not ask for real time ({text}); docs/franka.md has the limits that the user needs"
    return f"{text} ({kind})"
