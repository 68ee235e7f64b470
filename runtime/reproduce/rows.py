"""Tables that the experiments write beside their pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from diffpbd.runtime.files import write_atomic

__all__ = ["write_rows"]


def write_rows(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """CSV; numbers in full."""
    lines = [",".join(header)]
    lines += [",".join(repr(float(x)) if isinstance(x, float) else str(x) for x in row) for row in rows]
    write_atomic(path, "\n".join(lines) + "\n")
