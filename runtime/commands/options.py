"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from diffpbd.runtime.errors import InputError

__all__ = ["grouped", "live_option", "plot_option"]

DATA = (".csv", ".gz", ".npz", ".json", ".bag", ".db3", ".mcap", ".toml", ".urdf", ".html", ".c", ".h", ".so")
"""Endings of files that no picture replaces."""

live_option = click.option(
    "--live/--no-live", default=True, help="On a terminal, a line with rate, latency and status while it runs.",
)  # fmt: skip


def plot_option(help: str) -> Callable[[Any], Any]:
    """`--plot`, a PNG of what `help` says; a name that says other data is a slip that would cost a file."""
    return click.option("--plot", metavar="OUT.png", help=help, callback=_expect_picture)


def _expect_picture(_ctx: click.Context, _option: click.Parameter, path: str | None) -> str | None:
    if path is not None and path.lower().endswith(DATA):
        raise InputError(f"--plot {path}: a picture is written, expected a name such as {Path(path).stem}.png.")
    return path


def grouped(name: str, record: Any, *options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Options that a command gets together, as one argument `name`: a `record` (a dataclass) with a field an option."""

    def decorate(function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def call(**words: Any) -> Any:
            own = {field.name: words.pop(field.name) for field in fields(record)}
            return function(**words, **{name: record(**own)})

        wrapped: Any = call
        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped

    return decorate
