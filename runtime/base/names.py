"""Names: which a robot and its parts may have (they go into C, build files, pages, tables and terminals as they are),
and unknown ones answered with near ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Final

MAX_HINTS = 3
MAX_LISTED = 12


def hint(name: str, known: Iterable[str]) -> str:
    """A sentence with the nearest known names, or with all of them when none is near."""
    names = list(dict.fromkeys(known))
    return near(name, names) or f"Known: {listing(names)}."


def near(name: str, known: Sequence[str]) -> str:
    """A sentence with the nearest known names, empty when none is near."""
    found = difflib.get_close_matches(name, known, n=MAX_HINTS)
    return f"Did you mean {' or '.join(found)}?" if found else ""


def listing(names: Sequence[str]) -> str:
    """The names separated by commas, cut after a dozen with the number of the rest."""
    if not names:
        return "none"
    rest = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {rest} more" if rest > 0 else "")


PUNCTUATION: Final = " _-.:/+()"
"""Characters that a link's or joint's name may hold beside letters and digits of any script. Descriptions in use need
`_ - . /`. Left out is what means something where names end up: in comments of C (`*`), in pages
(`< > & [ ] { } ! |` and the backtick), in shells and build files (quotes, `$ # ; % = , ~ ? @ ^` and the backslash),
and whatever a terminal does not print."""

IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
"""A robot's own name, which prefixes C symbols and names files; fullmatch."""

FILE: Final = re.compile(r"[A-Za-z0-9_]+(/[A-Za-z0-9_]+)*(\.[A-Za-z0-9]+)?")
"""A file of a generated folder, by its path inside: it never leads out. fullmatch."""

LONGEST: Final = 200
"""[characters] A name and the suffix of a file fit into 255 bytes of ASCII."""

RESERVED: Final = frozenset(
    # Headers of C: <name.h> would find the robot's own. Then targets that CMake keeps to itself.
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef stdint"
    " stdio stdlib string tgmath time wchar wctype features"
    " all all_build clean edit_cache help install package package_source preinstall rebuild_cache run_tests test zero_check"
    "".split()
)
"""Names that no robot can have, in lower case, beside those that are no identifiers."""


def strange_characters(name: str) -> str:
    """The characters that no name may hold, each once, in order."""
    return "".join(dict.fromkeys(c for c in name if not (c.isalnum() or c in PUNCTUATION)))


def tame(text: str) -> str:
    """Text of somebody's choosing, such as a file's name, with `?` for whatever a name may not hold."""
    return "".join(c if c.isalnum() or c in PUNCTUATION else "?" for c in text)
