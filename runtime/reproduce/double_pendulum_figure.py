"""Figure and table of the double pendulum's design."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.report.figures import new_figure, panel, save
from diffpbd.runtime.reproduce.double_pendulum import Design, Walk

__all__ = ["plot", "write_table"]

SIZE = (11.0, 8.0)
STYLES = {"before": {"color": "C3", "linestyle": "--"}, "after": {"color": "C0", "linestyle": "-"}}
JOINTS = ("shoulder", "elbow")


def plot(path: str | Path, design: Design) -> None:
    """PNG: arm, circle and path before and after; power over time; torque against angle of both joints."""
    figure = new_figure(*SIZE)
    grid = figure.add_gridspec(3, 2, height_ratios=(1.4, 1.0, 1.0))
    walks = {"before": design.before, "after": design.after}
    found: dict[str, Any] = {}
    for k, (word, walk) in enumerate(walks.items()):
        axes = figure.add_subplot(grid[0, k])
        _arm(axes, word, walk, design)
        found |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(found.values(), found, loc="outside lower center", ncols=len(found), frameon=False)
    power = panel(figure.add_subplot(grid[1, :]), "power of both joints", "time [s]", "power [W]")
    time = (np.arange(design.task.steps) + 0.5) * design.task.h
    for word, walk in walks.items():
        label = f"{word}: work {walk.work:.3f} J"
        power.plot(time, walk.powers.sum(axis=1), **STYLES[word], linewidth=1, label=label)
    power.legend(frameon=False)
    for j, name in enumerate(JOINTS):
        curve = panel(figure.add_subplot(grid[2, j]), f"{name}", "angle [rad]", "torque [N·m]")
        for word, walk in walks.items():
            curve.plot(walk.angles[:-1, j], walk.torques[:, j], **STYLES[word], linewidth=1, label=word)
        curve.legend(frameon=False)
    save(path, figure)


def _arm(axes: Any, word: str, walk: Walk, design: Design) -> None:
    l1, l2 = walk.lengths
    panel(axes, f"{word}: l1 = {l1:.4f} m, l2 = {l2:.4f} m, loss {walk.loss:.2f}", "along [m]", "across [m]")
    axes.plot(*design.circle.T, "k:", linewidth=1.2, label="wanted")
    axes.plot(*walk.tip.T, **STYLES[word], linewidth=1.5, label=f"tip {word}")
    for k, style in ((0, "C2-"), (len(walk.tip) // 3, "0.6"), (2 * len(walk.tip) // 3, "0.6")):
        points = np.vstack([np.zeros(2), walk.elbow[k], walk.tip[k]])
        axes.plot(
            *points.T,
            style,
            marker="o",
            markersize=3,
            linewidth=1,
            label="arm at the start" if k == 0 else "later" if k == len(walk.tip) // 3 else None,
        )
    axes.set_xlim(1.9, 3.3)
    axes.set_ylim(-0.5, 0.5)
    axes.set_aspect("equal")


def write_table(path: str | Path, design: Design) -> None:
    """CSV: one row a step, before and after: angles, torques, power, tip."""
    header = ["time_s", "wanted_along_m", "wanted_across_m"]
    columns = ["theta1_rad", "theta2_rad", "tau1_Nm", "tau2_Nm", "power1_W", "power2_W", "along_m", "across_m"]
    header += [f"{word}_{column}" for word in ("before", "after") for column in columns]
    rows = []
    for k in range(design.task.steps):
        row: list[object] = [k * design.task.h, *map(float, design.circle[k])]
        for walk in (design.before, design.after):
            numbers = (walk.angles[k], walk.torques[k], walk.powers[k], walk.tip[k])
            row += [float(x) for pair in numbers for x in pair]
        rows.append(row)
    write_rows(path, header, rows)
