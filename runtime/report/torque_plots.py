"""Pictures of torque estimates: joint by joint over time, by group of schemes, and violins of the errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.figures import MEASURED, PREDICTED, Target, curve, new_figure, save, stroke
from diffpbd.runtime.torques.estimation import Estimate

__all__ = ["Curves", "plot_curves", "plot_estimate", "plot_groups", "plot_paths", "plot_violins"]

Curves: TypeAlias = "Mapping[str, tuple[FloatArray, FloatArray]]"
"""Label → time (samples,) [s] and torque (samples, n)."""

WIDTH_INCH = 12.0
ROW_INCH = 2.1
GROUP_INCH, GROUP_ROW_INCH = 3.0, 1.35
"""A column and a row of the picture by group."""
HEAD_INCH, PATHS_INCH, VIOLIN_ROW_INCH = 0.8, 4.2, 0.32
COLUMNS = 2
REST_RATIO = 2.5
"""[1] Height of a panel over that of the differences below it."""
DOTS_PER_INCH = 100
LINEAR = 1.0
"""[N·m] Errors up to this stand on a linear scale."""
LEAST_SPREAD = 1e-9
"""[N·m] Errors that differ by less have no density to draw."""
ROOM = 1.15
"""[1] Height of a panel, in units of the range of the recording and the curves that stay near it."""
NEAR = 1.0
"""[1] A curve that leaves the recording's range by more than this many ranges is cut off by the panel."""


def plot_estimate(
    path: Target, robot: Robot, parts: Sequence[Samples] | None, found: Sequence[Estimate], title: str
) -> None:
    """One estimate over the recording's parts (None: it has no torques)."""
    curves: dict[str, tuple[FloatArray, FloatArray]] = {}
    if parts is not None:
        curves["recorded, filtered"] = (
            np.concatenate([s.time for s in parts]), np.concatenate([s.tau for s in parts]),
        )  # fmt: skip
    curves["estimated"] = (np.concatenate([_middle(e) for e in found]), np.concatenate([e.reading for e in found]))
    plot_curves(path, robot, range(robot.n), curves, title)


def _middle(e: Estimate) -> FloatArray:
    """The instants that the torques belong to: the middle of a step, or the node."""
    return e.time + 0.5 * e.h if e.held else e.time


def plot_curves(
    path: Target, robot: Robot, joints: Sequence[int], curves: Curves, title: str, what: str = "torque"
) -> None:
    """One panel a joint; the first curve is drawn thick, and ranges follow it. `what`: torque or angle. Of two curves over
    the same time the difference is drawn below."""
    rows, columns = -(-len(joints) // COLUMNS), min(COLUMNS, len(joints))
    apart = _difference(curves)
    ratios = (REST_RATIO, 1.0) if apart is not None else (1.0,)
    figure = new_figure(WIDTH_INCH, HEAD_INCH + ROW_INCH * rows * sum(ratios) / ratios[0])
    figure.suptitle(title)
    grid = figure.subplots(len(ratios) * rows, columns, sharex=True, squeeze=False, height_ratios=ratios * rows)
    panels, rests = grid[:: len(ratios)].ravel(), grid[1::2].ravel() if apart is not None else []
    for panel, j in zip(panels, joints, strict=False):
        _panel(panel, robot, j, curves, what)
    for panel, j in zip(rests, joints, strict=False):
        assert apart is not None
        curve(panel, apart[0], apart[1][:, j], color="0.25", linewidth=0.8)
        panel.axhline(0.0, color="0.6", linewidth=0.6)
        panel.set_ylabel("difference", fontsize="small")
        panel.grid(alpha=0.3)
    for panel in (*panels[len(joints) :], *rests[len(joints) :]):
        panel.set_visible(False)
    lowest = rests if apart is not None else panels
    for panel in lowest[max(0, len(joints) - COLUMNS) : len(joints)]:
        panel.set_xlabel("time [s]")
        panel.tick_params(labelbottom=True)  # also where nothing stands below
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=min(3, len(labels)), frameon=False, fontsize="small"
    )
    save(path, figure, DOTS_PER_INCH)


def _difference(curves: Curves) -> tuple[FloatArray, FloatArray] | None:
    """Time, and the first of two curves less the second, where they have the same times."""
    if len(curves) != 2:
        return None
    (time, first), (other, second) = curves.values()
    return (time, first - second) if np.array_equal(time, other) else None


def _panel(panel: Any, robot: Robot, j: int, curves: Curves, what: str) -> None:
    """The curves of one joint."""
    joint = robot.manifest.robot.joints[j]
    ranges = []
    for k, (label, (time, values)) in enumerate(curves.items()):
        style: dict[str, Any] = {"linewidth": 0.9, **stroke(k - 1)}
        if len(curves) > 1 and k == 0:
            style = {"color": MEASURED, "linewidth": 2.4}
        elif len(curves) == 2:
            style = {"color": PREDICTED, "linewidth": 0.9}
        curve(panel, time, values[:, j], label=label, **style)
        ranges.append((float(values[:, j].min()), float(values[:, j].max())))
    panel.set_ylim(*_limits(ranges))
    unit = joint.unit if what == "angle" else joint.effort_unit
    panel.set_ylabel(f"{joint.name} [{unit}]")
    panel.grid(alpha=0.3)


def plot_groups(
    path: Target, robot: Robot, joints: Sequence[int], recorded: tuple[FloatArray, FloatArray],
    groups: Mapping[str, Curves], title: str,
) -> None:  # fmt: skip
    """One row a joint and one column a group of schemes [N·m], the recording thick behind each; the curves of a row share their
    limits, and a name has one line in all columns."""
    names = list(dict.fromkeys(name for curves in groups.values() for name in curves))
    figure = new_figure(max(WIDTH_INCH, GROUP_INCH * len(groups)), 2 * HEAD_INCH + GROUP_ROW_INCH * len(joints))
    figure.suptitle(title)
    grid = figure.subplots(len(joints), len(groups), sharex="col", sharey="row", squeeze=False)
    every = [recorded, *(values for curves in groups.values() for values in curves.values())]
    for row, j in zip(grid, joints, strict=True):
        for panel, curves in zip(row, groups.values(), strict=True):
            curve(panel, recorded[0], recorded[1][:, j], color=MEASURED, linewidth=2.4)
            for name, (time, values) in curves.items():
                curve(panel, time, values[:, j], linewidth=0.9, **stroke(names.index(name)))
            panel.set_xlim(recorded[0][0], max(float(time[-1]) for time, _ in curves.values()))
            panel.grid(alpha=0.3)
        row[0].set_ylim(*_limits([(float(values[:, j].min()), float(values[:, j].max())) for _, values in every]))
        row[0].set_ylabel(f"{robot.joints[j]} [{'N·m' if robot.manifest.robot.joints[j].unit == 'rad' else 'N'}]")
    for panel, name in zip(grid[0], groups, strict=True):
        panel.set_title(name, fontsize="medium")
    for panel in grid[-1]:
        panel.set_xlabel("time [s]")
    lines = [panel.plot([], [], color=MEASURED, linewidth=2.4)[0]]
    lines += [panel.plot([], [], linewidth=1.2, **stroke(k))[0] for k in range(len(names))]
    figure.legend(lines, ["recorded, filtered", *names], loc="outside lower center", ncols=4, frameon=False)
    save(path, figure, DOTS_PER_INCH)


def plot_paths(path: str | Path, tips: Mapping[str, FloatArray], title: str) -> None:
    """The tip's paths (samples, 3) [m], seen along each world axis; the first is drawn thick."""
    figure = new_figure(WIDTH_INCH, HEAD_INCH + PATHS_INCH)
    figure.suptitle(title)
    for panel, (a, b) in zip(figure.subplots(1, 3), ((0, 1), (0, 2), (1, 2)), strict=True):
        for k, (label, tip) in enumerate(tips.items()):
            style: dict[str, Any] = (
                {"color": "0.55", "linewidth": 3.0} if k == 0 else {"linewidth": 1.0, **stroke(k - 1)}
            )
            panel.plot(tip[:, a], tip[:, b], label=label, **style)
        panel.set_xlabel(f"{'xyz'[a]} [m]")
        panel.set_ylabel(f"{'xyz'[b]} [m]")
        panel.set_aspect("equal", adjustable="datalim")
        panel.grid(alpha=0.3)
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(3, len(labels)), frameon=False)
    save(path, figure, DOTS_PER_INCH)


def _limits(ranges: Sequence[tuple[float, float]]) -> tuple[float, float]:
    low, high = ranges[0]
    span = max(high - low, LEAST_SPREAD)
    for a, b in ranges[1:]:
        low, high = max(min(low, a), ranges[0][0] - NEAR * span), min(max(high, b), ranges[0][1] + NEAR * span)
    middle, half = 0.5 * (low + high), 0.5 * ROOM * max(high - low, LEAST_SPREAD)
    return middle - half, middle + half


def plot_violins(
    path: Target, robot: Robot, joints: Sequence[int], errors: Mapping[str, FloatArray], title: str,
    published: Mapping[str, Mapping[str, float]] = {},
) -> None:  # fmt: skip
    """Distribution of each scheme's torque error (samples, n) [N·m], one panel a joint, nothing cut off. `published`: root mean
    square errors by the end of a joint's name and by scheme, drawn as diamonds on both sides of zero."""
    figure = new_figure(WIDTH_INCH, HEAD_INCH + VIOLIN_ROW_INCH * (len(errors) + 1))
    figure.suptitle(title)
    panels = figure.subplots(1, len(joints), sharey=True, squeeze=False)[0]
    for panel, j in zip(panels, joints, strict=True):
        columns = [values[:, j] for values in errors.values()]
        for k, column in enumerate(columns):
            colour = str(stroke(k)["color"])
            if np.ptp(column) > LEAST_SPREAD:
                _violin(panel, k, column, colour)
            panel.plot(np.median(column), k, "|", color=colour, markersize=10)
        marks = next((of for end, of in published.items() if robot.joints[j].endswith(f"_{end}")), {})
        for k, name in enumerate(errors):
            if name in marks:
                panel.plot([-marks[name], marks[name]], [k, k], "kd", markersize=4, label="± the paper's RMSE")
        panel.set_xscale("symlog", linthresh=LINEAR)
        far = max(
            [float(np.abs(column).max()) for column in columns] + [marks[name] for name in errors if name in marks]
        )
        panel.set_xlim(-ROOM * max(far, LINEAR), ROOM * max(far, LINEAR))
        panel.axvline(0.0, color="0.6", linewidth=0.6)
        panel.set_title(robot.joints[j])
        panel.set_xlabel("estimated − recorded [N·m]", fontsize="small")
        panel.tick_params(axis="x", labelrotation=60)
        panel.grid(alpha=0.3)
    panels[0].set_yticks(range(len(errors)), list(errors), fontsize="small")
    panels[0].invert_yaxis()
    handles = {label: line for panel in panels for line, label in zip(*panel.get_legend_handles_labels(), strict=True)}
    if handles:
        figure.legend([*handles.values()], [*handles], loc="outside lower center", frameon=False, fontsize="small")
    save(path, figure, DOTS_PER_INCH)


def _violin(panel: Any, at: int, values: FloatArray, colour: str) -> None:
    """Density of the values, on the panel's scale: as wide at `at` as its densest place is 0.8 rows."""
    scaled = np.arcsinh(values / LINEAR)  # near the panel's scale, and smooth
    counts, edges = np.histogram(scaled, bins=min(60, max(8, int(np.sqrt(len(values))))))
    middle = LINEAR * np.sinh(0.5 * (edges[:-1] + edges[1:]))
    smooth = np.convolve(counts, [0.25, 0.5, 0.25], "same")
    half = 0.4 * smooth / smooth.max()
    panel.fill_between(middle, at - half, at + half, color=colour, alpha=0.45, linewidth=0.0)
    panel.plot([values.min(), values.max()], [at, at], color=colour, linewidth=0.8)
