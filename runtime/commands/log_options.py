"""How logs are read and filtered: options that `log` and `identify` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from diffpbd.runtime.commands.mending_options import MENDING_OPTIONS, MendWords
from diffpbd.runtime.commands.numbers import RATE
from diffpbd.runtime.commands.options import grouped

if TYPE_CHECKING:
    from diffpbd.runtime.logs.processing import Processing
    from diffpbd.runtime.logs.recording import Reading

__all__ = ["LogWords", "log_options"]

STILL = "still"


@dataclass(frozen=True)
class LogWords(MendWords):
    """The options as given."""

    rate: float | None
    cutoff: float
    trim: float | str
    bridge: float
    torque: str | None
    topic: str | None
    column_map: str | None
    rates: str

    def reading(self) -> Reading:
        """How files are read; reads that of --map."""
        from diffpbd.runtime.logs.csv import read_column_map
        from diffpbd.runtime.logs.recording import Reading

        columns = read_column_map(self.column_map) if self.column_map is not None else {}
        mending = self.mending(derive=self.rates == "positions")
        return Reading(self.rate, columns, self.torque, self.topic, mending, self.accepted())

    def processing(self) -> Processing:
        """How they become samples."""
        from diffpbd.runtime.logs.processing import Processing

        still = self.trim == STILL
        return Processing(self.cutoff or None, trim=0.0 if still else float(self.trim), bridge=self.bridge, still=still)


def _trim(_ctx: click.Context, _param: click.Parameter, text: str) -> float | str:
    """Seconds, or the word."""
    try:
        return text if text == STILL else float(text)
    except ValueError:
        raise click.BadParameter(f"{text} is neither a number of seconds nor `{STILL}`.") from None


log_options = grouped(
    "words",
    LogWords,
    click.option(
        "--rate",
        type=RATE,
        metavar="HZ",
        help="Sampling rate of logs without time stamps, or to replace their stamps by even steps.",
    ),
    click.option("--cutoff", type=float, default=5.0, metavar="HZ", help="Of the low-pass filter (5); 0: none."),
    click.option(
        "--trim",
        callback=_trim,
        default="0",
        metavar="S",
        help="Cut off at both ends after filtering: seconds, or `still`, of each log what it has at rest there.",
    ),
    click.option(
        "--bridge", type=float, default=0.0, metavar="S", help="Close gaps up to this long instead of splitting there."
    ),
    click.option("--torque", metavar="FIELD", help="The signal that is the joint torque, such as actual_effort."),
    click.option("--topic", metavar="NAME", help="The topic of a bag, where several name the joints."),
    click.option("--map", "column_map", metavar="FILE.json", help="Renames columns of the logs."),
    click.option(
        "--rates",
        type=click.Choice(["recorded", "positions"]),
        default="recorded",
        help="The log's dq columns (default), or the derivative of the filtered positions.",
    ),
    *MENDING_OPTIONS,
)
"""Hands a command `words`."""
