"""The options of an experiment: a picture and, beside it, a table; the steps that it runs on, and its recordings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from diffpbd.runtime.base.files import Named, distinct
from diffpbd.runtime.commands.numbers import RATE

__all__ = ["RECORDED", "STEP_NAMES", "picture_and_table", "recorded_rate", "step_option", "table_beside"]

Command = TypeVar("Command", bound=Callable[..., Any])


class StepName(click.Choice):  # type: ignore[type-arg]
    """A step by its name, or by that of its generated function."""

    name = "step"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """`step_paper_direct` is `paper_direct`, `joint_step` is `joint`."""
        functions = {"joint_step": "joint", "step": "variational", "step_variational_direct": "variational"}
        return super().convert(functions.get(value, str(value).removeprefix("step_")), param, ctx)


STEP_NAMES = ("paper_gauss_seidel", "paper_jacobi", "paper_direct", "variational", "joint")
"""Those of `reproduce.one_step`, which is loaded when a command runs."""
COLUMN_NAMES = ("printed_gauss_seidel", "printed_jacobi", *STEP_NAMES)
"""Those of `reproduce.columns`."""


def step_option(function: Command) -> Command:
    """--step (argument `steps`) and --printed (`printed`): what stands side by side, for `reproduce.columns`."""
    steps = click.option(
        "--step", "steps", multiple=True, type=StepName(COLUMN_NAMES),
        help="Step of a column, may be given again: the published one by its solver, as printed or in blocks, ours in "
        "maximal (variational) or joint coordinates. Default: the published ones that there are, and joint.",
    )  # fmt: skip
    printed = click.option(
        "--printed",
        metavar="ROBOT",
        help="The same robot, generated with --multiplier scalar --printed-order: columns of the step as printed.",
    )
    return steps(printed(function))


RECORDED = 99.0099  # Hz; of the recordings in docs/torque-estimation.md, which have no time column
recorded_rate = click.option(
    "--rate", type=RATE, default=RECORDED, show_default=True, metavar="HZ", help="Of logs without a time column."
)


def picture_and_table(picture: str, what: str) -> Callable[[Command], Command]:
    """--out, by default `picture`, and --table (argument `table_path`), which holds `what`."""

    def add(function: Command) -> Command:
        table = click.option("--table", "table_path", metavar="FILE.csv", help=f"{what} (default: beside it, .csv).")
        return click.option("--out", default=picture, show_default=True, metavar="FILE.png", help="The picture.")(
            table(function)
        )

    return add


def table_beside(out: str, table_path: str | None, inputs: Sequence[Named]) -> str:
    """The table's path; neither it nor the picture may be one of the `inputs` (option, path)."""
    distinct([("--out", out)], inputs)
    numbers = str(Path(out).with_suffix(".csv")) if table_path is None else table_path
    distinct([("--out", out), ("--table", numbers)], inputs)
    return numbers
