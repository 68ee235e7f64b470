"""Parameters that a function has for its signature's sake: told to the compiler, so that nobody's `-Wextra` speaks of them."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["with_unused"]

DEFINITION: Final = re.compile(
    r"^(?![ \t#/*}])(?P<head>[\w *]+\((?P<parameters>[^;{}()]*)\)) \{\n(?P<body>.*?)^\}", re.MULTILINE | re.DOTALL
)
"""A function of several lines, as the templates lay it out: its name at the margin, and so the brace that ends it."""
COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
NAME: Final = re.compile(r"(\w+)\s*(?:\[\w*\])*\s*$")
WORD: Final = re.compile(r"[A-Za-z_]\w*")


def with_unused(text: str) -> str:
    """C with `(void)x;` for every parameter x that no word of its function is."""
    return DEFINITION.sub(_told, text)


def _told(match: re.Match[str]) -> str:
    used = set(WORD.findall(COMMENT.sub("", match["body"])))
    names = [found[1] for part in match["parameters"].split(",") if (found := NAME.search(part))]
    unused = [name for name in names if name != "void" and name not in used]
    told = "".join(f"  (void){name};\n" for name in unused)
    return f"{match['head']} {{\n{told}{match['body']}}}"
