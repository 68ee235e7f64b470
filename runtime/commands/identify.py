"""`diffpbd identify ROBOT LOG…`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import click
from click.core import ParameterSource

from diffpbd.runtime.base.errors import ArgumentError
from diffpbd.runtime.base.files import distinct
from diffpbd.runtime.base.options import named, option
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.locate import open_robot, robot_files
from diffpbd.runtime.commands.options.logs import LogWords, log_options
from diffpbd.runtime.commands.options.numbers import COUNT
from diffpbd.runtime.commands.options.shared import pose_field
from diffpbd.runtime.commands.options.tosses import identified, of_tosses
from diffpbd.runtime.commands.results.identification import Outputs
from diffpbd.runtime.commands.results.progress import progress
from diffpbd.runtime.commands.results.results import json_option
from diffpbd.runtime.commands.results.results import result as tell
from diffpbd.runtime.identify import (
    Identification,
    Map,
    Settings,
    Wanted,
    identify,
    implausible,
    in_contact,
    of_lengths,
    one_by_one,
    provenance,
    read_recordings,
    repeated,
    select,
    starting_point,
    unknown_torques,
    with_inertials,
    workers,
)  # fmt: skip
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.identification_text import summary

__all__ = ["command"]


_WORDS = "diffpbd.identify.words"  # of the command as given, in click's context


class _ManyValidationLogs(click.Command):
    """Takes every word after --validate up to the next option as a log: a shell's pattern may stand there."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeats --validate before each of its logs."""
        ctx.meta[_WORDS] = list(args)
        spread: list[str] = []
        open_ended = False
        for word in args:
            if word == "--validate":
                open_ended = True
                continue
            if word.startswith("-"):
                open_ended = False
            spread += ["--validate", word] if open_ended else [word]
        return super().parse_args(ctx, spread)


@dataclass(frozen=True)
class _Aim:
    """Options of what is fitted, to what, and from where."""

    fit: str | None = option("Such as friction,spring; see above.", None, metavar="LIST")
    fix: Mapping[str, float] = option(
        "Fix an entry of alpha at a value, even if --fit names it; repeatable.", make=dict, metavar="NAME=VALUE",
        many=True, parse=named("payload.mass=0.5"),
    )  # fmt: skip
    validate: tuple[str, ...] = option("Logs to test on, up to the next option.", (), metavar="LOG...", many=True)
    split: float | None = option("Fit on this first share of each LOG, test on the rest.", None, metavar="SHARE")
    params: str | None = option("Values of the other entries of alpha, and the start.", None, metavar="FILE")
    pose: Mapping[str, float] = pose_field()

    @property
    def names(self) -> list[str]:
        return self.fit.split(",") if self.fit is not None else []


@dataclass(frozen=True)
class _How:
    """Settings that need the robot, and processes that work."""

    unknown_torque: str | None = option(
        "Simultaneous: joints, or all, with unknown torque; readings of the others are exact.", None, metavar="JOINTS"
    )
    torque_sigma: str | None = option(
        "Standard deviation of the torque readings [N·m or N]; without it they are not used.", None,
        metavar="S|JOINT=S,…",
    )  # fmt: skip
    jobs: int = option("Processes for logs and starts (1).", 1, metavar="N", kind=COUNT)
    scheduler: str | None = option(
        "Dask scheduler whose workers share the files, instead of --jobs.", None, metavar="ADDRESS"
    )

    def __post_init__(self) -> None:
        """Refuses a deviation of nothing."""
        if self.torque_sigma is not None and self.unknown_torque is None:
            raise ArgumentError(
                "--torque-sigma: expected --unknown-torque beside it, which says whose torque is unknown."
            )

    def settings(self, given: Settings, robot: Robot, spread: Map) -> Settings:
        """The settings with the torques that are unknown."""
        unknown = self.unknown_torque
        torques = None if unknown is None else unknown_torques(robot, unknown, self.torque_sigma)
        return replace(given, torques=torques, spread=spread)


@click.command("identify", cls=_ManyValidationLogs)
@click.argument("robot")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@job("aim", _Aim)
@job("given", Settings)
@job("how", _How)
@log_options
@json_option
@job("outputs", Outputs)
def command(
    robot: str, logs: tuple[str, ...], aim: _Aim, given: Settings, how: _How, words: LogWords, outputs: Outputs
) -> None:  # fmt: skip
    """Identify parameters of the generated ROBOT from recordings.

    LIST holds, separated by commas: friction (Coulomb and viscous friction and a torque offset of every joint), spring
    (the joints that the recipe lists), spring.JOINT, the name of a force element (docs/elements.md), inertials,
    contact (friction of contacts and heights of planes, by motion in contact), loop (lengths of closed loops, by the encoders,
    as origin of such a robot), or entries of alpha or prefixes of them, such
    as rotor_inertia or payload.mass. The result is printed; --out writes it.
    """
    begin = time.perf_counter()
    if outputs.torques_out is not None and given.form != "simultaneous":
        raise ArgumentError(f"--torques-out is an option of --form simultaneous, found --form {given.form}.")
    if aim.fit is None and how.unknown_torque is None:
        raise ArgumentError(
            "--fit: expected what to fit, for example --fit friction,spring; only --unknown-torque goes without."
        )
    read = [("LOG", path) for path in logs] + [("--validate", path) for path in aim.validate]
    distinct(
        outputs.named(),
        [*read, ("--map", words.column_map), ("--params", aim.params), *robot_files(robot)],
    )
    loaded = open_robot(robot)
    how.settings(given, loaded, one_by_one)  # refuses what does not go together
    fitted = with_inertials(loaded, aim.names, given.form)
    if aim.names:
        select(fitted, aim.names, aim.fix)  # refused before hours of logs are read
    with workers(how.jobs, how.scheduler) as spread, progress() as say:
        settings = how.settings(given, loaded, spread)
        if of_tosses(loaded, aim.names):
            what = aim.names, aim.fix, aim.params, words, settings
            result = identified(loaded, logs, aim.validate, aim.split, *what, say)
            return _told(loaded, result, logs, aim, outputs, begin)
        by_positions = in_contact(aim.names) or of_lengths(loaded, aim.names)
        processing, source = words.processing(), click.get_current_context().get_parameter_source("cutoff")
        if by_positions and source is ParameterSource.DEFAULT:
            processing = replace(processing, cutoff=None)
        wanted = Wanted(
            words.reading_of([*logs, *aim.validate]),
            processing,
            aim.split,
            by_positions or settings.torques is not None,
            aim.pose,
        )
        base = starting_point(loaded, fitted, aim.names, aim.params, aim.fix)
        train, rest = read_recordings(loaded, logs, wanted, spread)
        held = rest + read_recordings(loaded, aim.validate, replace(wanted, split=None), spread)[0]
        result = identify(
            fitted, train, aim.names,
            fixed=aim.fix, validate=held, start=fitted.alpha.by_name(base), settings=settings, progress=say,
        )  # fmt: skip
    _told(loaded, result, logs, aim, outputs, begin, fitted)


def _told(
    robot: Robot, result: Identification, logs: tuple[str, ...], aim: _Aim, outputs: Outputs, begin: float,
    fitted: Robot | None = None,
) -> None:  # fmt: skip
    """Files and words of a result; `fitted` is the robot with what is fitted in alpha, where that is another."""
    source = provenance(robot, logs, aim.validate, click.get_current_context().meta[_WORDS])
    outputs.write(robot, result, source)
    warnings = [*implausible(fitted or robot, result), *repeated(source, logs, aim.validate)]
    text = [summary(result), *(f"\nwarning: {sentence}" for sentence in warnings)]
    text.append(f"\n{time.perf_counter() - begin:.1f} s in all.")
    tell("\n".join(text), {**json.loads(result.to_json(source)), "warnings": warnings}, *outputs.paths())
