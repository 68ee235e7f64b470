"""Origin of a report: the command, the date, the version."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

__all__ = ["origin", "started"]

_command = ""


def started(words: Sequence[str]) -> None:
    """The command line has been called with these words."""
    global _command
    _command = shlex.join(["diffpbd", *words])


def origin() -> str:
    """One line, such as `diffpbd mpc arm --goal … (2026-03-01 14:30, diffpbd 0.2.0)`; in Python without a command."""
    try:
        number = f", diffpbd {version('diffpbd')}"
    except PackageNotFoundError:
        number = ""
    now = f"{datetime.datetime.now():%Y-%m-%d %H:%M}{number}"
    return f"{_command} ({now})" if _command else now
