"""`diffpbd reproduce torque-table`: what it computes, prints and draws."""

from __future__ import annotations

from collections.abc import Sequence

import click
import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.commands.locate import open_robot
from diffpbd.runtime.commands.progress import progress
from diffpbd.runtime.identify import identify
from diffpbd.runtime.report.tables import number, table
from diffpbd.runtime.reproduce.torque_plots import plot_curves, plot_violins
from diffpbd.runtime.reproduce.torque_table import (
    PAPER,
    Cell,
    Descending,
    Recordings,
    converged,
    descended,
    nodes,
    read_recordings,
    write_table,
)
from diffpbd.runtime.robot import Robot

__all__ = ["reproduce"]

DRAWN_JOINTS, VIOLIN_JOINTS = 6, 4
"""s0 … w1 and s0 … e1, as in the paper."""
PAPER_JOINTS = {"s1": 0, "e0": 1, "e1": 2}
DRAWN_SECONDS = 6.0
"""[s] Of the recording in the picture of joint torques."""
FIT = ("friction", "spring")
DESCRIPTION, IDENTIFIED = "description", "identified"


def reproduce(
    robot: str, data: str, train: str, test: str, rate: float, params: str | None, descent: Descending, out: str, plot: str,
    violin: str,
) -> None:  # fmt: skip
    """Run every scheme, write the table and both pictures, print the paper's joints."""
    loaded = open_robot(robot)
    recordings = read_recordings(loaded, data, train, test, rate)
    with progress() as say:
        models = {DESCRIPTION: loaded.alpha.defaults, IDENTIFIED: _identified(loaded, recordings, params)}
        cells: list[Cell] = []
        for model, alpha in models.items():
            cells += converged(loaded, recordings.test, model, alpha, False, say)
        cells += converged(loaded, recordings.test, IDENTIFIED, models[IDENTIFIED], True, say)
        cells += [nodes(loaded, recordings.test, model, alpha) for model, alpha in models.items()]
        if descent.seconds > 0.0:
            cells += descended(loaded, recordings.test, IDENTIFIED, models[IDENTIFIED], descent, say)
    _draw(loaded, recordings, cells, plot, violin)
    write_table(out, loaded, cells)
    click.echo(_report(loaded, recordings, cells))
    click.echo(f"{out}, {plot}, {violin}")


def _identified(robot: Robot, recordings: Recordings, params: str | None) -> FloatArray:
    if params is not None:
        return robot.alpha.vector(params)
    return robot.alpha.vector(identify(robot, recordings.train, FIT).parameters)


def _report(robot: Robot, recordings: Recordings, cells: Sequence[Cell]) -> str:
    test = recordings.test
    lines = [
        f"\n{test.name}, {len(test)} samples at {test.rate:.6g} Hz. {test.processing.describe()}.",
        "Root mean square torque error [N·m] of the estimate as it is against the filtered recording; in brackets with the "
        "filter on the estimate too.",
    ]
    groups = list(dict.fromkeys((c.model, c.method, c.settings.carry) for c in cells if c.settings.loss != "nodes"))
    by = {(c.model, c.method, c.settings.carry, *c.key): c for c in cells}
    heads = [f"{model}, {method}{', carried' if carry else ''}" for model, method, carry in groups]
    heads[:] = [head if "adam" not in head else f"{head}, {_steps(cells)} steps" for head in heads]
    for j, joint in enumerate(robot.joints):
        column = next((k for suffix, k in PAPER_JOINTS.items() if joint.endswith(suffix)), None)
        if column is None:
            continue
        rows = []
        for key, published in PAPER.items():
            found = [_number(by.get((*group, *key)), j) for group in groups]
            loss = key[1] if key[2] == 1 else f"{key[1]}, windows of {key[2]}"
            rows.append([key[0], loss, number(published[column], 4), *found])
        lines += ["", joint, table(["start", "loss", "paper", *heads], rows, left=2)]
    lines += ["", *(_node_line(robot, c) for c in cells if c.settings.loss == "nodes")]
    failed = [c for c in cells if c.errors is None]
    lines += [f"{c.model}, {c.method}, {c.settings.start}, {c.settings.loss}: {c.reason}" for c in failed]
    return "\n".join(lines)


def _steps(cells: Sequence[Cell]) -> int:
    return next(c.samples for c in cells if c.method == "adam")


def _number(cell: Cell | None, j: int) -> str:
    if cell is None:
        return "-"
    if cell.errors is None:
        return "failed"
    filtered = cell.errors.filtered[j]
    return number(float(cell.errors.raw[j]), 4) + ("" if np.isnan(filtered) else f" ({number(float(filtered), 4)})")


def _node_line(robot: Robot, cell: Cell) -> str:
    assert cell.errors is not None and cell.estimate is not None  # a formula does not fail
    change = np.sqrt(np.mean(np.diff(cell.estimate.u, axis=0) ** 2, axis=0))
    errors = " ".join(number(float(x), 3) for x in cell.errors.filtered)
    return f"nodes, {cell.model}: RMSE {errors}; RMS change from step to step {' '.join(number(float(x), 3) for x in change)}"


def _draw(robot: Robot, recordings: Recordings, cells: Sequence[Cell], plot: str, violin: str) -> None:
    test = recordings.test
    shown = [c for c in cells if c.estimate is not None and c.model == IDENTIFIED and _is_drawn(c)]
    end = test.time[0] + DRAWN_SECONDS
    curves = {"recorded, filtered": (test.time, test.tau)}
    errors = {}
    crowded = ("ADAM, zero", "ADAM, previous")
    for c in shown:
        assert c.estimate is not None  # chosen above
        middle = c.estimate.time + (0.5 * c.estimate.h if c.estimate.held else 0.0)
        if _label(c) not in crowded:
            curves[_label(c)] = (middle, c.estimate.reading)
        tau = test.tau[: c.samples + (1 if c.estimate.held else 2)]
        errors[_label(c)] = c.estimate.reading - c.estimate.measured(tau)
    cut = {label: (t[t <= end], u[t <= end]) for label, (t, u) in curves.items()}
    title = f"{robot.name}, {test.name}: joint torques with the identified model"
    plot_curves(plot, robot, range(min(DRAWN_JOINTS, robot.n)), cut, title)
    plot_violins(violin, robot, range(min(VIOLIN_JOINTS, robot.n)), errors, f"{robot.name}, {test.name}: torque errors")


def _is_drawn(cell: Cell) -> bool:
    """One converged curve a loss (the starts give the same), and the descents that the paper singles out."""
    s = cell.settings
    if cell.method == "adam":
        return s.loss == "angle+omega"
    return s.loss == "nodes" or (not s.carry and (s.start == "zero" or s.horizon > 1))


def _label(cell: Cell) -> str:
    s = cell.settings
    if s.loss == "nodes":
        return s.loss
    window = f", windows of {s.horizon}" if s.horizon > 1 else ""
    return f"ADAM, {s.start}{window}" if cell.method == "adam" else f"{s.loss}{window}"
