"""`diffpbd log LOG…`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from diffpbd.runtime.base.errors import ArgumentError
from diffpbd.runtime.base.files import Named, distinct
from diffpbd.runtime.commands.options.logs import LogWords, log_options
from diffpbd.runtime.commands.options.shared import plot_option
from diffpbd.runtime.commands.results.results import finish, json_option
from diffpbd.runtime.commands.results.results import said as tell
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.table import TURN, as_recorded
from diffpbd.runtime.report.tables import number, table

if TYPE_CHECKING:
    from diffpbd.runtime.logs.processing import Samples

__all__ = ["command"]


@click.command("log")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--robot", metavar="ROBOT", help="Takes the joints of this generated robot.")
@click.option("--joints", metavar="A,B,…", help="Takes these joints (default: all).")
@log_options
@click.option("--out", metavar="CLEAN.csv", help="Writes what identification would use; later parts beside it.")
@json_option
@plot_option("Signals as read and as filtered, a picture a LOG, later ones beside it.")
def command(
    logs: tuple[str, ...], robot: str | None, joints: str | None, words: LogWords, out: str | None, plot: str | None,
) -> None:  # fmt: skip
    """Read recordings (CSV, NPZ, ROS 1 bag, JSON lines) as `identify` does, and say what became of their samples.

    Samples without a value or with a bad stamp are left out and counted, gaps split a recording in parts, and each part is
    filtered without delay and differentiated. --out writes the parts: time [s], q_, dq_, ddq_, tau_ (SI units).

    Contradictions within a recording, and with --robot between it and the robot's limits and dynamics, are reported. After an
    error nothing is written and the exit code is 1.
    """
    from diffpbd.runtime.causes.cause import Finding
    from diffpbd.runtime.causes.checked import examine_parts, read_examined
    from diffpbd.runtime.causes.findings import refuse, said, sound
    from diffpbd.runtime.commands.options.locate import open_robot, robot_files
    from diffpbd.runtime.logs.processing import filter_parts, names_of
    from diffpbd.runtime.logs.recording import joints_in

    read: list[Named] = [("LOG", path) for path in logs]
    read += [("--map", words.column_map), *(robot_files(robot) if robot is not None else [])]
    pictures = [_path(plot, k) for k in range(len(logs))] if plot is not None else []
    distinct([("--out", out), *(("--plot", path) for path in pictures)], read)
    processing, reading = words.processing(), words.reading_of(logs)
    opened = open_robot(robot) if robot is not None else None
    facts = opened.manifest.robot.joints if opened is not None else ()
    wanted = opened.joints if opened is not None else _joints(joints)
    parts: list[tuple[Samples, bool]] = []
    wrong: list[tuple[str, list[Finding]]] = []
    told: dict[str, list[str]] = {}
    for k, (name, path) in enumerate(zip(names_of(list(logs)), logs, strict=True)):
        checked = read_examined(path, wanted or joints_in(path, reading), reading, facts)
        found, findings = checked.recording, list(checked.findings)
        told[name] = list(found.notes)
        tell(f"{name}: {len(found)} samples of {', '.join(found.joints)}", *(f"  {line}" for line in found.notes))
        refuse(path, [f for f in findings if f.cause.of_clock], reading.accept)  # no filter has a sense then
        own = filter_parts(name, found, processing, breaks=found.breaks, whole=found.whole)
        if opened is not None and sound(findings):
            more = examine_parts(opened, own)
            findings += more
            told[name] += said(more)
            for line in said(more):
                tell(f"  {line}")
        wrong.append((path, findings))
        if pictures:
            from diffpbd.runtime.report.log_plot import plot_recording

            plot_recording(pictures[k], found, own, f"{name}: {processing.describe().partition(' on ')[0]}")
        for part in own:
            parts.append((part, found.tau is not None))
            told[name] += part.notes
            for line in part.notes:
                tell(f"  {part.name}: {line}")
    tell(processing.describe(), "", _lengths(parts))
    for path, findings in wrong:
        refuse(path, findings, reading.accept)
    if out is not None:
        pictures = [*_written(out, parts, pictures, read), *pictures]
    finish({"processing": processing.describe(), "notes": told, "parts": [_part(*part) for part in parts]}, *pictures)


def _joints(words: str | None) -> tuple[str, ...] | None:
    """The joints of --joints."""
    if not words:
        return None
    names = tuple(name.strip() for name in words.split(","))
    if "" in names:
        raise ArgumentError(f"--joints: expected names by commas, found {words!r}.")
    if len(set(names)) < len(names):
        raise ArgumentError(f"--joints: a joint is named twice in {words}.")
    return names


def _part(p: Samples, torques: bool) -> dict[str, Any]:
    """A part for programs."""
    return {
        "name": p.name,
        "joints": p.joints,
        "samples": len(p),
        "rate": p.rate,
        "length": len(p) / p.rate,
        "torque": torques,
    }


def _lengths(parts: list[tuple[Samples, bool]]) -> str:
    """A row a part."""
    rows = [
        [p.name, str(len(p)), f"{p.rate:.6g}", number(len(p) / p.rate, 4), "yes" if torques else "no"]
        for p, torques in parts
    ]
    return table(["part", "samples", "rate [Hz]", "length [s]", "torque"], rows)


def _written(out: str, parts: list[tuple[Samples, bool]], pictures: list[str], read: list[Named]) -> list[str]:
    """The logs of the parts, by name."""
    paths = [_path(out, k) for k in range(len(parts))]
    distinct([*(("--plot", path) for path in pictures), *(("--out", path) for path in paths)], read)
    for path, (part, torques) in zip(paths, parts, strict=True):
        write_log(path, _log(part, torques))
    return paths


def _path(out: str, k: int) -> str:
    """The file of part k: `clean.csv`, `clean_2.csv`, …"""
    path = Path(out)
    first, dot, rest = path.name.partition(".")
    return out if k == 0 else str(path.with_name(f"{first}_{k + 1}{dot}{rest}"))


def _log(part: object, torques: bool) -> Log:
    from diffpbd.runtime.logs.processing import Samples

    assert isinstance(part, Samples)
    columns: list[np.ndarray] = [part.trimmed(values) for values in (part.time, part.q, part.dq, part.ddq, part.tau)]
    time, q, dq, ddq, tau = columns
    positions: tuple[str, ...] = ()
    if part.turn is not None:  # as it was recorded, not the sum of its steps
        positions = tuple(as_recorded(part.joints))
        q = q[:, [part.joints.index(name) if name in part.joints else 0 for name in positions]]
        q[:, [positions.index(name.removeprefix("q_")) for name in TURN]] = part.trimmed(part.turn)
    return Log(time, part.joints, q, dq, ddq, tau if torques else None, positions)
