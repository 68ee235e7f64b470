"""`diffpbd excite ROBOT`."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import click
import numpy as np

from diffpbd.runtime.base.files import distinct
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.locate import open_robot, robot_files
from diffpbd.runtime.commands.options.shared import plot_option
from diffpbd.runtime.commands.results.results import json_option, note, result
from diffpbd.runtime.excite.excitation import Excitation, excite
from diffpbd.runtime.excite.wishes import Wishes
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.loop.clearance import RADIUS
from diffpbd.runtime.model.clearance import KEPT, least_distance
from diffpbd.runtime.report.tables import number, table

__all__ = ["command", "summary"]


@click.command("excite")
@click.argument("robot")
@job("wishes", Wishes)
@click.option("--params", metavar="FILE", help="Values of alpha that torques are predicted with, such as a payload.")
@click.option("--out", required=True, metavar="TRAJ.csv", help="The motion to write (.gz allowed).")
@json_option
@plot_option("Positions, and speeds, torques and tip height against their limits.")
def command(robot: str, wishes: Wishes, params: str | None, out: str, plot: str | None) -> None:
    """Find a periodic motion of ROBOT that starts and ends at rest and makes its inertial parameters identifiable.

    It minimises the condition number of the base regressor, or maximises the determinant of its information (log-det), within
    the limits of position, speed, torque and acceleration. The file has
    the columns time [s], q_ [rad or m], dq_, ddq_ and the predicted tau_ [N·m or N]. Links keep their distance from each other
    between the samples too, where ROBOT was generated with --clearance; otherwise only the table is checked.
    """
    from diffpbd.runtime.commands.results.progress import progress

    begin = time.perf_counter()
    distinct([("--out", out), ("--plot", plot)], [("--params", params), *robot_files(robot)])
    loaded = open_robot(robot)
    table = wishes.table
    if table is None and loaded.manifest.recipe.table is not None:
        table = loaded.manifest.recipe.table + RADIUS
        note(f"note: the recipe's table: centres of mass and tip stay above {table:g} m.")
    least = least_distance(loaded, wishes.clearance, KEPT)
    wishes = replace(wishes, table=table, clearance=least)
    with progress() as say:
        found = excite(loaded, wishes, loaded.alpha.vector(params), say)
    if plot is not None:
        from diffpbd.runtime.report.excitation_plot import plot_excitation

        plot_excitation(found, plot, title=f"{loaded.name}: {wishes.duration:g} s, {wishes.harmonics} harmonics")
    m = found.motion
    write_log(out, Log(m.time, loaded.joints, m.q, m.dq, m.ddq, m.tau))
    result(f"{summary(found)}\n\n{time.perf_counter() - begin:.1f} s in all.", facts(found), out, plot)


def facts(found: Excitation) -> dict[str, Any]:
    """The result for programs."""
    m, e = found.motion, found.envelope
    return {
        "robot": e.robot.name, "condition_before": found.before, "condition": found.after,
        "condition_of_all_columns": found.whole,
        "base_parameters": found.base_parameters, "notes": list(found.notes),
        "tip_height": {"lowest": m.height.min(), "highest": m.height.max()},
        "joints": {
            joint: {
                "lowest": m.q[:, j].min(), "highest": m.q[:, j].max(), "peak_rate": np.abs(m.dq[:, j]).max(),
                "peak_torque": np.abs(m.tau[:, j]).max(),
            }
            for j, joint in enumerate(e.robot.joints)
        },
    }  # fmt: skip


def summary(found: Excitation) -> str:
    """Condition numbers, and how much of every limit is used; measured on the samples."""
    m, e = found.motion, found.envelope
    lines = [f"Note: {note}" for note in found.notes]
    lines.append(
        f"Condition number of the base regressor ({found.base_parameters} base parameters): {found.after:.4g}; of a random "
        f"motion within the same limits: {found.before:.4g}. Of all columns, whichever are independent: {found.whole:.4g}."
    )
    ends = float(np.abs(m.dq[[0, -1]]).max())
    lines.append(
        f"Tip: {m.height.min():.3g} to {m.height.max():.3g} m high. Speed at start and end: {ends:.1g} rad/s or m/s."
    )
    rows = []
    for j, joint in enumerate(e.robot.manifest.robot.joints):
        speed, effort = float(np.abs(m.dq[:, j]).max()), float(np.abs(m.tau[:, j]).max())
        rows.append([
            joint.name, number(float(m.q[:, j].min()), 4), number(float(m.q[:, j].max()), 4),
            f"{number(joint.lower, 4)} … {number(joint.upper, 4)}", number(speed, 3), number(joint.velocity, 3),
            number(effort, 3), number(joint.effort, 3), joint.unit,
        ])  # fmt: skip
    header = ["joint", "lowest", "highest", "limits", "peak rate", "limit", "peak torque", "limit", "unit"]
    return "\n".join([*lines, "", table(header, rows)])
