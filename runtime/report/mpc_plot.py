"""A PNG of predictive control: positions with references, goals and limits, torques within their bounds, the time of each
tick."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.quaternions import PLACE
from diffpbd.runtime.mpc.problem import NONE
from diffpbd.runtime.mpc.simulation import ClosedLoop
from diffpbd.runtime.report.figures import Target, beside, curve, new_figure, reached_limits, save, stroke

__all__ = ["plot_closed_loop"]

SIZE_INCH = (10.0, 8.4)
MS = 1e3  # milliseconds a second


def plot_closed_loop(run: ClosedLoop, path: Target, *, title: str, bounds: FloatArray | None = None) -> None:
    """Draw a run. Thin dashed lines are the reference, dots at the end where it leads; `bounds` (6, n) are the plan's:
    torques are drawn as part of theirs, and limits of position where a joint comes near."""
    figure = new_figure(*SIZE_INCH)
    positions, torques, ticks = figure.subplots(3, 1, sharex=True, height_ratios=(3, 2, 1))
    figure.suptitle(title)
    colours = [stroke(k)["color"] for k in range(len(run.positions))]
    whole, more = _whole(run, bounds), len(run.positions) - len(run.joints)
    for k, colour in enumerate(colours):
        curve(positions, run.time, run.q[:, k], **stroke(k))
        positions.plot(run.time, run.reference[:, k], "--", color=colour, linewidth=0.8)
        positions.plot(
            run.time[-1], run.reference[-1, k], "o", color=colour, markersize=5, fillstyle="none", clip_on=False
        )
        if k < more * PLACE.stop:
            continue  # a floating base has no motors and no limits
        torques.step(run.time, run.tau[:, k - more] / whole[k - more], where="post", linewidth=0.9, **stroke(k))
        if bounds is not None:
            low, high = (None if abs(x) >= NONE else float(x) for x in bounds[3:5, k - more])
            reached_limits(positions, run.q[:, k], low, high, colour)
    beside(positions, list(run.positions), run.q[-1], colours)
    positions.set_ylabel("joint position [rad or m]")
    if bounds is None:
        torques.set_ylabel("torque [N·m or N]")
    else:
        torques.set_ylabel("torque, part of its bound")
        for side in (-1.0, 1.0):
            torques.axhline(side, color="0.4", linewidth=0.8, linestyle=(0, (6, 2)))
    ticks.semilogy(run.time[:-1], MS * np.maximum(run.seconds, np.finfo(float).tiny), ".", markersize=3, color="0.3")
    ticks.axhline(MS * run.h, color="0.4", linewidth=0.8, linestyle=(0, (6, 2)))
    ticks.annotate(
        "a step", (0.0, MS * run.h), xytext=(2, -2), textcoords="offset points", va="top", fontsize="x-small"
    )
    ticks.set_ylabel("tick [ms]")
    ticks.set_xlabel("time [s]")
    for axes in (positions, torques, ticks):
        axes.grid(alpha=0.3)
    save(path, figure)


def _whole(run: ClosedLoop, bounds: FloatArray | None) -> FloatArray:
    """Scale of a drawn torque: its bound, without one the largest that was sent."""
    if bounds is None:
        return np.ones(len(run.joints))
    most = np.minimum(np.abs(bounds[0]), np.abs(bounds[1]))
    sent = np.maximum(np.abs(run.tau).max(axis=0), np.finfo(float).tiny)
    return np.asarray(np.where(most < NONE, most, sent), dtype=np.float64)
