"""Unknown names answered with near ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

__all__ = ["hint", "listing"]

MAX_HINTS = 3
MAX_LISTED = 12


def hint(name: str, known: Iterable[str]) -> str:
    """A sentence with the nearest known names, or with all of them when none is near."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=MAX_HINTS)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"Known: {listing(names)}."


def listing(names: Sequence[str]) -> str:
    """The names separated by commas, cut after a dozen with the number of the rest."""
    if not names:
        return "none"
    rest = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {rest} more" if rest > 0 else "")
