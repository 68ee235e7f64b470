"""Names of entries of alpha and of statuses in the header."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diffpbd.codegen.emit.tables.constants import ALPHA_STATUS, SPECIAL_STATUS, STATUS, STATUS_NAMES
from diffpbd.codegen.emit.text.c_writer import literal
from diffpbd.runtime.folder.manifest import Function, Parameter


def parameters(alpha: Sequence[Parameter]) -> list[dict[str, str]]:
    """As templates take them."""
    names = alpha_identifiers([a.name for a in alpha])
    return [
        {"name": a.name, "identifier": own, "unit": a.unit, "default": literal(a.default), "bounds": _bounds(a)}
        for a, own in zip(alpha, names, strict=True)
    ]


def _bounds(a: Parameter) -> str:
    """The bounds of an entry behind its default, in words."""
    said = (
        f", at least {a.lower:g}" if a.lower is not None else "",
        f", at most {a.upper:g}" if a.upper is not None else "",
    )
    return "".join(said)


def frames(names: Sequence[str]) -> list[tuple[str, str]]:
    """Name and what the header calls it, of frames."""
    return list(zip(names, alpha_identifiers(names), strict=True))


def status_table() -> str:
    """The table of docs/c.md: every status that a robot's functions can end in, with its name and meaning."""
    rows = ["| | status | meaning |", "|---|---|---|"]
    words = {0: "the result is a solution, and finite", **STATUS, **SPECIAL_STATUS, **ALPHA_STATUS}
    return "\n".join((*rows, *(f"| {k} | `{STATUS_NAMES[k]}` | {words[k]} |" for k in sorted(words))))


def statuses(functions: Sequence[Function]) -> list[tuple[int, str, str]]:
    """Number, name and meaning of common statuses and of these functions'."""
    own = {k: v for k, v in SPECIAL_STATUS.items() if any(k in f.status for f in functions)}
    return [(k, STATUS_NAMES[k], v) for k, v in sorted((STATUS | ALPHA_STATUS | own).items())]


def alpha_identifiers(names: Sequence[str]) -> list[str]:
    """Each name in capitals, other characters than ASCII letters and digits as `_`; duplicates get their position
    appended."""
    plain = [re.sub(r"[^A-Z0-9]", "_", name.upper()) for name in names]
    return [f"{own}_{k}" if plain.count(own) > 1 else own for k, own in enumerate(plain)]
