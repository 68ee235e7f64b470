"""The command of an experiment: ROBOT, the options of its dataclass, --json, a picture and, beside it, a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from diffpbd.runtime.base.files import Named, distinct
from diffpbd.runtime.base.options import options_of
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.locate import files_in, open_robot, robot_files
from diffpbd.runtime.commands.results.results import finish, json_option, tables

__all__ = ["Outputs", "experiment", "read_by"]


class Outputs(NamedTuple):
    """Paths of what an experiment writes."""

    picture: str
    table: str


def experiment(
    name: str, record: Any, robot: str, table: str, *, picture: str = "", opened: Callable[[str], Any] = open_robot
) -> Callable[[Callable[..., None]], click.Command]:
    """Makes a command of a function of ROBOT (`robot` by default; "": it has none), as `opened` makes it of its word, of a
    `record` of options (None: no options) and of `Outputs`: `picture` by default, and `table` is what the table holds."""

    def decorate(function: Callable[..., None]) -> click.Command:
        def call(out: str, beside: str | None, robot: str = "", **own: Any) -> None:
            given = [opened(robot)] if robot else []
            inputs = [("ROBOT", robot)] if opened is str else robot_files(robot) if robot else []
            inputs += [file for made in own.values() for file in read_by(made)]
            distinct([("--out", out)], inputs)
            numbers = str(Path(out).with_suffix(".csv")) if beside is None else beside
            distinct([("--out", out), ("--table", numbers)], inputs)
            function(*given, *own.values(), Outputs(out, numbers))
            finish(tables(), out, numbers)

        made: Any = call
        for add in (
            click.option("--table", "beside", metavar="FILE.csv", help=f"{table} (default: beside it, .csv)."),
            click.option("--out", default=picture or f"{name}.png", metavar="FILE.png", help="The picture."),
            json_option,
            *([job("own", record)] if record else []),
            *([click.argument("robot", default=robot)] if robot else []),
        ):
            made = add(made)
        return click.command(name, help=function.__doc__, context_settings={"show_default": True})(made)

    return decorate


def read_by(record: Any) -> list[Named]:
    """The files that the options of a dataclass name, which no output may overwrite."""
    return [
        named
        for field, option in options_of(record)
        if option.reads is not None and (word := getattr(record, field.name)) is not None
        for named in files_in(option.word(field.name), option.reads(word))
    ]
