"""`diffpbd estimate-torque ROBOT LOG`."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import click
import numpy as np

from diffpbd.runtime.base.files import distinct
from diffpbd.runtime.base.live import Loop, Watch, live_line
from diffpbd.runtime.commands.derived import job
from diffpbd.runtime.commands.locate import open_robot, robot_files
from diffpbd.runtime.commands.mending_options import MendWords, mending_options
from diffpbd.runtime.commands.numbers import RATE
from diffpbd.runtime.commands.options import live_option, named_values, plot_option, pose_option
from diffpbd.runtime.commands.results import finish, json_option, note, said
from diffpbd.runtime.logs.checked import check_parts, read_whole
from diffpbd.runtime.logs.closed_samples import on_loops
from diffpbd.runtime.logs.csv import Log, read_column_map, write_log
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


@click.command("estimate-torque", context_settings={"show_default": True})
@click.argument("robot")
@click.argument("log", metavar="LOG")
@job("settings", Settings)
@click.option(
    "--rates",
    type=click.Choice(["recorded", "positions"]),
    default="recorded",
    show_default=True,
    help="The log's dq columns, or central differences of the filtered positions.",
)
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
@click.option(
    "--rate",
    type=RATE,
    metavar="HZ",
    help="Of a log without time, or for even steps in place of stamps.",
)
@click.option("--cutoff", type=float, default=5.0, metavar="HZ", help="Of the low-pass filter of the log (5); 0: none.")
@click.option("--map", "column_map", metavar="FILE.json", help="Renames columns of LOG.")
@mending_options
@click.option(
    "--torque",
    type=click.Choice(["sensor", "joint"]),
    default="sensor",
    show_default=True,
    help="Written as tau: what the sensor reads, or the joint's true torque (without torque_offset).",
)
@pose_option
@click.option("--out", required=True, metavar="TORQUES.csv", help="The log to write (.gz allowed).")
@json_option
@plot_option("Estimated and recorded torques.")
@live_option
def command(
    robot: str, log: str, settings: Settings, rates: str, params: str | None, rate: float | None, cutoff: float,
    column_map: str | None,
    torque: str, pose: tuple[str, ...], out: str, plot: str | None, live: bool, mends: MendWords,
) -> None:  # fmt: skip
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
        [("--out", out), ("--plot", plot)],
        [("LOG", log), ("--map", column_map), ("--params", params), *robot_files(robot)],
    )
    loaded, loss = open_robot(robot), settings.loss
    alpha = loaded.alpha.vector(params)
    start_pose = named_values("--pose", pose, "j2=-1.2")
    reading = _reading(rate, column_map, mends, rates)
    parts, recorded = _read(loaded, log, reading, Processing(cutoff=cutoff or None), start_pose)
    lag = max((rate_lag(part) for part in parts), key=abs)
    if rates == "positions":
        parts = [dataclasses.replace(p, dq=np.gradient(p.q, 1.0 / p.rate, axis=0)) for p in parts]
    elif loss == NODES or settings.lambdas[0] == 0.0:
        lag = 0.0
    for part in parts:  # before any work
        check_motion(loaded, part.p, part.dq, 2 if loss == NODES else settings.horizon, part.name)
    forces = forces_in(log, loaded, rate, reading.columns) if loaded.manifest.robot.contacts else None
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
        from diffpbd.runtime.reproduce.torque_plots import plot_estimate

        plot_estimate(plot, loaded, parts if recorded else None, found, f"{loaded.name}: torques by {loss}")
    write_log(out, _log(loaded, found, torque))  # after the picture, which fails without matplotlib
    said(_summary(loaded, settings, parts, found, recorded))
    if settings.optimizer == "adam" and say is None and (more := unlike_published(loaded)):
        note(f"note: {more}")
    if rates == "recorded" and abs(lag) > LAG_SAID / parts[0].rate:
        note(_late(lag))
    finish(_facts(loaded, settings, parts, found, recorded), out, plot)


def _late(lag: float) -> str:
    return (
        f"note: the recorded rates {'lag' if lag > 0 else 'lead'} the positions by {1e3 * abs(lag):.3g} ms, so the terms of "
        "the loss ask for different torques: --rates positions takes rates from the positions, --loss omega leaves these out."
    )


def _reading(rate: float | None, column_map: str | None, mends: MendWords, rates: str) -> Reading:
    """Rates that are not used are not held against the positions."""
    accept = (*mends.accepted(), *(("rates", "lag", "frozen") if rates == "positions" else ()))
    columns = {} if column_map is None else read_column_map(column_map)
    return Reading(rate, columns, mending=mends.mending(), accept=accept)


def _read(
    robot: Robot, path: str, reading: Reading, processing: Processing, pose: dict[str, float]
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
        own = {"unit": "N·m" if joint.unit == "rad" else "N"}
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
        row = [joint.name, "N·m" if joint.unit == "rad" else "N", number(float(size), 4), number(float(change[j]), 3)]
        if errors:
            row += [number(float(x[j]), 4) for x in (errors.filtered, errors.raw, errors.bias)]
        rows.append(row)
    return "\n".join([*lines, "", table(header, rows, left=2)])
