"""Panels and tables of `diffpbd reproduce`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from diffpbd.runtime.files import write_atomic

__all__ = ["panel", "write_rows"]

def panel(axes: Any, title: str, x: str, y: str) -> Any:
    """Title, labels and a light grid."""
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    return axes


def write_rows(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """CSV; numbers in full."""
    lines = [",".join(header)]
    lines += [",".join(repr(float(x)) if isinstance(x, float) else str(x) for x in row) for row in rows]
    write_atomic(path, "\n".join(lines) + "\n")
