"""Entries of a recipe as words of a command line: read, and written."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

from diffpbd.codegen.description.read.numerals import LARGEST
from diffpbd.codegen.description.report import quoted
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.names import LONGEST, PUNCTUATION, strange_characters
from diffpbd.runtime.base.options import Option

__all__ = [
    "as_names", "choices_of", "expect_choice", "expect_relaxation", "expect_usable", "names_of", "option_words",
    "relaxation_of", "sweeps_of",
]  # fmt: skip

NAMES: Final = "tuple[str, ...]"
"""Type of an entry of names."""

MOST_SWEEPS: Final = 1000
"""Beyond convergence of anything; a step makes them all."""

AVERAGING: Final = "averaging"
Relaxation: TypeAlias = float | Literal["averaging"] | None
"""Relaxation of the corrections of Jacobi sweeps: a factor in (0, 2), an average for each link, or None for the default, see
codegen/method/relaxation.py."""

LARGEST_RELAXATION: Final = 2.0
"""From here on Jacobi sweeps diverge even for a joint alone."""


def _is_relaxation(value: Relaxation | str) -> bool:
    """Whether it is one."""
    return value is None or value == AVERAGING or (not isinstance(value, str) and 0.0 < value < LARGEST_RELAXATION)


def expect_relaxation(value: Relaxation, where: str) -> None:
    """Refuses what is none."""
    if not _is_relaxation(value):
        raise InputError(
            f'{where}: relaxation = {value}; a factor above 0 and below {LARGEST_RELAXATION:g}, or "{AVERAGING}", is expected'
        )


def expect_usable(table: Any, where: str) -> None:
    """A name that may go into code and pages, and numbers that are some."""
    if not table.name.strip() or len(table.name) > LONGEST or strange_characters(table.name):
        raise InputError(
            f"{where}: name = {quoted(table.name)}; 1 to {LONGEST} letters, digits, spaces and {PUNCTUATION.strip()} are "
            "expected"
        )
    for entry in dataclasses.fields(table):
        value = getattr(table, entry.name)
        numbers = value if isinstance(value, tuple) else (value,)
        if any(isinstance(x, float) and not abs(x) <= LARGEST for x in numbers):
            raise InputError(f"{where}: {entry.name} = {value}; finite numbers are expected, up to {LARGEST:g}")


def choices_of(entry: dataclasses.Field[Any]) -> tuple[str, ...]:
    """Its values, where they are closed."""
    own: Option | None = entry.metadata.get("option")
    return entry.metadata.get("choices", ()) if own is None else own.choices


def as_names(names: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name, several or none, as a tuple."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def expect_choice(entry: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuses a value that is none of the choices."""
    if value not in choices:
        raise InputError(f'recipe: {entry} = "{value}" is not known; one of {", ".join(choices)} is expected')


def names_of(text: str) -> list[str]:
    """Names by commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"expected names by commas, found {text!r}; leave it out for the default.")
    return names


def relaxation_of(text: str) -> float | str:
    """A number, or the word `averaging`."""
    if text == AVERAGING:
        return text
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not _is_relaxation(factor):
        raise ValueError(f"{text} is neither a factor between 0 and {LARGEST_RELAXATION:g} nor `{AVERAGING}`.")
    return factor


def sweeps_of(text: str) -> int | dict[str, int]:
    """A count, or counts by variant."""
    counts: dict[str, int] = {}
    for part in text.split(","):
        variant, _, count = part.strip().rpartition("=")
        if variant in counts:
            raise ValueError(f"{text}: {variant or 'the count'} is given twice.")
        counts[variant] = int(count) if count.isdecimal() else 0
        if not 1 <= counts[variant] <= MOST_SWEEPS:
            raise ValueError(f"{part.strip()}: a count N in 1<=x<={MOST_SWEEPS}, or VARIANT=N by commas, is expected.")
    if "" in counts and len(counts) > 1:
        raise ValueError(f"{text}: either one count, or a count for each variant.")
    return counts.get("", counts)


def option_words(recipe: Any, plain: Any) -> list[str]:
    """The options of `diffpbd generate` that make the one `Recipe` of the other."""
    words: list[str] = []
    for entry in dataclasses.fields(recipe):
        value = getattr(recipe, entry.name)
        own: Option | None = entry.metadata.get("option")
        if own is None or value == getattr(plain, entry.name):
            continue
        flag = own.word(entry.name)
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-"))
        elif own.parse is names_of:
            joined = entry.name == "variants" and value == (*plain.variants, recipe.variant)
            words += [] if joined else [flag, ",".join(value)]
        elif entry.name == "sweeps":
            changed = {k: count for k, count in value.items() if count != plain.sweeps.get(k)}
            alone = set(changed) == {recipe.variant}
            words += [flag, ",".join(str(count) if alone else f"{k}={count}" for k, count in changed.items())]
        elif isinstance(value, tuple):
            words += [word for name in value for word in (flag, name)]
        else:
            words += [flag, str(value)]
    return words
