"""The options of a command that writes a picture and, beside it, a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from diffpbd.runtime.files import Named, distinct

__all__ = ["picture_and_table", "table_beside"]

Command = TypeVar("Command", bound=Callable[..., Any])


def picture_and_table(picture: str, what: str) -> Callable[[Command], Command]:
    """--out, by default `picture`, and --table (argument `table_path`), which holds `what`."""

    def add(function: Command) -> Command:
        table = click.option("--table", "table_path", help=f"{what} (default: beside it, .csv).")
        return click.option("--out", default=picture, show_default=True, help="The picture.")(table(function))

    return add


def table_beside(out: str, table_path: str | None, inputs: Sequence[Named]) -> str:
    """The table's path; neither it nor the picture may be one of the `inputs` (option, path)."""
    distinct([("--out", out)], inputs)
    numbers = str(Path(out).with_suffix(".csv")) if table_path is None else table_path
    distinct([("--out", out), ("--table", numbers)], inputs)
    return numbers
