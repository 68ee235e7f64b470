"""Values for other processes: results of functions with several outputs, functions by what opens their robot there."""

from __future__ import annotations

import collections
from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["Sent", "result_type"]


@cache
def result_type(name: str, fields: tuple[str, ...]) -> Any:
    """The named tuple of a function's outputs. A pickle names its fields, because no module holds the type."""
    make: Any = collections.namedtuple

    def reduced(self: Any) -> tuple[Any, ...]:
        return _restored, (name, fields, tuple(self))

    made = make(f"{name}_result", fields)
    made.__reduce__ = reduced
    return made


class Sent:
    """Pickled as the call that reopens it, `reopening`: a function and its arguments. Without, it stays in one process."""

    reopening: tuple[Callable[..., Any], tuple[Any, ...]] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.reopening is None:
            raise TypeError(f"{self!r} has the memory of one process: send its robot instead.")
        return self.reopening


def _restored(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return result_type(name, fields)(*values)
