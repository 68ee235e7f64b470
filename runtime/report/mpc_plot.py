"""A PNG of predictive control: positions with their references, torques, and the time of each tick."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.mpc.simulation import ClosedLoop
from diffpbd.runtime.report.figures import Target, new_figure, save

__all__ = ["plot_closed_loop"]

SIZE_INCH = (10.0, 8.4)
MS = 1e3  # milliseconds a second


def plot_closed_loop(run: ClosedLoop, path: Target, *, title: str) -> None:
    """Draw a run; dashed lines are the reference."""
    figure = new_figure(*SIZE_INCH)
    positions, torques, ticks = figure.subplots(3, 1, sharex=True, height_ratios=(3, 2, 1))
    figure.suptitle(title)
    for k, joint in enumerate(run.joints):
        (line,) = positions.plot(run.time, run.q[:, k], label=joint)
        positions.plot(run.time, run.reference[:, k], "--", color=line.get_color(), linewidth=0.8)
        torques.step(run.time, run.tau[:, k], where="post", color=line.get_color(), linewidth=0.9)
    positions.set_ylabel("joint position [rad or m]")
    positions.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
    torques.set_ylabel("torque [N·m or N]")
    ticks.semilogy(run.time[:-1], MS * np.maximum(run.seconds, np.finfo(float).tiny), ".", markersize=3)
    ticks.set_ylabel("tick [ms]")
    ticks.set_xlabel("time [s]")
    for axes in (positions, torques, ticks):
        axes.grid(alpha=0.3)
    save(path, figure)
