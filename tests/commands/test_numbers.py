"""Every numeric option has both ends, of its type or by a check with a message of its own."""

from __future__ import annotations

from collections.abc import Iterator

import click

from diffpbd.runtime import cli
from diffpbd.runtime.commands.options.numbers import Real
from experiments.__main__ import command as experiments

CHECKED_LATER = {
    "drive-gain": {"--cutoff", "--bridge"}, "estimate-torque": {"--cutoff"}, "log": {"--cutoff", "--bridge"},
    "identify": {"--cutoff", "--bridge", "--split", "--prior"},
}  # fmt: skip
"""Options whose range is that of the library's own check, which other callers need too."""


def options() -> Iterator[tuple[str, click.Option]]:
    for group in (cli.cli, experiments):
        assert isinstance(group, cli.LazyGroup)
        for name in group.places:
            command = group.get_command(click.Context(group), name)
            assert command is not None
            yield from ((name, option) for option in command.params if isinstance(option, click.Option))


def test_every_number_has_both_ends() -> None:
    seen: dict[str, set[str]] = {}
    for name, option in options():
        kind = option.type
        if kind in (click.FLOAT, click.INT):
            seen.setdefault(name, set()).add(option.opts[0])
        elif isinstance(kind, (click.FloatRange, click.IntRange)):
            assert isinstance(kind, (Real, click.IntRange)), (name, option.opts)
            assert kind.min is not None and kind.max is not None, (name, option.opts)
    assert seen == CHECKED_LATER
