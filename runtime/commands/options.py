"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

import click
from click.core import ParameterSource

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.commands.numbers import Real
from diffpbd.runtime.mpc.profile import PROFILE, PROFILES

__all__ = [
    "asked_apart",
    "clearance_option",
    "distances_options",
    "given",
    "goal_options",
    "grouped",
    "live_option",
    "meshes_option",
    "movie_option",
    "named_values",
    "plot_option",
    "pose_option",
    "report_option",
    "view_option",
]

live_option = click.option(
    "--live/--no-live", default=True, help="On a terminal, a line with rate, latency and status while it runs.",
)  # fmt: skip


pose_option = click.option(
    "--pose",
    multiple=True,
    metavar="JOINT=VALUE",
    help="Rough start position of a joint without motor and encoder in a closed loop (0); repeatable.",
)


NEAREST = 1.0  # m
BOUND = Real(0.0, 1e5, min_open=True)
"""Of accelerations and jerks [SI], of prices."""


def clearance_option(usual: float) -> Callable[[Any], Any]:
    """`--clearance`, the least distance of links from each other, `usual` by default."""
    return click.option(
        "--clearance",
        type=Real(-NEAREST, NEAREST),
        metavar="M",
        help=f"Links stay so far [m] from each other (default {usual:g}, where ROBOT was generated with --clearance; below 0: "
        "wide shapes may overlap by as much).",
    )


def distances_options(command: Any) -> Any:
    """`--clearance` that a plan may keep, and what it gives for that."""
    command = click.option(
        "--clearance-hard",
        is_flag=True,
        help="A plan that violates --clearance by more than 1 mm is rejected, and the last plan continues.",
    )(command)
    command = click.option(
        "--clearance-price", type=BOUND, metavar="W", help="Cost of a metre less than --clearance (1e4; hard: 1e5)."
    )(command)
    return clearance_option(0.0)(command)


def asked_apart(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `Mpc` for --clearance, which a plan keeps where it is given."""
    least, price, hard = (options.get(name) for name in ("clearance", "clearance_price", "clearance_hard"))
    if least is None and (price is not None or hard):
        raise click.UsageError(
            "--clearance-price and --clearance-hard are of a distance; expected --clearance M with them."
        )
    return {"clearance": least, "clearance_price": price, "clearance_hard": bool(hard)}


def plot_option(help: str) -> Callable[[Any], Any]:
    """`--plot`, a PNG of what `help` says."""
    return click.option("--plot", metavar="OUT.png", help=help)


GIVEN = (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP)
"""Where an option of the user's comes from: the command line, or the file of --config."""


def goal_options(command: Any) -> Any:
    """How a goal is approached, besides --goal-speed."""
    for option in (
        click.option("--goal-jerk", type=BOUND, help="Most jerk towards it [rad/s³]; default: 200 times --goal-speed."),
        click.option(
            "--goal-acceleration", type=BOUND, help="Most acceleration towards it [rad/s²]; default: 10 times --goal-speed."
        ),
        click.option(
            "--goal-profile", type=click.Choice(PROFILES), default=PROFILE,
            help="Way to the goal: with bounded acceleration and jerk (smooth), in the shortest time within these bounds "
            "(ruckig, an extra), or at constant speed (ramp).",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


view_option = click.option("--view", is_flag=True, help="Then show the motion in a local web page until Ctrl-C.")
report_option = click.option("--report", metavar="OUT.html", help="One self-contained page with words and figures.")
meshes_option = click.option(
    "--meshes", metavar="FILE.urdf", help="Of --view and --movie: the shapes of this URDF in place of sticks."
)
movie_option = click.option("--movie", metavar="OUT.gif", help="The robot moving, as a GIF.")


def given(but: Collection[str]) -> list[str]:
    """The options that the command line of the present command gives, except those of some names."""
    context = click.get_current_context()
    words = (p for p in context.command.params if isinstance(p, click.Option) and p.name not in but)
    return [p.opts[0] for p in words if context.get_parameter_source(p.name or "") in GIVEN]


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


def named_values(option: str, words: Sequence[str], example: str) -> dict[str, float]:
    """NAME=VALUE words of an option as numbers by name; `example` is one for the message."""
    found = {}
    for word in words:
        name, value = (part.strip() for part in (word.partition("=")[0], word.partition("=")[2]))
        if name in found:
            raise InputError(f"{option}: {name} is given twice.")
        try:
            found[name] = float(value)
        except ValueError:
            raise InputError(
                f"{option}: expected NAME=VALUE with a number, such as {example}, found {word!r}."
            ) from None
    return found
