"""Options of every command that takes recordings: what to put right in them, and which contradictions to go on with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.options import grouped
from diffpbd.runtime.logs.findings import KINDS, expect_kinds
from diffpbd.runtime.logs.mending import TIME_UNITS, Mending

__all__ = ["MENDING_OPTIONS", "MendWords", "mending_options"]

SECONDS = "s"
LEAST, MOST = 1e-12, 1e12
"""Size of a factor: beyond it no unit is meant, and products of samples would leave the range of numbers."""


@dataclass(frozen=True)
class MendWords:
    """The options as given."""

    degrees: bool
    time_unit: str
    unwrap: bool | None
    scale: tuple[str, ...]
    accept: str | None
    flip: tuple[str, ...]
    drive_gain: str | None
    shift: tuple[str, ...]
    despike: bool
    sort: bool

    def mending(self, *, derive: bool = False) -> Mending:
        """What to put right; `derive`: rates come from the positions."""
        return Mending(
            degrees=self.degrees,
            time_unit=self.time_unit,
            unwrap=self.unwrap,
            flip=self.flip,
            scale=_numbers("--scale", self.scale),
            drive_gain=_gains(self.drive_gain),
            derive=derive,
            shift=_numbers("--shift", self.shift, least=0.0),
            despike=self.despike,
            sort=self.sort,
        )

    def expect_log(self, option: str) -> None:
        """Refuses words about a log where none is read: `option` reads it."""
        given = [name for name, value in vars(UNTOUCHED).items() if getattr(self, name) != value]
        if given:
            word = given[0].replace("_", "-")
            raise click.UsageError(f"--{word} is about a log; expected {option} with it (a goal is in rad and m).")

    def accepted(self) -> tuple[str, ...]:
        """Kinds of findings to go on with."""
        return expect_kinds(self.accept)


UNTOUCHED = MendWords(False, SECONDS, None, (), None, (), None, (), False, False)

MENDING_OPTIONS = (
    click.option("--degrees", is_flag=True, help="The log has hinges in degrees and degrees a second."),
    click.option(
        "--time-unit", type=click.Choice(list(TIME_UNITS)), default=SECONDS, help="Unit of the log's time column (s)."
    ),
    click.option(
        "--unwrap/--no-unwrap",
        default=None,
        help="Unwrap turns of 2π of all joints, or of none (default: of joints without limits).",
    ),
    click.option(
        "--scale",
        multiple=True,
        metavar="COLUMN=FACTOR",
        help="Multiply a column such as q_lift, all of q, dq, ddq, tau, or time; repeatable.",
    ),
    click.option(
        "--shift",
        multiple=True,
        metavar="COLUMN=NUMBER",
        help="Add to a column, such as an encoder's zero to q_lift [rad]; repeatable.",
    ),
    click.option("--sort", is_flag=True, help="Sort the rows of a table by their time stamps."),
    click.option("--despike", is_flag=True, help="Remove single outliers from torques."),
    click.option("--accept", metavar="KINDS", help=f"Accept these findings and continue, or all: {', '.join(KINDS)}."),
    click.option("--flip", multiple=True, metavar="JOINT", help="Turn the sign of this joint's torque; repeatable."),
    click.option(
        "--drive-gain",
        metavar="K",
        help="The log's tau is a motor current: torque = K times it [N·m/A], a number or JOINT=K,….",
    ),
)

mending_options = grouped("mends", MendWords, *MENDING_OPTIONS)
"""Hands a command `mends`."""


def _gains(text: str | None) -> dict[str, float]:
    if text is None:
        return {}
    return _numbers("--drive-gain", text.split(",")) if "=" in text else {"": _number("--drive-gain", text, text)}


def _numbers(option: str, words: Sequence[str], least: float = LEAST) -> dict[str, float]:
    """NAME=NUMBER words."""
    found: dict[str, float] = {}
    for word in words:
        name, _, text = (part.strip() for part in word.partition("="))
        if name in found:
            raise InputError(f"{option}: {name} is given twice.")
        found[name] = _number(option, text, word, least)
    return found


def _number(option: str, text: str, word: str, least: float = LEAST) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= abs(value) <= MOST:  # NaN too
        raise InputError(
            f"{option}: expected NAME=NUMBER with a number{' other than 0' if least else ''}, in size from {least:g} to "
            f"{MOST:g}, found {word!r}."
        )
    return value
