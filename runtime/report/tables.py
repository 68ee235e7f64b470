"""Plain tables for terminals and pipes."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["number", "table"]


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Columns two spaces apart; the first `left` columns to the left, the others to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
    text = []
    for line in lines:
        cells = [c.ljust(w) if k < left else c.rjust(w) for k, (c, w) in enumerate(zip(line, widths, strict=True))]
        text.append("  ".join(cells).rstrip())
    return "\n".join(text)


def number(value: float | None, digits: int = 6) -> str:
    """A number for people; a dash for None."""
    return "-" if value is None else f"{value:.{digits}g}"
