"""Typed reading of a JSON value that knows its place in the file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from diffpbd.runtime.errors import InputError

__all__ = ["Node"]

MAX_SHOWN = 60  # characters of a wrong value in a message
T = TypeVar("T")


@dataclass(frozen=True)
class Node:
    """A JSON value with its place in the file, for messages such as `functions[3].inputs[0].rows: …`."""

    value: Any
    file: Path
    place: str

    def fault(self, expected: str) -> InputError:
        """The error that says what was expected here."""
        found = repr(self.value)
        found = found if len(found) <= MAX_SHOWN else found[: MAX_SHOWN - 3] + "..."
        return InputError(
            f"{self.file}: {self.place or 'the file'}: expected {expected}, found {found}. Generate the folder again."
        )

    def get(self, key: str) -> Node:
        """The value of a key that must exist."""
        if not isinstance(self.value, dict):
            raise self.fault("an object")
        place = f"{self.place}.{key}" if self.place else key
        if key not in self.value:
            raise InputError(f"{self.file}: {place} is missing. Generate the folder again.")
        return Node(self.value[key], self.file, place)

    def find(self, key: str) -> Node:
        """The value of a key, null where it is missing."""
        if isinstance(self.value, dict) and key not in self.value:
            return Node(None, self.file, f"{self.place}.{key}")
        return self.get(key)

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            raise self.fault("text")
        return self.value

    def integer(self, least: int) -> int:
        """A whole number of at least `least`."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value < least:
            raise self.fault(f"a whole number of at least {least}")
        return self.value

    def number(self) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            raise self.fault("a finite number")
        try:
            value = float(self.value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise self.fault("a finite number")
        return value

    def optional(self, read: Callable[[Node], T]) -> T | None:
        """None for null (or a missing key), else what `read` makes of it."""
        return None if self.value is None else read(self)

    def items(self, read: Callable[[Node], T]) -> tuple[T, ...]:
        """What `read` makes of every item of a list."""
        if not isinstance(self.value, list):
            raise self.fault("a list")
        return tuple(read(Node(v, self.file, f"{self.place}[{k}]")) for k, v in enumerate(self.value))

    def mapping(self, read: Callable[[Node], T]) -> dict[str, T]:
        """What `read` makes of every value of an object."""
        if not isinstance(self.value, dict):
            raise self.fault("an object")
        return {key: read(self.get(key)) for key in self.value}
