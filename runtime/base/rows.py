"""Tables as CSV."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from diffpbd.runtime.base.files import write_atomic

__all__ = ["write_rows"]


def write_rows(
    path: str | Path, header: Sequence[str], rows: Iterable[Iterable[object]], *, digits: int | None = None
) -> None:
    """Write rows of texts and numbers under a header, whole or not at all; compressed if the name ends in `.gz`.

    Floats are written in full, or with so many significant digits.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([_cell(value, digits) for value in row])
    data = text.getvalue().encode("utf-8")
    write_atomic(path, gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data)


def _cell(value: object, digits: int | None) -> object:
    if not isinstance(value, float):
        return value
    return repr(float(value)) if digits is None else f"{value:.{digits}g}"
