"""Figure and table of the double pendulum's design."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.report.figures import marks, new_figure, panel, save, stroke
from experiments.design.double_pendulum import PAPER, Design, Walk

__all__ = ["plot", "write_table"]

SIZE = (11.0, 15.5)
WORDS = ("before", "after")
JOINTS = ("shoulder", "elbow")
NARROW, WIDER = 0.8, 0.9
"""[pt] Width of the last curve, and how much wider each one before it is."""


def plot(path: str | Path, found: Mapping[str, Design]) -> None:
    """PNG, one column before and one after, one curve a step: arm and path on the circle, power, torque over angle; below, the
    loss over ADAM's iterations. Earlier curves are drawn wider, so that later ones that lie on them hide none."""
    figure = new_figure(*SIZE)
    grid = figure.add_gridspec(5, 2, height_ratios=(1.6, 1.0, 1.0, 1.0, 1.0))
    for k, word in enumerate(WORDS):
        arm, power, *curves = (figure.add_subplot(grid[row, k]) for row in range(4))
        _arm(arm, word, found)
        panel(power, f"{word}: power of both joints", "time [s]", "power [W]")
        for axes, name in zip(curves, JOINTS, strict=True):
            panel(axes, f"{word}: {name}", "angle [rad]", "torque [N·m]")
        for j, design in enumerate(found.values()):
            walk: Walk = getattr(design, word)
            time = (np.arange(design.task.steps) + 0.5) * design.task.h
            power.plot(time, walk.powers.sum(axis=1), **_wide(j, len(found)))
            for i, axes in enumerate(curves):
                axes.plot(walk.angles[:-1, i], walk.torques[:, i], **_wide(j, len(found)))
    handles, labels = arm.get_legend_handles_labels()
    _descents(figure.add_subplot(grid[4, :]), found)
    figure.legend(handles, labels, loc="outside lower center", ncols=1, frameon=False)
    save(path, figure)


def _wide(j: int, count: int) -> dict[str, Any]:
    """Colour, line and width of curve j: each is narrower than those drawn before it."""
    return {**stroke(j), "linestyle": "-", "linewidth": NARROW + WIDER * (count - 1 - j)}


def _descents(axes: Any, found: Mapping[str, Design]) -> None:
    """Losses of ADAM, where IPOPT ended, and the paper's two losses."""
    panel(axes, "loss: ADAM over its iterations (solid), where IPOPT ended (dotted)", "iteration", "loss")
    for j, (name, design) in enumerate(found.items()):
        if design.descent is not None:
            axes.semilogy(design.descent, color=stroke(j)["color"], label=f"{name}, ADAM")
            axes.axhline(design.after.loss, color=stroke(j)["color"], linestyle=":", linewidth=1.2)
    marks(axes, [PAPER[word][2] for word in WORDS], "the paper, before and after")
    axes.legend(loc="best", frameon=False)


def _arm(axes: Any, word: str, found: Mapping[str, Design]) -> None:
    """The circle, the arm as it starts and each step's path, named with its lengths, loss and work."""
    first = next(iter(found.values()))
    panel(axes, f"{word}: arm at the start, path of the tip", "along [m]", "across [m]")
    axes.plot(*first.circle.T, color="0.6", linewidth=4.0, label="wanted")
    for j, (name, design) in enumerate(found.items()):
        walk: Walk = getattr(design, word)
        l1, l2 = walk.lengths
        label = f"{name}: {word} l1 = {l1:.3f} m, l2 = {l2:.3f} m, loss {walk.loss:.1f}, work {walk.work:.3f} J"
        axes.plot(*walk.tip.T, **_wide(j, len(found)), label=label)
        points = np.vstack([np.zeros(2), walk.elbow[0], walk.tip[0]])
        axes.plot(*points.T, color=stroke(j)["color"], alpha=0.6, marker="o", markersize=4, linewidth=0.8)
    axes.set_xlim(1.9, 3.3)
    axes.set_ylim(-0.5, 0.5)
    axes.set_aspect("equal")


def write_table(path: str | Path, found: Mapping[str, Design]) -> None:
    """CSV: one row a step of each design, before and after: angles, torques, power, tip."""
    header = ["step", "time_s", "wanted_along_m", "wanted_across_m"]
    columns = ["theta1_rad", "theta2_rad", "tau1_Nm", "tau2_Nm", "power1_W", "power2_W", "along_m", "across_m"]
    header += [f"{word}_{column}" for word in WORDS for column in columns]
    rows = []
    for name, design in found.items():
        for k in range(design.task.steps):
            row: list[object] = [name, k * design.task.h, *map(float, design.circle[k])]
            for walk in (design.before, design.after):
                numbers = (walk.angles[k], walk.torques[k], walk.powers[k], walk.tip[k])
                row += [float(x) for pair in numbers for x in pair]
            rows.append(row)
    write_rows(path, header, rows)
