"""Options of every command that takes recordings: what to put right in them, and which contradictions to go on with."""

from __future__ import annotations

from dataclasses import dataclass, fields

import click

from diffpbd.runtime.base.options import option, options_of
from diffpbd.runtime.commands.derived import job
from diffpbd.runtime.logs.findings import KINDS, expect_kinds
from diffpbd.runtime.logs.mending import Mending

__all__ = ["MendWords", "mending_options"]


@dataclass(frozen=True)
class MendWords(Mending):
    """What a command is told of its recordings."""

    accept: str | None = option(
        f"Accept these findings and continue, or all: {', '.join(KINDS)}.", None, metavar="KINDS"
    )

    def mending(self, *, derive: bool = False) -> Mending:
        """What to put right; `derive`: rates come from the positions."""
        return Mending(**{f.name: getattr(self, f.name) for f in fields(Mending)} | {"derive": derive})

    def expect_log(self, option: str) -> None:
        """Refuses words about a log where none is read: `option` reads it."""
        untouched = MendWords()
        for field, own in options_of(self):
            if getattr(self, field.name) != getattr(untouched, field.name):
                word = own.word(field.name)
                raise click.UsageError(f"{word} is about a log; expected {option} with it (a goal is in rad and m).")

    def accepted(self) -> tuple[str, ...]:
        """Kinds of findings to go on with."""
        return expect_kinds(self.accept)


mending_options = job("mends", MendWords)
"""Hands a command `mends`."""
