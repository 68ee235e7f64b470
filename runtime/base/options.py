"""An option, declared once: as a field of the dataclass of a job, with its default.

From there follow the option of the command (`commands/derived.py`), the keyword in Python and its type
(`api/keyword_types.pyi`), the entry of `--config`, and how each door spells it in a message.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any

from diffpbd.runtime.base.errors import Argument, InputError
from diffpbd.runtime.base.names import near

__all__ = ["Option", "expect", "named", "option", "options_of", "same"]


@dataclass(frozen=True)
class Option:
    """`help` says what it is; `flag` is its word on the command line where that is not its name; `choices` are its values;
    `span` both ends of a number, the lower one itself `open` or not; `unit` for a message. `parse` makes a value of what a
    command line has, a ValueError refuses it; several words make one value where it is `many`. `kind`: what a command line
    takes it as, where nothing else says so. `reads`: the file or folder that is read, of the word.
    """

    help: str
    flag: str = ""
    choices: tuple[str, ...] = ()
    span: tuple[float, float] | None = None
    open: bool = False
    unit: str = ""
    metavar: str | None = None
    parse: Callable[[Any], Any] | None = None
    many: bool = False
    kind: Any = None
    reads: Callable[[str], Path] | None = None

    def word(self, name: str) -> str:
        """The option of a field."""
        return self.flag.split("/")[0] or f"--{name.replace('_', '-')}"


def named(example: str) -> Callable[[Sequence[str]], dict[str, float]]:
    """Makes a reader of NAME=VALUE words of a command line as numbers by name; `example` is one of them for a message."""

    def numbers(words: Sequence[str]) -> dict[str, float]:
        found: dict[str, float] = {}
        for word in words:
            name, _, value = (part.strip() for part in word.partition("="))
            if name in found:
                raise ValueError(f"{name} is given twice.")
            try:
                found[name] = float(value)
            except ValueError:
                raise ValueError(f"expected NAME=VALUE with a number, such as {example}, found {word!r}.") from None
        return found

    return numbers


def option(help: str, default: Any = MISSING, *, make: Any = MISSING, **how: Any) -> Any:
    """A field with its default, or what makes it: a mapping, which has no hash."""
    hashed = None if make is MISSING else False
    return dataclasses.field(
        default=default, default_factory=make, hash=hashed, metadata={"option": Option(help, **how)}
    )


def same(record: Any, name: str) -> Any:
    """A field as another dataclass has it."""
    (field,) = (field for field in dataclasses.fields(record) if field.name == name)
    return dataclasses.field(default=field.default, metadata=field.metadata)


def options_of(record: Any) -> Iterator[tuple[dataclasses.Field[Any], Option]]:
    """Every field of a dataclass that is an option of a command."""
    for field in dataclasses.fields(record):
        own: Option | None = field.metadata.get("option")
        if own is not None:
            yield field, own


def expect(record: Any) -> None:
    """Refuses a value that is none of the choices, or a number outside of its span."""
    for field, own in options_of(record):
        value, word = getattr(record, field.name), Argument(field.name, own.word(field.name))
        if own.choices and value is not None:
            for one in (value,) if isinstance(value, str) or not isinstance(value, Sequence) else value:
                if str(one) not in own.choices:
                    said = f"{word}: expected {' or '.join(own.choices)}, found {one!r}. {near(str(one), own.choices)}"
                    raise InputError(said.rstrip())
        elif own.span and value is not None:
            low, high = own.span
            if not low <= value <= high or (own.open and value == low):  # NaN too
                above = f"above {low:g}, up to {high:g}" if own.open else f"{low:g} to {high:g}"
                raise InputError(f"{word}: expected {above}{own.unit and f' {own.unit}'}, found {value:g}.")
