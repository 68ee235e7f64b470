"""A way in which a recording is spoiled, what is to be said of it, and the cure that is said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.spoiled.arm import TRUTH, Plant, Table, recorded, written

__all__ = ["Kind", "Spoil", "changed", "mapped", "matches", "pattern"]

Spoil = Callable[[Path], list[str]]
"""Writes recordings into a folder and returns the words of the command: LOGs, and options that belong to the mistake."""
Mend = Callable[[Path, list[str], "re.Match[str]"], list[str]]
"""The words that do what the cure says, from the folder, the words so far and what was said."""


@dataclass(frozen=True)
class Kind:
    """`says` and `cure` are parts of the output (line breaks as blanks) in which … stands for anything; without `says` it is
    read right. A cure of options is given as it is said; one of words is carried out by `mend`. `unseen`: nothing observes it,
    the reason. `noted`: part of the output where it is read right. `loose`: factor of the tolerances.
    `cause`: what the catalogue of causes calls it; others are read from the file alone."""

    group: str
    name: str
    spoil: Spoil
    says: str = ""
    cure: str = ""
    mend: Mend | None = None
    fit: str = "friction"
    unseen: str = ""
    noted: str = ""
    loose: float = 1.0
    cheap: bool = False
    truth: tuple[str, ...] = tuple(TRUTH)
    cause: str = ""


def pattern(text: str) -> re.Pattern[str]:
    """Of a part of an output in which … stands for anything, as short as it goes."""
    found = re.escape(text).replace("…", "(.*?)")
    return re.compile(found + (r"(?=[\s),;]|\.\s|\.$|$)" if found.endswith("(.*?)") else ""))


def matches(text: str, output: str) -> list[re.Match[str]]:
    """All places of an output."""
    return list(pattern(text).finditer(" ".join(output.split())))


def mapped(names: dict[str, str] | None = None) -> Mend:
    """A file of --map with the names that are known of the robot, or those that the message prints."""

    def mend(folder: Path, words: list[str], said: re.Match[str]) -> list[str]:
        path = folder / "map.json"
        path.write_text(json.dumps(names) if names is not None else said[1])
        return [*words, "--map", str(path)]

    return mend


def changed(
    change: Callable[[Table], Table | None], plant: Plant | None = None, *options: str, seeds: Sequence[int] = (2,),
    **how: object,
) -> Spoil:  # fmt: skip
    """CSV logs of changed tables."""

    def spoil(folder: Path) -> list[str]:
        words = []
        for seed in seeds:
            table = recorded(plant or Plant(), seed)
            table = change(table) or table
            words.append(str(written(folder / f"log{seed}.csv", table, **how)))  # type: ignore[arg-type]
        return [*words, *options]

    return spoil
