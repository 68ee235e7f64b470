"""`diffpbd identify ROBOT LOG…`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import click

from diffpbd.runtime.commands.locate import open_robot, robot_files
from diffpbd.runtime.commands.tables import number, table
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.files import distinct, write_atomic
from diffpbd.runtime.logs.csv import read_column_map, read_log
from diffpbd.runtime.logs.processing import Processing, Samples, names_of, process
from diffpbd.runtime.report.identification import page
from diffpbd.runtime.robot import Robot
from diffpbd.runtime.solve.forms import identify_motion
from diffpbd.runtime.solve.identify import PRIOR, identify
from diffpbd.runtime.solve.result import Errors, Identification

__all__ = ["command", "read_recordings", "summary"]


class _ManyValidationLogs(click.Command):
    """Takes every word after --validate up to the next option as a log: a shell's pattern may stand there."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeats --validate before each of its logs."""
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


@click.command("identify", cls=_ManyValidationLogs)
@click.argument("robot")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--fit", required=True, metavar="LIST", help="Such as friction,spring; see below.")
@click.option("--validate", multiple=True, metavar="LOG...", help="Logs to test on, up to the next option.")
@click.option("--form", type=click.Choice(["torque", "shooting", "simultaneous"]), default="torque", help="The formulation.")
@click.option("--rate", type=float, metavar="HZ", help="Sampling rate of logs without a time column.")
@click.option("--cutoff", type=float, default=5.0, metavar="HZ", help="Of the low-pass filter (5); 0: none.")
@click.option("--trim", type=float, default=0.0, metavar="S", help="Cut off at both ends after filtering.")
@click.option("--prior", type=float, default=PRIOR, metavar="W", help=f"Pull of inertials to the description ({PRIOR:g}).")
@click.option("--map", "column_map", metavar="FILE.json", help="Renames columns of the logs.")
@click.option("--params", metavar="FILE", help="Values of the other entries of alpha, and the start.")
@click.option("--out", metavar="FILE.json", help="Writes the parameters, for --params of other commands.")
@click.option("--report", metavar="OUT.html", help="Writes one self-contained page with tables and figures.")
def command(
    robot: str,
    logs: tuple[str, ...],
    fit: str,
    validate: tuple[str, ...],
    form: str,
    rate: float | None,
    cutoff: float,
    trim: float,
    prior: float,
    column_map: str | None,
    params: str | None,
    out: str | None,
    report: str | None,
) -> None:
    """Identify parameters of the generated ROBOT from recordings.

    LIST holds, separated by commas: friction (Coulomb and viscous friction and a torque offset of every joint), spring
    (the joints that the recipe lists), spring.JOINT, inertials, or entries of alpha and their beginnings, such as
    rotor_inertia or payload.mass. The result is printed; --out writes it.
    """
    begin = time.perf_counter()
    read = [("LOG", path) for path in logs] + [("--validate", path) for path in validate]
    distinct(
        [("--out", out), ("--report", report)],
        [*read, ("--map", column_map), ("--params", params), *robot_files(robot)],
    )
    loaded = open_robot(robot)
    processing = Processing(cutoff=cutoff or None, trim=trim)
    columns = read_column_map(column_map) if column_map is not None else None
    train = read_recordings(loaded, logs, rate=rate, columns=columns, processing=processing)
    held = read_recordings(loaded, validate, rate=rate, columns=columns, processing=processing)
    with progress() as say:
        if form == "torque":
            result = identify(loaded, train, fit.split(","), validate=held, start=params, prior=prior, progress=say)
        else:
            result = identify_motion(form, loaded, train, fit.split(","), validate=held, start=params, progress=say)
    contents = [
        (path, make(result))
        for path, make in ((out, Identification.to_json), (report, page))
        if path is not None
    ]
    for path, content in contents:
        write_atomic(path, content)
    click.echo(summary(result))
    written = " and ".join(path for path in (out, report) if path is not None)
    click.echo(f"\n{time.perf_counter() - begin:.1f} s in all." + (f" Wrote {written}." if written else ""))


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A line that changes on a terminal, plain lines elsewhere."""
    if not sys.stdout.isatty():
        yield click.echo
        return
    from rich.console import Console

    with Console().status("Reading") as status:
        yield status.update


def read_recordings(
    robot: Robot,
    paths: Sequence[str],
    *,
    rate: float | None,
    columns: Mapping[str, str] | None,
    processing: Processing,
) -> list[Samples]:
    """Logs of the robot's joints as samples; a fault names the file."""
    samples = []
    for name, path in zip(names_of(list(paths)), paths, strict=True):
        log = read_log(path, rate=rate, columns=columns)
        try:
            log = log.select(robot.joints)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        samples += process(name, log, processing)
    return samples


def summary(result: Identification) -> str:
    """The result for people."""
    lines = [f"\n{result.status}: {result.iterations} iterations. {result.processing.describe()}."]
    lines += [f"Note: {note}" for note in result.notes]
    rows = [
        [e.name, number(e.value), number(e.std, 2), e.unit, f"at its {e.bound} bound" if e.bound else ""]
        for e in result.estimates
    ]
    lines += ["", table(["parameter", "value", "std", "unit", ""], rows)]
    lines.append(
        f"\nRank {result.rank} of {result.unknowns}, condition {result.condition:.3g} (normalised columns). Standard "
        f"deviations allow for residuals correlated over up to {result.window:.2g} s."
    )
    if result.correlations:
        lines += ["\nHardly told apart:"]
        lines += [f"  {c.first} and {c.second}: correlation {c.value:.4f}" for c in result.correlations]
    if result.lost:
        lines += ["\nNot identifiable:", *(f"  {item.name}: {item.reason}" for item in result.lost)]
    lines += ["", _errors(result.joints, result.train, result.validate)]
    return "\n".join(lines)


def _errors(joints: Sequence[str], train: Errors, held: Errors | None) -> str:
    header = ["joint", "train RMSE", "bias"]
    rows = [[j, number(train.rmse[j], 3), number(train.bias[j], 2)] for j in joints]
    if held is not None:
        header += ["validate RMSE", "bias", "about the bias"]
        for row, j in zip(rows, joints, strict=True):
            row += [number(held.rmse[j], 3), number(held.bias[j], 2), number(held.centred[j], 3)]
    return table(header, rows)
