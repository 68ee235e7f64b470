"""All causes: every class of a file in a room of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

from diffpbd.runtime import causes
from diffpbd.runtime.causes.cause import Cause
from diffpbd.runtime.causes.missing import Missing
from diffpbd.runtime.causes.run import Unsteady

__all__ = ["CAUSES", "MISSING", "SEEN", "UNSTEADY"]


def _found() -> Iterator[Cause]:
    for module in walk_packages(causes.__path__, f"{causes.__name__}."):
        if module.name.count(".") > causes.__name__.count(".") + 1:
            for own in vars(import_module(module.name)).values():
                if isinstance(own, type) and own.__module__ == module.name and "kind" in vars(own):
                    yield own()


CAUSES: tuple[Cause, ...] = tuple(sorted(_found(), key=lambda own: own.kind))
"""One object of each class, by name."""
MISSING: tuple[Missing, ...] = tuple(
    sorted((own for own in CAUSES if isinstance(own, Missing)), key=lambda own: (not own.told, own.rank, own.kind))
)
"""Those that a fit can miss, in the order in which they are tried."""
SEEN: tuple[Cause, ...] = tuple(sorted((own for own in CAUSES if own.means), key=lambda own: (own.order, own.kind)))
"""Those that recordings show, in the order in which they are looked for."""
UNSTEADY: tuple[Unsteady, ...] = tuple(
    sorted((own for own in CAUSES if isinstance(own, Unsteady)), key=lambda own: (own.order, own.kind))
)
"""Those that act in a part of what was recorded, in the order in which they are looked for."""
