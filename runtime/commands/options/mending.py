"""Options of every command that takes recordings: how they are read and put right, and which contradictions to accept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import click

from diffpbd.runtime.base.options import option, options_of
from diffpbd.runtime.causes.findings import KINDS, expect_kinds
from diffpbd.runtime.commands.options.numbers import RATE
from diffpbd.runtime.logs.csv import read_column_map
from diffpbd.runtime.logs.mending import Mending
from diffpbd.runtime.logs.recording import Reading

__all__ = ["FollowWords", "ReadWords"]


@dataclass(frozen=True)
class ReadWords(Mending):
    """Options of a command about its recordings."""

    accept: str | None = option(
        f"Accept these findings and continue, or all: {', '.join(KINDS)}.", None, metavar="KINDS"
    )
    rate: float | None = option(
        "Sampling rate of logs without time stamps, or to replace their stamps by even steps.",
        None,
        metavar="HZ",
        kind=RATE,
    )
    column_map: str | None = option("Renames columns of the logs.", None, flag="--map", metavar="FILE.json")

    def __post_init__(self) -> None:
        """Refuses what is no mending and no kind of finding."""
        super().__post_init__()
        expect_kinds(self.accept)

    def mending(self, *, derive: bool = False) -> Mending:
        """The corrections; `derive`: rates come from the positions."""
        return Mending(**{f.name: getattr(self, f.name) for f in fields(Mending)} | {"derive": derive})

    def columns(self) -> Mapping[str, str]:
        """Columns of the logs by their names in the file of --map."""
        return {} if self.column_map is None else read_column_map(self.column_map)

    def reading(self, *more: str, derive: bool = False) -> Reading:
        """How the logs are read; `more` kinds of findings to go on with."""
        accept = (*expect_kinds(self.accept), *more)
        return Reading(self.rate, self.columns(), mending=self.mending(derive=derive), accept=accept)


@dataclass(frozen=True)
class FollowWords(ReadWords):
    """Options of a command about a log that an arm shall follow."""

    bridge_jumps: bool = option(
        "Cross jumps of LOG, and approach its first sample, at --goal-speed; without this they are errors.", False
    )

    def expect_log(self, option: str) -> None:
        """Refuses words about a log where none is read: `option` reads it."""
        untouched = FollowWords()
        for field, own in options_of(untouched):
            if getattr(self, field.name) != getattr(untouched, field.name):
                word = own.word(field.name)
                raise click.UsageError(f"{word} is about a log; expected {option} with it (a goal is in rad and m).")
