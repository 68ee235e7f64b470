"""`diffpbd simulate ROBOT`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import click
import numpy as np

from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.base.files import Named, distinct
from diffpbd.runtime.base.options import option
from diffpbd.runtime.base.quaternions import with_turn
from diffpbd.runtime.base.states import parse_state, state_file
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.locate import open_robot, robot_files
from diffpbd.runtime.commands.options.numbers import DURATION, RATE
from diffpbd.runtime.commands.options.shared import meshes_option, movie_option, plot_option, report_option, view_option
from diffpbd.runtime.commands.results.motion import expect_meshes, filmed, nearest, played, reported
from diffpbd.runtime.commands.results.progress import progress
from diffpbd.runtime.commands.results.results import json_option, result
from diffpbd.runtime.logs.csv import TorqueLog, has_states, read_column_map, read_log, read_torques, write_log
from diffpbd.runtime.logs.table import TURN
from diffpbd.runtime.model.clearance import Distances, distances_of
from diffpbd.runtime.model.limits import beyond_effort
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.tables import number, table
from diffpbd.runtime.simulate.orders import Order
from diffpbd.runtime.simulate.simulation import Run, expect_log, maximal_variant, simulate, step_count

__all__ = ["command", "summary"]

ORDERS: dict[str, Order] = {"2": 2, "4": 4, "6": 6}
LASTS = 1.0
"""[s] Without a duration."""
STILL = 1e-12
"""Kinetic energy that changes by less than this share of all energy is rounding, of which no other is a percentage."""


@dataclass(frozen=True, kw_only=True)
class _Words:
    """Options of what is simulated, and files."""

    duration: float | None = option("Default: 1 s, or the length of a torque log.", None, metavar="S", kind=DURATION)
    h: float | None = option("Step (default: the recipe's).", None, metavar="S", kind=DURATION)
    q0: str | None = option("Start: a list, an object of joint names, or a file; default zero.", None, metavar="JSON")
    dq0: str | None = option("Start rates, as --q0.", None, metavar="JSON")
    torque: str = option("Torque held during each step.", "zero", metavar="zero|gravity|LOG")
    rate: float | None = option(
        "Sampling rate of a LOG without time stamps, or to replace its stamps by even steps.",
        None,
        metavar="HZ",
        kind=RATE,
    )
    column_map: str | None = option("Renames columns of LOG.", None, flag="--map", metavar="FILE.json")
    order: str = option("Order of the step. 4: Suzuki; 6: extrapolation; without friction.", "2", choices=tuple(ORDERS))
    maximal: bool = option("Simulate in maximal coordinates, with joint gaps.", False)
    integrator: str | None = option("With --maximal.", None, choices=("variational", "paper"))
    solver: str | None = option("With --maximal.", None, choices=("direct", "gauss_seidel", "jacobi"))
    params: str | None = option("Values of alpha by name, such as params.json of identify.", None, metavar="FILE")
    out: str = option("The log to write (.gz allowed).", metavar="RUN.csv")

    def __post_init__(self) -> None:
        """Refuses a step beyond the duration, where both are said."""
        duration = self.duration or (LASTS if self.torque in ("zero", "gravity") else None)
        if self.h is not None and duration is not None:
            step_count(duration, self.h)


@click.command("simulate")
@click.argument("robot")
@job("given", _Words)
@json_option
@view_option
@movie_option
@meshes_option
@report_option
@plot_option("Joint positions, energy and joint gaps.")
def command(
    robot: str, given: _Words, plot: str | None, movie: str | None, report: str | None, view: bool, meshes: str | None
) -> None:
    """Simulate the generated ROBOT and write time, q_, dq_ and tau_ columns.

    With a torque LOG that has q and dq the simulation starts at its first sample, unless --q0 or --dq0 is
    given; its torques are held between samples. Joint limits act where the robot was generated with --limits.
    """
    torque, duration = given.torque, given.duration
    if given.maximal and given.order != "2":
        raise click.UsageError(f"--order {given.order} composes joint_step; it cannot be used with --maximal.")
    if not given.maximal and (given.integrator or given.solver):
        raise click.UsageError("--integrator and --solver choose the step of --maximal; add --maximal.")
    named: list[Named] = [
        ("--q0", state_file(given.q0)),
        ("--dq0", state_file(given.dq0)),
        ("--map", given.column_map),
        ("--params", given.params),
        ("--meshes", meshes),
    ]
    if torque not in ("zero", "gravity"):
        expect_log(torque, "--torque")
        named.append(("--torque", torque))
    elif given.column_map is not None or given.rate is not None:
        word = "--rate" if given.column_map is None else "--map"
        raise click.UsageError(f"{word} is about a log; expected --torque LOG with it.")
    distinct(
        [("--out", given.out), ("--plot", plot), ("--movie", movie), ("--report", report)],
        [*named, *robot_files(robot)],
    )
    loaded = open_robot(robot)
    expect_meshes(loaded, meshes, movie, view)
    alpha = loaded.alpha.vector(given.params)
    start = _start(loaded, given.q0, given.dq0)
    source: Literal["zero", "gravity"] | TorqueLog
    if torque == "zero":
        source = "zero"
    elif torque == "gravity":
        source = "gravity"
    else:
        source, start = _from_log(loaded, torque, given.rate, given.column_map, start)
        duration = float(source.time[-1] - source.time[0]) if duration is None else duration
    with progress() as say:
        run = simulate(
            loaded, duration=LASTS if duration is None else duration, h=given.h, start=(start["--q0"], start["--dq0"]),
            torque=source, alpha=alpha, progress=say,
            step=maximal_variant(loaded, given.integrator, given.solver) if given.maximal else ORDERS[given.order],
        )  # fmt: skip
    if plot is not None:
        from diffpbd.runtime.report.run_plot import plot_run

        title = f"{loaded.name}, {run.function}, h = {run.h:g} s, torque {torque}"
        plot_run(run, plot, title=title, robot=loaded)
    filmed(loaded, run, movie, meshes)
    write_log(given.out, run.log())  # after the picture, which fails without matplotlib
    words = summary(loaded, run, distances_of(loaded, alpha))
    reported(loaded, run, words, report)
    result(words, facts(loaded, run), given.out, plot, movie, report)
    if view:
        played(loaded, run, meshes)


def _start(robot: Robot, q0: str | None, dq0: str | None) -> dict[str, list[float] | None]:
    """Start by --q0 and --dq0; what they do not name is at zero, the base not turned."""
    return {
        option: None if text is None else parse_state(text, option, names, others)
        for option, text, names, others in (
            ("--q0", q0, robot.positions, robot.neutral),
            ("--dq0", dq0, robot.joints, np.zeros(robot.n)),
        )
    }


def _from_log(
    robot: Robot, path: str, rate: float | None, column_map: str | None, start: dict[str, list[float] | None]
) -> tuple[TorqueLog, dict[str, list[float] | None]]:
    """The torques, and the start from the log's first sample where the user gave none."""
    columns = None if column_map is None else read_column_map(column_map)
    torques = read_torques(path, rate=rate, columns=columns)
    if all(value is None for value in start.values()) and has_states(path, columns=columns):
        passive = robot.manifest.robot.passive
        first = read_log(path, rate=rate, columns=columns, passive=passive).select(robot.joints)
        if robot.manifest.robot.floating and first.turn is None:
            raise InputError(
                f"{path}: no columns {', '.join(TURN)}: the log does not tell how the base is turned at its start; give --q0 "
                "and --dq0."
            )
        start = {"--q0": with_turn(first.q, first.turn)[0].tolist(), "--dq0": first.dq[0].tolist()}
    return torques, start


def summary(robot: Robot, run: Run, distances: Distances | None = None) -> str:
    """Steps, energy, joint gaps, the final state, joints that left their limits, and where links come nearest to each other."""
    lines = [f"{robot.name}: {len(run.time) - 1} steps of {run.h:g} s by {run.function}, to {run.time[-1]:g} s"]
    if run.kinetic is not None and run.potential is not None:
        total = run.kinetic + run.potential
        drift = float(np.abs(total - total[0]).max())
        swing = float(np.ptp(run.kinetic))
        share = ""
        if drift > swing or run.tau.any():
            share = " (work of torques, friction and contact included)"
        elif swing > STILL * float(np.abs(total).max()):
            share = f" ({100 * drift / swing:.3g} % of the kinetic energy's range)"
        lines.append(
            f"energy: {total[0]:.6g} J at the start, {total[-1]:.6g} J at the end, largest change {drift:.3g} J{share}"
        )
    if run.gap is not None:
        lines.append(f"joint gaps: at most {run.gap.max():.3g}, {run.gap[-1]:.3g} at the end [m or 1]")
    joints, moved = robot.manifest.robot.joints, robot.n_p - robot.n
    if moved:
        x, y, z, *q = (f"{value:.6f}" for value in run.q[-1, :7])
        lines.append(f"base at the end: {x} {y} {z} m, quaternion wxyz {' '.join(q)}")
    place = {joint.name: run.q[:, k + moved] for k, joint in enumerate(joints) if not moved or k >= 6}
    for joint in joints:
        if joint.name not in place:
            continue
        low, high = float(place[joint.name].min()), float(place[joint.name].max())
        if (joint.lower is not None and low < joint.lower) or (joint.upper is not None and high > joint.upper):
            lines.append(
                f"note: {joint.name} went from {low:.4g} to {high:.4g} {joint.unit}, beyond its limits "
                f"{number(joint.lower)} and {number(joint.upper)}, which do not act"
            )
    if robot.manifest.robot.base_joint == "planar" and "base_z" in robot.joints:
        lines.append(
            "note: the base moves in the vertical plane of x and z, where gravity acts (floor: --base-joint floor)"
        )
    lines += [f"note: {text}" for text in beyond_effort(joints, run.tau)]
    if distances is not None:
        lines.append(nearest(distances, run.time, run.q)[0])
    rows = [
        [
            joint.name, f"{place[joint.name][-1]:.6f}" if joint.name in place else "-", joint.unit, f"{run.dq[-1, k]:.6f}",
            f"{joint.unit}/s", f"{run.tau[-1, k]:.6f}", joint.effort_unit,
        ]
        for k, joint in enumerate(joints)
    ]  # fmt: skip
    return "\n".join([*lines, "", table(["final state", "q", "", "dq", "", "tau", ""], rows)])


def facts(robot: Robot, run: Run) -> dict[str, Any]:
    """The same for programs: SI units, rad and N·m where a joint's unit is rad, m and N where it is m."""
    total = None if run.kinetic is None or run.potential is None else run.kinetic + run.potential
    place = dict(zip(run.positions, run.q.T, strict=True))
    return {
        "robot": robot.name, "function": run.function, "h": run.h, "steps": len(run.time) - 1, "duration": run.time[-1],
        "energy": None if total is None else {
            "start": total[0], "end": total[-1], "largest_change": np.abs(total - total[0]).max(),
        },
        "joint_gap": None if run.gap is None else run.gap.max(),
        "joints": {
            joint.name: {
                "unit": joint.unit, "dq": run.dq[-1, k], "tau": run.tau[-1, k],
                **({"q": place[joint.name][-1], "lowest": place[joint.name].min(), "highest": place[joint.name].max()}
                   if joint.name in place else {}),
            }
            for k, joint in enumerate(robot.manifest.robot.joints)
        },
        "positions": {name: values[-1] for name, values in place.items()},
    }  # fmt: skip
