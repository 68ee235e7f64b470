"""`diffpbd identify ROBOT LOG…`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from diffpbd.runtime.commands.locate import open_robot, robot_files
from diffpbd.runtime.commands.log_options import Mends, log_options
from diffpbd.runtime.commands.numbers import COUNT, RATE
from diffpbd.runtime.commands.options import plot_option
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.files import distinct, write_atomic
from diffpbd.runtime.identify.bodies import PRIOR
from diffpbd.runtime.identify.forms import identify_motion
from diffpbd.runtime.identify.identify import LOSSES, identify
from diffpbd.runtime.identify.result import Identification
from diffpbd.runtime.identify.torques import unknown_torques, write_torques
from diffpbd.runtime.identify.trajectory import Settings
from diffpbd.runtime.identify.workers import Map, one_by_one, workers
from diffpbd.runtime.live import Parts, duration, live_line
from diffpbd.runtime.logs.checked import check_parts, read_checked
from diffpbd.runtime.logs.csv import read_column_map
from diffpbd.runtime.logs.processing import Processing, Samples, filter_parts, names_of, process
from diffpbd.runtime.logs.recording import Reading, Recording
from diffpbd.runtime.manifest import Joint
from diffpbd.runtime.report.identification import page
from diffpbd.runtime.report.identification_text import summary
from diffpbd.runtime.robot import Robot

__all__ = ["command", "read_recordings"]


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
@click.option("--fit", metavar="LIST", help="Such as friction,spring; see above.")
@click.option(
    "--fix", multiple=True, metavar="NAME=VALUE", help="Hold an entry of alpha, though --fit names it; repeatable."
)
@click.option("--validate", multiple=True, metavar="LOG...", help="Logs to test on, up to the next option.")
@click.option(
    "--form", type=click.Choice(["torque", "shooting", "simultaneous"]), default="torque", help="The formulation."
)
@click.option("--continuity", is_flag=True, help="Shooting: each window begins where the one before ended.")
@click.option(
    "--unknown-torque",
    metavar="JOINTS",
    help="Simultaneous: joints, or all, with unknown torque; others have theirs exactly.",
)
@click.option(
    "--torque-sigma",
    metavar="S",
    help="How far their readings are off [N·m or N], a number or JOINT=S,…; without: unused.",
)
@click.option(
    "--torques-out", metavar="FILE", help="Simultaneous: writes the estimated torques, CSV or NPZ by its ending."
)
@click.option("--rate", type=RATE, metavar="HZ", help="Sampling rate of logs without a time column.")
@click.option("--cutoff", type=float, default=5.0, metavar="HZ", help="Of the low-pass filter (5); 0: none.")
@click.option("--trim", type=float, default=0.0, metavar="S", help="Cut off at both ends after filtering.")
@click.option(
    "--bridge", type=float, default=0.0, metavar="S", help="Close gaps up to this long instead of splitting there."
)
@click.option("--split", type=float, metavar="SHARE", help="Fit on this first share of each LOG, test on the rest.")
@click.option("--torque", metavar="FIELD", help="The signal that is the joint torque, such as actual_effort.")
@click.option("--topic", metavar="NAME", help="The topic of a bag, where several name the joints.")
@log_options()
@click.option(
    "--prior", type=float, default=PRIOR, metavar="W", help=f"Pull of inertials to the description ({PRIOR:g})."
)
@click.option(
    "--loss", type=click.Choice(list(LOSSES)), default=LOSSES[0], help="Huber's: outliers lightly (torque form)."
)
@click.option(
    "--starts", type=COUNT, default=1, metavar="N", help="Solve from N starts, keep the best (1; torque form)."
)
@click.option(
    "--leave-one-out", is_flag=True, help="Also fit without each recording in turn and test on it (torque form)."
)
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
    fit: str | None,
    fix: tuple[str, ...],
    validate: tuple[str, ...],
    form: str,
    continuity: bool,
    unknown_torque: str | None,
    torque_sigma: str | None,
    torques_out: str | None,
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
    mends: Mends,
) -> None:
    """Identify parameters of the generated ROBOT from recordings.

    LIST holds, separated by commas: friction (Coulomb and viscous friction and a torque offset of every joint), spring
    (the joints that the recipe lists), spring.JOINT, lever_spring (of a robot generated with --lever-spring), inertials, or
    entries of alpha and their beginnings, such as rotor_inertia or payload.mass. The result is printed; --out writes it.
    """
    begin = time.perf_counter()
    read = [("LOG", path) for path in logs] + [("--validate", path) for path in validate]
    distinct(
        [("--out", out), ("--report", report), ("--torques-out", torques_out), ("--plot", plot)],
        [*read, ("--map", column_map), ("--params", params), *robot_files(robot)],
    )
    loaded = open_robot(robot)
    processing = Processing(cutoff=cutoff or None, trim=trim, bridge=bridge)
    if split is not None and not 0.0 < split < 1.0:  # NaN too
        raise InputError(f"--split: expected a share between 0 and 1, found {split:g}.")
    if form != "torque":
        _refuse({"--leave-one-out": leave_one_out, "--loss huber": loss != LOSSES[0], "--starts": starts > 1}, form)
    settings = _settings(loaded, form, fit, prior, continuity, unknown_torque, torque_sigma, torques_out)
    names = fit.split(",") if fit is not None else []
    fixed = _fixed(fix)
    start = loaded.alpha.by_name(loaded.alpha.vector(fixed, base=loaded.alpha.vector(params))) if fixed else params
    columns = read_column_map(column_map) if column_map is not None else {}
    reading = Reading(rate, columns, torque, topic, *mends)
    with workers(jobs, scheduler) as spread, progress() as say:
        bare = settings.torques is not None
        train, rest = read_recordings(loaded, logs, reading, processing, split=split, spread=spread, bare=bare)
        held = rest + read_recordings(loaded, validate, reading, processing, spread=spread)[0]
        common: dict[str, Any] = {"fixed": fixed, "validate": held, "start": start, "progress": say}
        options: dict[str, Any] = {"prior": prior, "loss": loss, "starts": starts, "spread": spread}
        if form == "torque":
            options["cross_validate"] = leave_one_out
            result = identify(loaded, train, names, **common, **options)
        else:
            result = identify_motion(form, loaded, train, names, settings=settings, **common)
    contents = [
        (path, make(result)) for path, make in ((out, Identification.to_json), (report, page)) if path is not None
    ]
    if plot is not None:
        _draw(plot, loaded, result)
    for path, content in contents:
        write_atomic(path, content)
    if torques_out is not None:
        write_torques(torques_out, result.joints, result.torques)
    click.echo(summary(result))
    written = " and ".join(path for path in (out, report, torques_out, plot) if path is not None)
    click.echo(f"\n{time.perf_counter() - begin:.1f} s in all." + (f" Wrote {written}." if written else ""))


def _draw(plot: str, robot: Robot, result: Identification) -> None:
    from diffpbd.runtime.reproduce.torque_plots import plot_curves

    trace = (result.validate or result.train).traces[0]
    curves = {"measured": (trace.time, trace.measured), "predicted": (trace.time, trace.predicted)}
    use = "not used for the fit" if result.validate else "of the fit"
    plot_curves(plot, robot, range(robot.n), curves, f"{robot.name}: torques of {trace.name}, {use}")


def _fixed(words: Sequence[str]) -> dict[str, float]:
    """NAME=VALUE words as numbers by name."""
    found = {}
    for word in words:
        name, value = (part.strip() for part in (word.partition("=")[0], word.partition("=")[2]))
        if name in found:
            raise InputError(f"--fix: {name} is given twice.")
        try:
            found[name] = float(value)
        except ValueError:
            raise InputError(
                f"--fix: expected NAME=VALUE with a number, such as payload.mass=0.5, found {word!r}."
            ) from None
    return found


def _refuse(given: Mapping[str, bool], form: str) -> None:
    """Options of the torque form that another form would pass over in silence."""
    for name, there in given.items():
        if there:
            raise InputError(f"{name} belongs to --form torque, found --form {form}.")


def _settings(
    robot: Robot,
    form: str,
    fit: str | None,
    prior: float,
    continuity: bool,
    unknown: str | None,
    sigma: str | None,
    torques_out: str | None,
) -> Settings:
    """What the forms along trajectories are told; combinations that mean nothing are refused."""
    given = {
        "--continuity": continuity,
        "--unknown-torque": unknown is not None,
        "--torques-out": torques_out is not None,
    }
    for name, there in given.items():
        needed = "shooting" if name == "--continuity" else "simultaneous"
        if there and form != needed:
            raise InputError(f"{name} is an option of --form {needed}, found --form {form}.")
    if sigma is not None and unknown is None:
        raise InputError("--torque-sigma: expected --unknown-torque beside it, which says whose torque is unknown.")
    if fit is None and unknown is None:
        raise InputError(
            "--fit: expected what to fit, for example --fit friction,spring; only --unknown-torque goes without."
        )
    return Settings(prior, continuity, None if unknown is None else unknown_torques(robot, unknown, sigma))


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
    joints: tuple[Joint, ...]
    reading: Reading
    processing: Processing
    split: float | None
    bare: bool


def read_recordings(
    robot: Robot,
    paths: Sequence[str],
    reading: Reading,
    processing: Processing,
    *,
    split: float | None = None,
    spread: Map = one_by_one,
    bare: bool = False,
) -> tuple[list[Samples], list[Samples]]:
    """Logs of the robot's joints as samples; with `split` the first share of each, and the rest; a fault names the file.

    With `bare` a log may have no torques.
    """
    names = names_of(list(paths))
    tasks = [
        _Task(n, str(p), robot.manifest.robot.joints, reading, processing, split, bare)
        for n, p in zip(names, paths, strict=True)
    ]
    first: list[Samples] = []
    second: list[Samples] = []
    for early, late in spread(_read, tasks):
        first += early
        second += late
    return check_parts(robot, first, reading.accept), check_parts(robot, second, reading.accept)


def _read(task: _Task) -> tuple[list[Samples], list[Samples]]:
    recording = read_checked(task.path, [joint.name for joint in task.joints], task.reading, task.joints)
    if task.split is None:
        return _process(task.name, recording, task), []
    early, late = recording.split(task.split)
    return (
        _process(f"{task.name} to {early.time[-1]:.6g} s", early, task),
        _process(f"{task.name} from {late.time[0]:.6g} s", late, task),
    )


def _process(name: str, recording: Recording, task: _Task) -> list[Samples]:
    with_or_without = filter_parts if task.bare else process
    return with_or_without(
        name, recording, task.processing, breaks=recording.breaks, notes=recording.notes, sound=recording.sound
    )
