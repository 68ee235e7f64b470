"""Limits the size of a log before it is read into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from diffpbd.runtime.base.errors import InputError

__all__ = ["expect_size"]

LARGEST: Final = 1 << 30
"""[bytes] Of a table: seven hours of seven joints at 100 Hz, with rates and torques. A CSV takes six times as much memory."""


def expect_size(path: str | Path, size: int) -> None:
    """Refuse a table of more bytes than are read at once."""
    if size > LARGEST:
        raise InputError(
            f"{path} holds {size / (1 << 30):.3g} GiB; a table of at most {LARGEST / (1 << 30):.3g} GiB is read at once. "
            "Give it in pieces (several LOGs are one fit), keep the columns and the span that matter, or every second sample."
        )
