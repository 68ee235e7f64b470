"""`diffpbd estimate-torque ROBOT LOG`."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from typing import Any

import click
import numpy as np

from diffpbd.runtime.base.files import distinct
from diffpbd.runtime.base.live import Loop, Watch, live_line
from diffpbd.runtime.base.options import option
from diffpbd.runtime.causes.checked import check_parts, read_whole
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.locate import open_robot, robot_files
from diffpbd.runtime.commands.options.mending import ReadWords
from diffpbd.runtime.commands.options.shared import live_option, plot_option, pose_field
from diffpbd.runtime.commands.results.results import finish, json_option, note, said
from diffpbd.runtime.logs.closed_samples import on_loops
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.processing import Processing, Samples, filter_parts
from diffpbd.runtime.logs.recording import Reading
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.tables import number, table
from diffpbd.runtime.torques.adam import unlike_published
from diffpbd.runtime.torques.contact_forces import forces_in
from diffpbd.runtime.torques.errors import TorqueErrors, rate_lag
from diffpbd.runtime.torques.estimation import Estimate, check_motion, estimate
from diffpbd.runtime.torques.settings import NODES, Settings

__all__ = ["command"]

LAG_SAID = 0.25
"""[1] Lag of the recorded rates behind the positions, as part of a step, from which it is said."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Words(ReadWords):
    """How the log is read, and files."""

    rates: str = option(
        "The log's dq columns, or central differences of the filtered positions.", "recorded",
        choices=("recorded", "positions"),
    )  # fmt: skip
    params: str | None = option("Values of alpha by name, such as params.json of identify.", None, metavar="FILE")
    cutoff: float = option("Cut-off of the log's low-pass filter (5); 0: none.", 5.0, metavar="HZ")
    torque: str = option(
        "Written as tau: what the sensor reads, or the joint's true torque (without torque_offset).", "sensor",
        choices=("sensor", "joint"),
    )  # fmt: skip
    pose: Mapping[str, float] = pose_field()
    out: str = option("The log to write (.gz allowed).", metavar="TORQUES.csv")


@click.command("estimate-torque", context_settings={"show_default": True})
@click.argument("robot")
@click.argument("log", metavar="LOG")
@job("settings", Settings)
@job("words", _Words)
@json_option
@plot_option("Estimated and recorded torques.")
@live_option
def command(robot: str, log: str, settings: Settings, words: _Words, plot: str | None, live: bool) -> None:
    """Estimate the joint torques [N·m or N] of the generated ROBOT from a recorded motion.

    A window of N steps starts at a recorded state; its torques minimise the weighted squared differences of joint positions
    (angle, weights 1,0,0), of the links' angular velocities (omega: 0,1,0) or of both (angle+omega: 1,0.02,0) at the end of
    each step. Its first torque is kept, and the window moves on by a step. nodes takes the torque at each sample from three
    poses alone. gauss-newton finds the optimum by joint_step and its exact Jacobian; adam is the published descent through
    Algorithm 1, for comparison.

    For a robot in contact nodes takes the forces from columns force_<contact>_x, _y, _z [N] of LOG, on the sphere in
    world axes.

    OUT has time, q_, dq_ and tau_ columns: tau is held from its row's time to the next. With nodes it is the torque at its
    time. Recorded tau_ columns, if there are any, are compared with the estimate.
    """
    distinct(
        [("--out", words.out), ("--plot", plot)],
        [("LOG", log), ("--map", words.column_map), ("--params", words.params), *robot_files(robot)],
    )
    loaded, loss = open_robot(robot), settings.loss
    alpha = loaded.alpha.vector(words.params)
    derived = words.rates == "positions"  # rates that are not used are not held against the positions
    reading = words.reading(*(("rates", "lag", "frozen") if derived else ()))
    parts, recorded = _read(loaded, log, reading, Processing(cutoff=words.cutoff or None), words.pose)
    lag = max((rate_lag(part) for part in parts), key=abs)
    if derived:
        parts = [dataclasses.replace(p, dq=np.gradient(p.q, 1.0 / p.rate, axis=0)) for p in parts]
    elif loss == NODES or settings.lambdas[0] == 0.0:
        lag = 0.0
    for part in parts:  # before any work
        check_motion(loaded, part.p, part.dq, 2 if loss == NODES else settings.horizon, part.name)
    forces = forces_in(log, loaded, words.rate, reading.columns) if loaded.manifest.robot.contacts else None
    loop = Loop(sum(len(part.q) - 1 for part in parts), "step")
    with live_line(loop, wanted=live and loss != NODES) as shown:
        say = None if shown and sys.stdout.isatty() else note
        watch = Watch(say, loop)
        at = [part.time if forces is None else forces.at(part) for part in parts]
        found = [
            estimate(loaded, part.p, part.dq, 1.0 / part.rate, settings, alpha=alpha, time=time, watch=watch)
            for part, time in zip(parts, at, strict=True)
        ]
    if plot is not None:
        from diffpbd.runtime.report.torque_plots import plot_estimate

        plot_estimate(plot, loaded, parts if recorded else None, found, f"{loaded.name}: torques by {loss}")
    write_log(words.out, _log(loaded, found, words.torque))  # after the picture, which fails without matplotlib
    said(_summary(loaded, settings, parts, found, recorded))
    if settings.optimizer == "adam" and say is None and (more := unlike_published(loaded)):
        note(f"note: {more}")
    if not derived and abs(lag) > LAG_SAID / parts[0].rate:
        note(_late(lag))
    finish(_facts(loaded, settings, parts, found, recorded), words.out, plot)


def _late(lag: float) -> str:
    return (
        f"note: the recorded rates {'lag' if lag > 0 else 'lead'} the positions by {1e3 * abs(lag):.3g} ms, so the terms of "
        "the loss ask for different torques: --rates positions takes rates from the positions, --loss omega leaves these out."
    )


def _read(
    robot: Robot, path: str, reading: Reading, processing: Processing, pose: Mapping[str, float]
) -> tuple[list[Samples], bool]:
    """The filtered parts of the log between its gaps, and whether it has torques."""
    found = read_whole(path, robot, reading)
    parts = filter_parts(
        path, found, processing, breaks=found.breaks, notes=found.notes, sound=found.sound, whole=found.whole
    )
    return check_parts(robot, on_loops(robot, parts, pose), reading.accept), found.tau is not None


def _log(robot: Robot, found: list[Estimate], torque: str) -> Log:
    tau = [e.reading if torque == "sensor" else e.u for e in found]
    stacked = [
        np.concatenate(values) for values in ([e.time for e in found], [e.q for e in found], [e.dq for e in found], tau)
    ]
    return Log(stacked[0], robot.joints, stacked[1], stacked[2], None, stacked[3], robot.positions)


def _facts(
    robot: Robot, settings: Settings, parts: list[Samples], found: list[Estimate], recorded: bool
) -> dict[str, Any]:
    """The result for programs; errors where the recording has torques."""
    errors = TorqueErrors.of(parts, found) if recorded else None
    joints = {}
    for j, joint in enumerate(robot.manifest.robot.joints):
        own = {"unit": joint.effort_unit}
        own["rms"] = np.sqrt(np.mean(np.concatenate([e.u[:, j] for e in found]) ** 2))
        if errors:
            own |= {"rmse_filtered": errors.filtered[j], "rmse": errors.raw[j], "bias": errors.bias[j]}
        joints[joint.name] = own
    return {
        "robot": robot.name, "loss": settings.loss, "optimizer": settings.optimizer, "horizon": settings.horizon,
        "h": found[0].h, "torques": sum(len(e.u) for e in found), "unsettled": sum(e.unsettled for e in found),
        "again": sum(e.again for e in found),
        "joints": joints,
    }  # fmt: skip


def _summary(robot: Robot, settings: Settings, parts: list[Samples], found: list[Estimate], recorded: bool) -> str:
    count = sum(len(e.u) for e in found)
    what = (
        "the torque at each node" if settings.loss == NODES else f"{settings.optimizer}, windows of {settings.horizon}"
    )
    lines = [f"{robot.name}: {count} torques by {settings.loss} ({what}) at steps of {found[0].h:.6g} s"]
    lines += [f"{part.name}: {note}" for part in parts for note in part.notes]
    lines.append(parts[0].processing.describe())
    unsettled = sum(e.unsettled for e in found)
    if again := sum(e.again for e in found):
        lines.append(
            f"{again} of {count} windows ended far above their loss from --start {settings.start}, and were solved again from "
            "other torques"
        )
    if unsettled:
        lines.append(
            f"note: {unsettled} of {count} windows did not converge, or ended far above the loss of all before; their torques "
            "are the best that was found: try a shorter --horizon or another --start"
        )
    errors = TorqueErrors.of(parts, found) if recorded else None
    change = np.sqrt(sum((np.diff(e.u, axis=0) ** 2).sum(axis=0) for e in found) / max(1, count - len(found)))
    header = ["joint", "unit", "RMS torque", "RMS change a step"]
    header += ["RMSE, filtered", "RMSE, as it is", "bias"] if errors else []
    rows = []
    for j, joint in enumerate(robot.manifest.robot.joints):
        size = np.sqrt(np.mean(np.concatenate([e.u[:, j] for e in found]) ** 2))
        row = [joint.name, joint.effort_unit, number(float(size), 4), number(float(change[j]), 3)]
        if errors:
            row += [number(float(x[j]), 4) for x in (errors.filtered, errors.raw, errors.bias)]
        rows.append(row)
    return "\n".join([*lines, "", table(header, rows, left=2)])
