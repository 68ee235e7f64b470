"""Pictures of torque estimates: joint by joint over time, by group of schemes, and violins of the errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.report.figures import MEASURED, PREDICTED, Target, beside, curve, new_figure, save, stroke
from diffpbd.runtime.torques.estimation import Estimate

__all__ = ["Curves", "plot_curves", "plot_estimate", "plot_groups", "plot_paths", "plot_violins"]

Curves: TypeAlias = "Mapping[str, tuple[FloatArray, FloatArray]]"
"""Label → time (samples,) [s] and torque (samples, n)."""

WIDTH_INCH = 12.0
ROW_INCH = 2.1
GROUP_INCH, GROUP_ROW_INCH = 4.5, 1.35
"""A column with the names beside it, and a row, of the picture by group."""
HEAD_INCH, VIOLIN_INCH = 0.8, 4.2
COLUMNS = 2
REST_RATIO = 2.5
"""[1] Height of a panel over that of the differences below it."""
DOTS_PER_INCH = 100
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
    unit = joint.unit if what == "angle" else "N·m" if joint.unit == "rad" else "N"
    panel.set_ylabel(f"{joint.name} [{unit}]")
    panel.grid(alpha=0.3)


def plot_groups(
    path: Target, robot: Robot, joints: Sequence[int], recorded: tuple[FloatArray, FloatArray],
    groups: Mapping[str, Curves], title: str,
) -> None:  # fmt: skip
    """One row a joint and one column a group of schemes [N·m], the recording thick behind each; the curves of a row share their
    limits, and names stand beside those of the first row."""
    figure = new_figure(max(WIDTH_INCH, GROUP_INCH * len(groups)), HEAD_INCH + GROUP_ROW_INCH * len(joints))
    figure.suptitle(title)
    grid = figure.subplots(len(joints), len(groups), sharex="col", sharey="row", squeeze=False)
    every = [recorded, *(values for curves in groups.values() for values in curves.values())]
    for row, j in zip(grid, joints, strict=True):
        for panel, curves in zip(row, groups.values(), strict=True):
            curve(panel, recorded[0], recorded[1][:, j], color=MEASURED, linewidth=2.4)
            for k, (time, values) in enumerate(curves.values()):
                curve(panel, time, values[:, j], linewidth=0.9, **stroke(k))
            panel.set_xlim(recorded[0][0], max(float(time[-1]) for time, _ in curves.values()))
            panel.grid(alpha=0.3)
        row[0].set_ylim(*_limits([(float(values[:, j].min()), float(values[:, j].max())) for _, values in every]))
        row[0].set_ylabel(f"{robot.joints[j]} [{'N·m' if robot.manifest.robot.joints[j].unit == 'rad' else 'N'}]")
    for panel, (name, curves) in zip(grid[0], groups.items(), strict=True):
        panel.set_title(name, fontsize="medium")
        ends = [float(np.interp(panel.get_xlim()[1], recorded[0], recorded[1][:, joints[0]]))]
        ends += [float(values[-1, joints[0]]) for _, values in curves.values()]
        colours = [MEASURED, *(str(stroke(k)["color"]) for k in range(len(curves)))]
        beside(panel, ["recorded, filtered", *curves], np.array(ends), colours)
    for panel in grid[-1]:
        panel.set_xlabel("time [s]")
    save(path, figure, DOTS_PER_INCH)


def plot_paths(path: str | Path, tips: Mapping[str, FloatArray], title: str) -> None:
    """The tip's paths (samples, 3) [m], seen along each world axis; the first is drawn thick."""
    figure = new_figure(WIDTH_INCH, HEAD_INCH + VIOLIN_INCH)
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
    path: Target, robot: Robot, joints: Sequence[int], errors: Mapping[str, FloatArray], title: str
) -> None:
    """Distribution of each scheme's torque error (samples, n) [N·m], one panel a joint."""
    figure = new_figure(WIDTH_INCH, HEAD_INCH + VIOLIN_INCH)
    figure.suptitle(title)
    panels = figure.subplots(1, len(joints), squeeze=False)[0]
    for panel, j in zip(panels, joints, strict=True):
        columns = [values[:, j] for values in errors.values()]
        places = [k for k, column in enumerate(columns) if np.ptp(column) > LEAST_SPREAD]
        if places:
            panel.violinplot([columns[k] for k in places], positions=places, showmedians=True, widths=0.8)
        spread = max(float(np.quantile(np.abs(column), 0.995)) for column in columns)
        panel.set_ylim(-ROOM * max(spread, LEAST_SPREAD), ROOM * max(spread, LEAST_SPREAD))
        panel.set_xticks(range(len(columns)), [str(k + 1) for k in range(len(columns))], fontsize="small")
        panel.set_title(robot.joints[j])
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("estimated − recorded [N·m]")
    blank = [panels[0].plot([], [], alpha=0.0)[0] for _ in errors]
    names = [f"{k + 1}: {label}" for k, label in enumerate(errors)]
    figure.legend(
        blank,
        names,
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize="small",
        handlelength=0.0,
        handletextpad=0.0,
    )
    save(path, figure, DOTS_PER_INCH)
