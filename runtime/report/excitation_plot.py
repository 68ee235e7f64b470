"""A PNG of an excitation: positions, rates and torques as part of their limits, the height of the tip."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime.excite.excitation import Excitation
from diffpbd.runtime.report.figures import Target, beside, curve, new_figure, save, stroke

__all__ = ["plot_excitation"]

PANEL_HEIGHT_INCH = 2.3
WIDTH_INCH = 10.0


def plot_excitation(found: Excitation, path: Target, *, title: str) -> None:
    """Draw the motion; dashed lines are the limits with the margin taken off."""
    m, e = found.motion, found.envelope
    joints = e.robot.joints
    figure = new_figure(WIDTH_INCH, 4 * PANEL_HEIGHT_INCH)
    figure.suptitle(f"{title}; condition {found.before:.4g} to {found.after:.4g}")
    panels = figure.subplots(4, 1, sharex=True)
    middle, half = 0.5 * (e.lower + e.upper), 0.5 * (e.upper - e.lower)
    effort = np.where(np.isfinite(e.effort), e.effort, np.abs(m.tau).max(axis=0))
    for panel, values, label in zip(
        panels[:3],
        ((m.q - middle) / half, m.dq / e.speed, m.tau / effort),
        ("position", "rate", "torque"),
        strict=True,
    ):
        for j in range(len(joints)):
            curve(panel, m.time, values[:, j], **stroke(j))
        for side in (-1.0, 1.0):
            panel.axhline(side, color="k", linestyle="--", linewidth=0.8)
        panel.set_ylabel(f"{label} / limit [1]")
    panels[3].plot(m.time, m.height, color="k")
    if e.least_height is not None:
        panels[3].axhline(e.least_height, color="k", linestyle="--", linewidth=0.8)
    panels[3].set_ylabel("tip height [m]")
    panels[3].set_xlabel("time [s]")
    ends = ((m.q - middle) / half)[-1]
    beside(panels[0], joints, ends, [stroke(j)["color"] for j in range(len(joints))])
    for panel in panels:
        panel.grid(alpha=0.3)
    save(path, figure)
