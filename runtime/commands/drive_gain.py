"""`diffpbd drive-gain ROBOT LOG… --loaded LOG…`."""

from __future__ import annotations

import os
from dataclasses import replace

import click

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import distinct
from diffpbd.runtime.base.states import json_or_file
from diffpbd.runtime.commands.options.locate import open_robot, robot_files
from diffpbd.runtime.commands.options.logs import LogWords, log_options
from diffpbd.runtime.commands.results.results import json_option, result
from diffpbd.runtime.report.tables import number, table

__all__ = ["command"]


@click.command("drive-gain")
@click.argument("robot")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--loaded", multiple=True, required=True, metavar="LOG", help="A run with the payload; repeatable.")
@click.option(
    "--payload", required=True, metavar="JSON", help="Its mass [kg] and centre [m] in the tip's frame: mass, com.x, …."
)
@log_options
@json_option
def command(robot: str, logs: tuple[str, ...], loaded: tuple[str, ...], payload: str, words: LogWords) -> None:
    """Find torque over motor current [N·m/A] of every drive of the generated ROBOT, whose logs have currents as tau.

    LOG... are runs without a payload, --loaded such with a known one, best along the same motion. What is found goes to
    --drive-gain of the other commands.
    """
    from diffpbd.runtime.identify import Wanted, read_recordings
    from diffpbd.runtime.identify.doors.drive_gains import drive_gains

    distinct([], [*(("LOG", path) for path in (*logs, *loaded)), ("--map", words.column_map), *robot_files(robot)])
    for path in loaded:
        if os.path.realpath(path) in map(os.path.realpath, logs):
            raise InputError(f"--loaded {path} is also a LOG without the payload; expected different recordings.")
    opened = open_robot(robot)
    data = json_or_file(payload, "--payload")
    if not isinstance(data, dict):
        raise InputError(f'--payload: expected an object such as {{"mass": 2, "com.z": 0.05}}, found {data!r}.')
    known = {f"payload.{name.removeprefix('payload.')}": value for name, value in data.items()}
    if len(known) < len(data):
        raise InputError(f"--payload: expected every quantity once, found {', '.join(data)}.")
    opened.alpha.vector(known)
    reading = words.reading_of([*logs, *loaded])
    signless = replace(reading, accept=(*reading.accept, "sign", "swapped"))  # a drive may be wired the other way round
    wanted = Wanted(signless, words.processing())
    free, carrying = (read_recordings(opened, paths, wanted)[0] for paths in (logs, loaded))
    found = drive_gains(opened, free, carrying, known)
    units = [joint.effort_unit for joint in opened.manifest.robot.joints]
    rows = [
        [g.joint, number(g.value, 5), number(g.std, 2), f"{unit}/A",
         "" if g.value is not None else "the payload's torque is not told from the arm's own"]
        for g, unit in zip(found, units, strict=True)
    ]  # fmt: skip
    given = ",".join(f"{g.joint}={g.value:.6g}" for g in found if g.value is not None)
    text = table(["joint", "torque over current", "std", "unit", ""], rows)
    gains = {g.joint: {"value": g.value, "std": g.std, "unit": row[3]} for g, row in zip(found, rows, strict=True)}
    result(
        text + (f"\n\n--drive-gain {given}" if given else ""),
        {"robot": opened.name, "joints": gains, "drive_gain": given},
    )
