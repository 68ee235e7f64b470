"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["live_option", "plot_option"]

live_option = click.option(
    "--live/--no-live", default=True, help="On a terminal, a line with rate, latency and status while it runs.",
)  # fmt: skip


def plot_option(help: str) -> Callable[[Any], Any]:
    """`--plot`, a PNG of what `help` says."""
    return click.option("--plot", metavar="OUT.png", help=help)
