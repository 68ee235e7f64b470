"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import click
from click.core import ParameterSource

from diffpbd.runtime.base.options import named, option

__all__ = [
    "given",
    "live_option",
    "meshes_option",
    "movie_option",
    "plot_option",
    "pose_field",
    "report_option",
    "told_options",
    "view_option",
]

live_option = click.option(
    "--live/--no-live", default=True, help="On a terminal, a line with rate, latency and status while it runs.",
)  # fmt: skip


def pose_field() -> Any:
    """The field `pose` of a command's words."""
    return option(
        "Rough start position of a joint without motor and encoder in a closed loop (0); repeatable.", make=dict,
        metavar="JOINT=VALUE", many=True, parse=named("j2=-1.2"),
    )  # fmt: skip


def plot_option(help: str) -> Callable[[Any], Any]:
    """`--plot`, a PNG of what `help` says."""
    return click.option("--plot", metavar="OUT.png", help=help)


GIVEN = (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP)
"""Where an option of the user's comes from: the command line, or the file of --config."""


view_option = click.option("--view", is_flag=True, help="Then show the motion in a local web page until Ctrl-C.")
report_option = click.option("--report", metavar="OUT.html", help="One self-contained page with words and figures.")
meshes_option = click.option(
    "--meshes", metavar="FILE.urdf", help="For --view and --movie: draw the shapes of this URDF instead of sticks."
)
movie_option = click.option("--movie", metavar="OUT.gif", help="The robot moving, as a GIF.")


def given(but: Collection[str]) -> list[str]:
    """The options that the command line of the present command gives, except those of some names."""
    return [word for name, word in told_options().items() if name not in but]


def told_options() -> dict[str, str]:
    """The same by their names, all of them."""
    context = click.get_current_context()
    words = (p for p in context.command.params if isinstance(p, click.Option))
    return {p.name: p.opts[0] for p in words if p.name and context.get_parameter_source(p.name) in GIVEN}
