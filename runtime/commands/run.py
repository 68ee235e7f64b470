"""`diffpbd run baxter`, `diffpbd run fr3`, `diffpbd run ROBOT --ros2`."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import sys
from typing import Any

import click

from diffpbd.runtime.arms.attached import Attached, kind_of, kinds, strange
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import distinct
from diffpbd.runtime.base.live import live_line
from diffpbd.runtime.base.states import state_file
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.derived import options as derived
from diffpbd.runtime.commands.options.laws import configured, expect_used, of_laws, words_of_laws
from diffpbd.runtime.commands.options.locate import open_manifest, open_robot, robot_files
from diffpbd.runtime.commands.options.mending import FollowWords
from diffpbd.runtime.commands.options.numbers import PORT, Real
from diffpbd.runtime.commands.options.obstacles import ObstacleWords
from diffpbd.runtime.commands.options.shared import (
    given,
    live_option,
    plot_option,
    told_options,
)
from diffpbd.runtime.commands.results.motion import nearest_of_log
from diffpbd.runtime.commands.results.results import finish, json_option, note, said
from diffpbd.runtime.control.laws import LAWS
from diffpbd.runtime.folder.finish import complete, is_quick
from diffpbd.runtime.folder.unwatched import not_watched
from diffpbd.runtime.loop.decision import Settings
from diffpbd.runtime.loop.recorder import Recorder, configuration_file
from diffpbd.runtime.loop.reflexes import ReflexSettings
from diffpbd.runtime.loop.replay import read_run, replay
from diffpbd.runtime.loop.run import Run, RunOptions
from diffpbd.runtime.loop.status import RunStatus
from diffpbd.runtime.loop.stopping import Reason, Report, StopRequest
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.report.figures import new_figure

__all__ = ["command"]

EXIT_STOPPED = 1
FURTHEST_TABLE = 5.0  # m; beyond any arm's reach


def _of_arms(function: Any) -> Any:
    """The options that arms declare."""
    for kind in reversed(tuple(kinds())):
        function = derived(kind.words)(function)
    return function


@click.command("run", context_settings={"show_default": True})
@click.argument("robot", default="baxter")
@click.option(
    "--controller",
    default="hold",
    type=click.Choice(list(LAWS)),
    help="The law; docs/baxter.md, docs/franka.md and docs/ros2.md say what each needs.",
)
@click.option(
    "--transport", type=click.Choice(["ros1", "simulated", "replay"]), default="ros1",
    help="Baxter: its ROS 1 graph; all: a simulated robot (as --sim), or a log again.",
)  # fmt: skip
@click.option("--sim", is_flag=True, help="A simulated robot, in a process of its own.")
@_of_arms
@click.option("--from", "source", metavar="LOG", help="With --transport replay: the log to replay.")
@click.option(
    "--rate", type=Real(100, 1000), help="Control ticks a second (default: 250; a Franka arm, but for mpc: 1000)."
)
@click.option("--log", metavar="OUT", help="OUT.bag (everything) or OUT.csv (ticks).")
@click.option("--overwrite", is_flag=True, help="--log may replace a file that is there.")
@click.option(
    "--gravity", type=click.Choice(["robot", "model"]), help="Who compensates gravity (robot); required with --ros2."
)
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
@of_laws
@derived(MpcOptions, only=("clearance",))
@click.option(
    "--torque-share", type=Real(0, 1, min_open=True), default=0.1,
    help="Share of the effort limits that the law may use beyond gravity.",
)  # fmt: skip
@derived(ReflexSettings)
@click.option(
    "--after-contact", type=click.Choice(["yield", "hold"]), default="yield",
    help="An arm that is touched gives way, or is held as after any stop, where nobody can be clamped.",
)  # fmt: skip
@click.option(
    "--table", type=Real(-FURTHEST_TABLE, FURTHEST_TABLE), metavar="Z",
    help="The arm stays above this height [m] over the description's root link (default: the recipe's, if it has one).",
)  # fmt: skip
@derived(Settings)
@job("how", RunOptions)
@click.option(
    "--robot-node", metavar="NAME", help="Who must listen (default: who publishes the joint states); ROS 2: any."
)
@click.option("--view", is_flag=True, help="Serve a page with the arm on 127.0.0.1.")
@job("words", FollowWords, but=("rate",))
@job("around", ObstacleWords)
@plot_option("From the log of --log or --from: positions, torques and how punctual the ticks were.")
@json_option
@live_option
@click.option("--view-port", type=PORT, default=8080, help="Port of the page.")
def command(robot: str, words: FollowWords, around: ObstacleWords, how: RunOptions, **options: Any) -> None:
    """Run a controller on an arm, safely; ROBOT is the generated robot of that arm: a Baxter's, a Franka Research 3, or with
    --ros2 any arm with an effort interface.

    Torque is limited to a tenth unless --torque-share says otherwise. Every end, Ctrl-C included, is a clean
    stop: the arm brakes and is held where it is; a reflex ends the run with its own exit code (docs/safety.md). With
    --transport replay a log of a run is fed through the same controller, and the commands are compared bit for bit.
    """
    options |= vars(how)
    if not options["reference"]:
        words.expect_log("--reference LOG")
    _check_files(robot, words, around, options)
    _in_full(robot)
    generated = open_robot(robot)
    if options["transport"] == "replay":
        if not options["source"]:
            raise click.UsageError("--transport replay needs --from LOG.")
        if unused := given(but=("transport", "source", "program", "plot", "live")):
            click.echo(f"note: {', '.join(unused)}: not used; a replay takes all from LOG, and writes none", err=True)
        result = replay(options["source"], generated, program=shlex.split(options["program"] or ""))
        said(str(result))
        finish(dataclasses.asdict(result), _drawn(options["plot"], options["source"]))
        if result.difference or not result.ticks:
            sys.exit(EXIT_STOPPED)
        return
    if options["source"]:
        raise click.UsageError("--from is for --transport replay.")
    options["sim"] |= options["transport"] == "simulated"
    kind = kind_of(generated, options)
    told = told_options()
    expect_used(options["controller"], told)
    for name, title in strange(kind, told).items():
        raise click.UsageError(f"{told[name]} is for {title}; {generated.name} is driven as {kind.title}.")
    kind.expect(options)
    if LAWS[options["controller"]].plans_around:
        around.expect_distance(options["clearance"])
    configuration = configured(generated, options, words, around)
    with kind.attach(generated, configuration, options) as attached:
        attached.configuration.check_goals(generated)
        for line in not_watched(generated.manifest.clearance):
            note(line)
        report = _run(attached, generated, options, dataclasses.replace(how, hold=kind.hold))
    said(str(report))
    log = options["log"]
    files = [str(path) for path in (log, log and configuration_file(log)) if path and os.path.isfile(path)]
    text, near = nearest_of_log(generated, log) if files else ("", {})
    said(*filter(None, [text]))
    finish({**report.facts(), **near}, *files, _drawn(options["plot"], log))
    if report.exit_code:
        sys.exit(report.exit_code)


def _in_full(robot: str) -> None:
    """An arm is driven by a library that was compiled in full."""
    folder, manifest = open_manifest(robot)
    if is_quick(folder, manifest.library) and os.access(folder, os.W_OK):
        note("compiling in full before the run")
        complete(folder, manifest.library)


def _check_files(robot: str, words: FollowWords, around: ObstacleWords, options: dict[str, Any]) -> None:
    """Before anything moves: no output overwrites an input, and a picture can be drawn."""
    log, source, plot = (options[name] for name in ("log", "source", "plot"))
    written = [("--log", log), ("--log's configuration", log and configuration_file(log)), ("--plot", plot)]
    read = [("--params", options["params"]), ("--map", words.column_map), ("--obstacles", around.obstacles)]
    for name, (_, own, _) in words_of_laws().items():
        if own.metavar in ("JSON", "FILE", "LOG"):
            value = options[name]
            read.append((own.word(name), state_file(value) if own.metavar == "JSON" else value))
    read += [("--from", source), ("--from's configuration", source and configuration_file(source))]
    distinct(written, [*read, *robot_files(robot)])
    for name, path in written[:2]:
        if path and os.path.isfile(path) and not options["overwrite"]:
            raise InputError(f"{name} {path} is there already. Choose another name, or replace it with --overwrite.")
    if plot:
        if not (log or source):
            raise click.UsageError("--plot draws a log; it needs --log OUT, or --transport replay --from LOG.")
        new_figure(1.0, 1.0)  # fails without matplotlib


def _drawn(plot: str | None, log: str) -> str | None:
    """The picture, if one is asked for and there is something to draw."""
    if plot is None:
        return None
    from diffpbd.runtime.report.ticks_plot import plot_ticks

    if plot_ticks(plot, *read_run(log)):
        return plot
    note(f"note: {log} has no tick that sent a command; there is nothing to draw")
    return None


def _run(attached: Attached, robot: Robot, options: dict[str, Any], how: RunOptions) -> Report:
    configuration, stop = attached.configuration, StopRequest()
    with contextlib.ExitStack() as stack:
        recorder = None
        if options["log"]:
            recorder = Recorder(options["log"], configuration.to_json(), robot.joints)
            stack.callback(recorder.close)
        arm = attached.arm(recorder)
        observer = None
        if options["view"]:
            from diffpbd.runtime.arms.viewer import Viewer

            viewer = stack.enter_context(Viewer(robot, port=options["view_port"]))
            note(f"view: {viewer.url}")
            observer = viewer.tick
        supervisor = configuration.supervisor(robot)
        if close := getattr(supervisor.controller, "close", None):
            stack.callback(close)
        run = Run(
            arm, supervisor, dataclasses.replace(how, enable=how.enable or options["sim"]), recorder=recorder, stop=stop,
            observer=observer,
        )  # fmt: skip
        stack.enter_context(live_line(RunStatus(run), wanted=options["live"]))
        report = run.execute()
    remark = getattr(supervisor.controller, "remark", None)
    if remark is not None and (text := remark()) is not None:
        note(f"warning: {text}")
    if recorder is not None and recorder.failure and report.good:
        report.reason, report.text = Reason.LOG_FAILED, recorder.failure
    return report
