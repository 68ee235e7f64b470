"""`python -m experiments replay` and `torque-table`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.files import distinct
from diffpbd.runtime.base.options import option
from diffpbd.runtime.commands.options.derived import job
from diffpbd.runtime.commands.options.locate import open_robot, robot_files
from diffpbd.runtime.commands.results.progress import progress
from diffpbd.runtime.commands.results.results import finish, json_option, said, tabled
from diffpbd.runtime.identify import identify
from diffpbd.runtime.logs.table import RATES
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.tables import number, table
from experiments.columns import Steps, columns
from experiments.command import Outputs, experiment, read_by
from experiments.poses import RECORDED
from experiments.torques.replay import Replaying
from experiments.torques.torque_drawing import IDENTIFIED, WHOLE, Files, draw
from experiments.torques.torque_optimum import optima
from experiments.torques.torque_table import (
    LONG,
    PAPER,
    Cell,
    Descending,
    Recordings,
    converged,
    descended,
    from_zero,
    nodes,
    read_recordings,
    write_table,
)

__all__ = ["replay", "torque_table"]

PAPER_JOINTS = {"s1": 0, "e0": 1, "e1": 2}
FIT = ("friction", "spring")
DESCRIPTION = "description"
LONGEST = 1e4
"""[s] Longer than any recording."""


@dataclass(frozen=True, kw_only=True)
class _Inputs(Steps):
    """Recordings, and the identified model."""

    data: str = option("Folder of the recordings; see docs/torque-estimation.md.", metavar="DIR", reads=Path)
    train: str = option("Names of the recordings to identify the model on.", "train_*", metavar="GLOB")
    test: str = option("Name of the recording whose torques are estimated.", "test_*", metavar="GLOB")
    rate: float = option("Of logs without a time column.", RECORDED, metavar="HZ", span=RATES)
    params: str | None = option(
        "The identified model, instead of identifying it on --train.", None, metavar="FILE", reads=Path
    )


@experiment("replay", Replaying, "baxter", "The paths")
def replay(robot: Robot, own: Replaying, out: Outputs) -> None:
    """A recording beside its simulation: the tip's path as measured, and as simulated under torque."""
    from experiments.torques.replay import plot, read_recording, summary, write_paths
    from experiments.torques.replay import replay as simulate

    samples = read_recording(Path(own.data) / own.log, robot, own.untimed)
    alpha = robot.alpha.vector(own.params)
    found = simulate(robot, samples, alpha=alpha, window=own.window, measured=own.params is not None)
    plot(out.picture, f"{own.log}: measured, and simulated with {robot.name}", found)
    write_paths(out.table, found)
    tabled(*summary(found))


@click.command("torque-table", context_settings={"show_default": True})
@click.argument("robot", default="baxter_bare")
@job("inputs", _Inputs)
@job("descent", Descending)
@json_option
@job("files", Files)
def torque_table(robot: str, inputs: _Inputs, descent: Descending, files: Files) -> None:
    """RMSE [N·m] of joint torques estimated from a recording by the published schemes: three starts, three losses, windows of
    three steps; with the description of the generated ROBOT alone and with friction and springs identified; and the optimum of
    each loss on every --step over the stretch of the descent."""
    outputs = [(f"--{name}", path) for name, path in vars(files).items()]
    distinct(outputs, [*read_by(inputs), *robot_files(robot)])
    solvers = ["gauss_seidel", "jacobi"] if descent.solver == "both" else [descent.solver]
    loaded, twin = open_robot(robot), open_robot(inputs.printed) if inputs.printed else None
    recordings = read_recordings(loaded, inputs.data, inputs.train, inputs.test, inputs.rate)
    test = recordings.test
    with progress() as say:
        models = {DESCRIPTION: loaded.alpha.defaults, IDENTIFIED: _identified(loaded, recordings, inputs.params)}
        known = models[IDENTIFIED]
        cells: list[Cell] = []
        if descent.seconds > 0.0:
            for solver in solvers:
                for one in (loaded, *((twin,) if twin else ())):
                    cells += descended(one, test, IDENTIFIED, known, replace(descent, solver=solver), say)
            if not descent.full:
                whole = replace(descent, solver=solvers[-1], seconds=LONGEST)
                cells += descended(loaded, test, WHOLE, known, whole, say, only=LONG)
            cells += from_zero(loaded, test, replace(descent, solver=solvers[0]), say)
            cells += optima(columns(loaded, inputs.steps, twin), test, IDENTIFIED, known, descent.seconds, say)
        for model, alpha in models.items():
            cells += converged(loaded, test, model, alpha, False, say)
        cells += converged(loaded, test, IDENTIFIED, known, True, say)
        cells += [nodes(loaded, test, model, alpha) for model, alpha in models.items()]
    draw(loaded, test, cells, files)
    write_table(files.out, loaded, cells)
    said(_report(loaded, recordings, cells))
    finish({"robot": loaded.name, "cells": [_facts(loaded, cell) for cell in cells]}, *vars(files).values())


def _facts(robot: Robot, cell: Cell) -> dict[str, Any]:
    """A cell for programs: RMSE [N·m] by joint, None where it failed or nothing is filtered."""

    def by_joint(values: FloatArray) -> dict[str, float | None]:
        return {joint: float(x) if np.isfinite(x) else None for joint, x in zip(robot.joints, values, strict=True)}

    own = cell.settings
    return {
        "model": cell.model, "method": cell.method, "start": own.start, "loss": own.loss, "horizon": own.horizon,
        "carry": own.carry, "samples": cell.samples, "failed": cell.reason or None,
        "rmse": None if cell.errors is None else by_joint(cell.errors.raw),
        "rmse_filtered": None if cell.errors is None else by_joint(cell.errors.filtered),
    }  # fmt: skip


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
    short = {(c.model, c.method): c.samples for c in cells if c.samples < len(test) - 1}
    heads = []
    for model, method, carry in groups:
        own = method if method.startswith(("adam", "optimum")) else f"{model}, {method}{', carried' if carry else ''}"
        heads.append(f"{own}, {short[model, method]} steps" if (model, method) in short else own)
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
