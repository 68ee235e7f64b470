"""How many doubles (vectors, of lanes) a struct of the plain C is, read off its text: work sizes stand nowhere else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from diffpbd.codegen.emit.text.environment import plain

COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
BLOCK: Final = re.compile(r"enum \{(?P<names>[^}]*)\}|typedef struct \{(?P<members>[^}]*)\} (?P<name>\w+);")
MEMBER: Final = re.compile(r"(\w+)\s*\[([^\]]+)\]|(\w+)")
CHOICE: Final = re.compile(r"(.+?)\?(.+?):(.+)")


def doubles(source: str, values: Mapping[str, int | str | bool], name: str = "Work") -> int:
    """Doubles of struct `name` in the file `source` of `templates/`, whose members are doubles or structs before it.

    Lengths are expressions of `values` (numbers that the source's model header has) and of enumerators before the struct.
    """
    known: dict[str, int] = {k: int(v) for k, v in values.items() if isinstance(v, (int, bool))}
    sizes: dict[str, int] = {"double": 1, "V": 1}
    for block in BLOCK.finditer(COMMENT.sub("", plain(source))):
        if block["names"] is not None:
            known |= _enumerators(block["names"], known)
            continue
        count = 0
        for line in filter(None, map(str.strip, block["members"].split(";"))):
            kind, _, members = line.partition(" ")
            for member in MEMBER.finditer(members):
                count += sizes[kind] * (_value(member[2], known) if member[1] else 1)
        if block["name"] == name:
            return count
        sizes[block["name"]] = count
    raise KeyError(f"templates/*/{source}: struct {name}")


def _enumerators(text: str, known: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for entry in text.split(","):
        name, _, expression = entry.partition("=")
        if expression and "sizeof" not in expression:
            found[name.strip()] = _value(expression, {**known, **found})
    return found


def _value(expression: str, known: Mapping[str, int]) -> int:
    """Value of an expression with those operators of C that Python shares, division and a choice."""
    if choice := CHOICE.fullmatch(expression.strip()):
        condition, then, otherwise = choice.groups()
        return _value(then if _value(condition, known) else otherwise, known)
    return int(
        eval(re.sub(r"!\s*(\w+)", r"(not \1)", expression.replace("/", "//")), {"__builtins__": {}}, dict(known))
    )
