"""Results of functions with several outputs: named tuples that travel to other processes."""

from __future__ import annotations

import collections
from functools import cache
from typing import Any

__all__ = ["result_type"]


@cache
def result_type(name: str, fields: tuple[str, ...]) -> Any:
    """The named tuple of a function's outputs. A pickle names its fields, because no module holds the type."""
    make: Any = collections.namedtuple

    def reduced(self: Any) -> tuple[Any, ...]:
        return _restored, (name, fields, tuple(self))

    made = make(f"{name}_result", fields)
    made.__reduce__ = reduced
    return made


def _restored(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return result_type(name, fields)(*values)
