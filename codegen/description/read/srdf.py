"""Pairs of links that an SRDF takes from collision checking."""

from __future__ import annotations

from pathlib import Path

from diffpbd.codegen.description.read.source import SourceError, parse, read_bytes
from diffpbd.codegen.description.report import printable
from diffpbd.runtime.base.errors import InputError

PLACES = ("{folder}/{stem}.srdf", "{folder}/../srdf/{stem}.srdf")
"""Where an SRDF of a URDF lies."""


def beside(urdf: Path) -> Path | None:
    """The SRDF of a URDF, if it is in one of `PLACES`."""
    every = (Path(place.format(folder=urdf.parent, stem=urdf.stem)) for place in PLACES)
    return next((path for path in every if path.is_file()), None)


def disabled(path: Path) -> tuple[tuple[str, str], ...]:
    """Names of links, two by two, of every `<disable_collisions>`."""
    try:
        root = parse(read_bytes(path)[1])
    except SourceError as error:
        raise InputError(f"{path}: {error}") from None
    if root.tag != "robot":
        raise InputError(f"{path}: an SRDF is expected, whose root is <robot>, found <{printable(root.tag)}>")
    found = []
    for element in root.named("disable_collisions"):
        one, other = (element.attributes.get(key, "") for key in ("link1", "link2"))
        if not one or not other:
            raise InputError(f"{path}, line {element.line}: <disable_collisions> has no link1 and link2")
        found.append((one, other))
    return tuple(found)
