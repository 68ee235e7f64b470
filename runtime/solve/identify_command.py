"""`diffpbd identify ROBOT LOG…`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from diffpbd.runtime.commands.locate import open_robot, robot_files
from diffpbd.runtime.commands.numbers import COUNT, RATE
from diffpbd.runtime.commands.options import plot_option
from diffpbd.runtime.commands.tables import number, table
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.files import distinct, write_atomic
from diffpbd.runtime.live import Parts, duration, live_line
from diffpbd.runtime.logs.csv import read_column_map
from diffpbd.runtime.logs.processing import Processing, Samples, names_of, process
from diffpbd.runtime.logs.recording import Reading, Recording, read_recording
from diffpbd.runtime.report.identification import page
from diffpbd.runtime.robot import Robot
from diffpbd.runtime.solve.forms import identify_motion
from diffpbd.runtime.solve.identify import LOSSES, PRIOR, identify
from diffpbd.runtime.solve.result import COMBINATION, Identification
from diffpbd.runtime.solve.workers import Map, one_by_one, workers

__all__ = ["command", "read_recordings", "summary"]


MOST_LINES = 6  # parameters that only combinations determine and that are explained one by one


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
@click.option("--rate", type=RATE, metavar="HZ", help="Sampling rate of logs without a time column.")
@click.option("--cutoff", type=float, default=5.0, metavar="HZ", help="Of the low-pass filter (5); 0: none.")
@click.option("--trim", type=float, default=0.0, metavar="S", help="Cut off at both ends after filtering.")
@click.option("--bridge", type=float, default=0.0, metavar="S", help="Close gaps up to this long instead of splitting there.")
@click.option("--split", type=float, metavar="SHARE", help="Fit on this first share of each LOG, test on the rest.")
@click.option("--torque", metavar="FIELD", help="The signal that is the joint torque, such as actual_effort.")
@click.option("--topic", metavar="NAME", help="The topic of a bag, where several name the joints.")
@click.option("--prior", type=float, default=PRIOR, metavar="W", help=f"Pull of inertials to the description ({PRIOR:g}).")
@click.option("--loss", type=click.Choice(list(LOSSES)), default=LOSSES[0], help="Huber's takes outliers lightly.")
@click.option("--starts", type=COUNT, default=1, metavar="N", help="Solve from N starts, keep the best (1).")
@click.option("--leave-one-out", is_flag=True, help="Also fit without each recording in turn and test on it (torque form).")
@click.option("--jobs", type=COUNT, default=1, metavar="N", help="Processes for logs and starts (1).")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler whose workers share the files, instead of --jobs.")
@click.option("--map", "column_map", metavar="FILE.json", help="Renames columns of the logs.")
@click.option("--params", metavar="FILE", help="Values of the other entries of alpha, and the start.")
@click.option("--out", metavar="FILE.json", help="Writes the parameters, for --params of other commands.")
@click.option("--report", metavar="OUT.html", help="Writes one self-contained page with tables and figures.")
@plot_option("Measured and predicted torques of a LOG of --validate, or else of the fit.")
def command(
    robot: str,
    logs: tuple[str, ...],
    fit: str,
    validate: tuple[str, ...],
    form: str,
    rate: float | None,
    cutoff: float,
    trim: float,
    bridge: float,
    split: float | None,
    torque: str | None,
    topic: str | None,
    prior: float,
    loss: str,
    starts: int,
    leave_one_out: bool,
    jobs: int,
    scheduler: str | None,
    column_map: str | None,
    params: str | None,
    out: str | None,
    report: str | None,
    plot: str | None,
) -> None:
    """Identify parameters of the generated ROBOT from recordings.

    LIST holds, separated by commas: friction (Coulomb and viscous friction and a torque offset of every joint), spring
    (the joints that the recipe lists), spring.JOINT, inertials, or entries of alpha and their beginnings, such as
    rotor_inertia or payload.mass. The result is printed; --out writes it.
    """
    begin = time.perf_counter()
    read = [("LOG", path) for path in logs] + [("--validate", path) for path in validate]
    distinct(
        [("--out", out), ("--report", report), ("--plot", plot)],
        [*read, ("--map", column_map), ("--params", params), *robot_files(robot)],
    )
    loaded = open_robot(robot)
    processing = Processing(cutoff=cutoff or None, trim=trim, bridge=bridge)
    if split is not None and not 0.0 < split < 1.0:  # NaN too
        raise InputError(f"--split: expected a share between 0 and 1, found {split:g}.")
    if leave_one_out and form != "torque":
        raise InputError(f"--leave-one-out belongs to --form torque; with --form {form} use --validate or --split.")
    columns = read_column_map(column_map) if column_map is not None else {}
    reading = Reading(rate, columns, torque, topic)
    with workers(jobs, scheduler) as spread, progress() as say:
        train, rest = read_recordings(loaded, logs, reading, processing, split=split, spread=spread)
        held = rest + read_recordings(loaded, validate, reading, processing, spread=spread)[0]
        options: dict[str, Any] = {"prior": prior, "loss": loss, "starts": starts, "spread": spread, "progress": say}
        if form == "torque":
            options["cross_validate"] = leave_one_out
            result = identify(loaded, train, fit.split(","), validate=held, start=params, **options)
        else:
            result = identify_motion(form, loaded, train, fit.split(","), validate=held, start=params, progress=say)
    contents = [
        (path, make(result))
        for path, make in ((out, Identification.to_json), (report, page))
        if path is not None
    ]
    if plot is not None:
        _draw(plot, loaded, result)
    for path, content in contents:
        write_atomic(path, content)
    click.echo(summary(result))
    written = " and ".join(path for path in (out, report, plot) if path is not None)
    click.echo(f"\n{time.perf_counter() - begin:.1f} s in all." + (f" Wrote {written}." if written else ""))


def _draw(plot: str, robot: Robot, result: Identification) -> None:
    from diffpbd.runtime.reproduce.torque_plots import plot_curves

    trace = (result.validate or result.train).traces[0]
    curves = {"measured": (trace.time, trace.measured), "predicted": (trace.time, trace.predicted)}
    use = "not used for the fit" if result.validate else "of the fit"
    plot_curves(plot, robot, range(robot.n), curves, f"{robot.name}: torques of {trace.name}, {use}")


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A line that changes on a terminal, plain lines elsewhere."""
    begin, said = time.perf_counter(), ["Reading"]

    def show() -> Parts:
        return [("running", "good"), (f"  {said[-1]}  for {duration(time.perf_counter() - begin)}", "")]

    with live_line(show, wanted=sys.stdout.isatty()) as shown:
        yield said.append if shown else click.echo


@dataclass(frozen=True)
class _Task:
    name: str
    path: str
    joints: tuple[str, ...]
    reading: Reading
    processing: Processing
    split: float | None


def read_recordings(
    robot: Robot,
    paths: Sequence[str],
    reading: Reading,
    processing: Processing,
    *,
    split: float | None = None,
    spread: Map = one_by_one,
) -> tuple[list[Samples], list[Samples]]:
    """Logs of the robot's joints as samples; with `split` the first share of each, and the rest; a fault names the file."""
    names = names_of(list(paths))
    tasks = [_Task(n, str(p), robot.joints, reading, processing, split) for n, p in zip(names, paths, strict=True)]
    first: list[Samples] = []
    second: list[Samples] = []
    for early, late in spread(_read, tasks):
        first += early
        second += late
    return first, second


def _read(task: _Task) -> tuple[list[Samples], list[Samples]]:
    recording = read_recording(task.path, task.joints, task.reading)
    if task.split is None:
        return _process(task.name, recording, task.processing), []
    early, late = recording.split(task.split)
    return (
        _process(f"{task.name} to {early.time[-1]:.6g} s", early, task.processing),
        _process(f"{task.name} from {late.time[0]:.6g} s", late, task.processing),
    )


def _process(name: str, recording: Recording, processing: Processing) -> list[Samples]:
    return process(name, recording, processing, breaks=recording.breaks, notes=recording.notes)


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
    if result.base:
        lines += [f"\n{len(result.base)} base parameters (I about the link origin; std by the recordings alone):"]
        lines += [f"{number(e.value, 5):>12} ± {number(e.std, 2):<8} {e.unit:<6} {e.name}" for e in result.base]
    if result.lost:
        lines += ["\nNot identifiable:", *_lost(result)]
    lines += ["", _errors(result)]
    return "\n".join(lines)


def _lost(result: Identification) -> list[str]:
    """A line each; of many that only combinations determine, their names: the base parameters say which."""
    combined = [item for item in result.lost if item.reason.startswith(COMBINATION)]
    many = len(combined) > MOST_LINES and bool(result.base)
    lines = [f"  {item.name}: {item.reason}" for item in result.lost if not (many and item in combined)]
    if many:
        lines.append(f"  {COMBINATION} (see the base parameters): {', '.join(item.name for item in combined)}")
    return lines


def _errors(result: Identification) -> str:
    joints, train, held = result.joints, result.train, result.validate
    header = ["joint", "train RMSE", "bias"]
    rows = [[j, number(train.rmse[j], 3), number(train.bias[j], 2)] for j in joints]
    if held is not None:
        header += ["validate RMSE", "bias", "about the bias"]
        for row, j in zip(rows, joints, strict=True):
            row += [number(held.rmse[j], 3), number(held.bias[j], 2), number(held.centred[j], 3)]
    if result.left_out is not None:
        header.append("leave one out")
        for row, j in zip(rows, joints, strict=True):
            row.append(number(result.left_out[j], 3))
    return table(header, rows)
