"""Options of every command that takes recordings: what to put right in them, and which contradictions to go on with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from diffpbd.runtime.errors import InputError
from diffpbd.runtime.logs.findings import KINDS, expect_kinds
from diffpbd.runtime.logs.mending import TIME_UNITS, Mending

__all__ = ["Mends", "log_options"]

Mends = tuple[Mending, tuple[str, ...]]
"""What to put right, and the kinds of findings that are accepted."""


def log_options(rates: bool = True, torques: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the options; the command gets them as `mends`. Without `rates` or `torques` those for them are left out."""
    options = [
        click.option("--degrees", is_flag=True, help="The log has hinges in degrees and degrees a second."),
        click.option(
            "--time-unit", type=click.Choice(list(TIME_UNITS)), default="s", help="Unit of the log's time column (s)."
        ),
        click.option(
            "--unwrap/--no-unwrap", default=None,
            help="Take turns of 2π out of all joints, or of none (default: of joints without ends).",
        ),
        click.option(
            "--scale", multiple=True, metavar="COLUMN=FACTOR",
            help="Multiply a column such as q_lift, or all of q, dq, ddq, tau; repeatable.",
        ),
        click.option(
            "--accept", metavar="KINDS", help=f"Go on in spite of these findings, or all: {', '.join(KINDS)}."
        ),
    ]  # fmt: skip
    if rates:
        options.append(
            click.option(
                "--rates", type=click.Choice(["recorded", "positions"]), default="recorded",
                help="The log's dq columns (default), or the derivative of the filtered positions.",
            )
        )  # fmt: skip
    if torques:
        options += [
            click.option("--flip", multiple=True, metavar="JOINT", help="Turn the sign of this torque; repeatable."),
            click.option(
                "--drive-gain", metavar="K",
                help="The log's tau is a motor current: torque = K times it [N·m/A], a number or JOINT=K,….",
            ),
        ]  # fmt: skip

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def gathered(*args: Any, **given: Any) -> Any:
            mending = Mending(
                degrees=given.pop("degrees"),
                time_unit=given.pop("time_unit"),
                unwrap=given.pop("unwrap"),
                flip=tuple(given.pop("flip", ())),
                scale=_numbers("--scale", given.pop("scale")),
                drive_gain=_gains(given.pop("drive_gain", None)),
                derive=rates and given.pop("rates") == "positions",
            )
            return function(*args, mends=(mending, expect_kinds(given.pop("accept"))), **given)

        for option in reversed(options):
            gathered = option(gathered)
        return gathered

    return decorate


def _gains(text: str | None) -> dict[str, float]:
    if text is None:
        return {}
    return _numbers("--drive-gain", text.split(",")) if "=" in text else {"": _number("--drive-gain", text, text)}


def _numbers(option: str, words: Sequence[str]) -> dict[str, float]:
    """NAME=NUMBER words."""
    found: dict[str, float] = {}
    for word in words:
        name, _, text = (part.strip() for part in word.partition("="))
        if name in found:
            raise InputError(f"{option}: {name} is given twice.")
        found[name] = _number(option, text, word)
    return found


def _number(option: str, text: str, word: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not (value != 0.0 and abs(value) < float("inf")):  # NaN too
        raise InputError(f"{option}: expected NAME=NUMBER with a number other than 0, found {word!r}.")
    return value
