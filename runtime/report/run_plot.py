"""A PNG of a simulation: joint positions, energy and joint gaps over time."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.report.figures import Target, new_figure, save
from diffpbd.runtime.simulation import Run

__all__ = ["plot_run"]

PANEL_HEIGHT_INCH = 2.8
WIDTH_INCH = 10.0
DOTS_PER_INCH = 120
SMALLEST_GAP = 1e-18  # m or 1; where an exact zero is drawn on the logarithmic axis
ANY_COLORS = 10  # the default color cycle; more joints repeat it with another line style
LINE_STYLES = ("-", "--", ":", "-.")


def plot_run(run: Run, path: Target, *, title: str, units: tuple[str, ...]) -> None:
    """Draw `run`; `units` are the joints' units, rad or m."""
    figure = new_figure(WIDTH_INCH, 3 * PANEL_HEIGHT_INCH)
    angles, energy, gaps = figure.subplots(3, 1, sharex=True)
    figure.suptitle(title)

    for k, joint in enumerate(run.positions):
        style = LINE_STYLES[k // ANY_COLORS % len(LINE_STYLES)]
        angles.plot(run.time, run.q[:, k], style, label=f"{joint} [{units[k]}]")
    angles.set_ylabel(f"joint position [{' or '.join(dict.fromkeys(units))}]")

    if run.kinetic is not None and run.potential is not None:
        energy.plot(run.time, run.kinetic, label="kinetic")
        energy.plot(run.time, run.potential - run.potential[0], label="potential (0 at the start)")
        energy.plot(run.time, run.kinetic + run.potential - run.potential[0], "k--", label="sum")
    energy.set_ylabel("energy [J]")

    if run.gap is not None:
        gaps.semilogy(run.time, np.maximum(run.gap, SMALLEST_GAP), label="largest residual")
    gaps.set_ylabel("joint gap [m or 1]")
    gaps.set_xlabel("time [s]")

    for axes in (angles, energy, gaps):
        axes.grid(alpha=0.3)
        if axes.lines:
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
        else:
            axes.text(0.5, 0.5, "not generated", transform=axes.transAxes, ha="center")
    save(path, figure, DOTS_PER_INCH)
