"""Types of numeric options: every one has both ends, so that no number of a user's starts work without end."""

from __future__ import annotations

import math
from typing import Any

import click

from diffpbd.runtime.logs.table import RATES

__all__ = ["AMOUNT", "COUNT", "DURATION", "LONGEST", "MOST", "PORT", "RATE", "SEED", "SPEED", "Real", "Whole"]

LONGEST = 1e7  # s; about four months
FASTEST = 100.0  # rad/s or m/s; beyond what an arm does
MOST = 1000  # sweeps, starts, programs, processes
LARGEST = 1e3  # of what has no better bound, in SI units
LAST_SEED = 2**32 - 1
LAST_PORT = 65535


class Real(click.FloatRange):
    """A number in a range. NaN, which no comparison refuses, is not one."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or a usage error."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class Whole(click.IntRange):
    """A whole number in a range."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or a usage error."""
        try:
            int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number.", param, ctx)
        return super().convert(value, param, ctx)


DURATION = Real(0.0, LONGEST, min_open=True)
RATE = Real(*RATES)
SPEED = Real(0.0, FASTEST, min_open=True)
AMOUNT = Real(0.0, LARGEST)
COUNT = Whole(1, MOST)
SEED = Whole(0, LAST_SEED)
PORT = Whole(0, LAST_PORT)
