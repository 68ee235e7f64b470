"""The convergence figure: an arm that starts in pieces, after each sweep of every solver; table and picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.rows import write_rows
from diffpbd.runtime.report.figures import new_figure, save

__all__ = ["Projection", "plot", "write_table"]

SHOWN = (0, 1, 2, 5, 30)
"""Sweeps after which the arm is drawn; the last one made is drawn too."""
WIDTH_INCH = 12.0
ROW_INCH, RESIDUALS_INCH = 2.6, 3.8
ACROSS = 3
"""Arms in a row."""
LEAST_SHOWN = 1e-4
"""[m, rad] Below, the direct solve alone goes on, to rounding, and the others would be one line."""
DOTS_PER_INCH = 120
NAMES = {
    "gauss_seidel_as_printed": "Gauss–Seidel as printed", "jacobi_as_printed": "Jacobi as printed",
    "gauss_seidel": "Gauss–Seidel, block", "jacobi": "Jacobi, block", "direct": "direct",
}  # fmt: skip
STYLES = {
    "gauss_seidel_as_printed": "C3v-", "jacobi_as_printed": "C4D--", "gauss_seidel": "C0o-", "jacobi": "C1s--",
    "direct": "C2^-",
}  # fmt: skip


class Projection(Protocol):
    """One solver, start included: `pose` (sweeps + 1, n, 7) [m, 1], `gap` [m], `tilt` [rad], `bones` (…, n, 2, 3) [m]."""

    @property
    def solver(self) -> str:
        """Its name."""

    @property
    def pose(self) -> FloatArray:
        """x, y, z [m] and quaternion wxyz of every link."""

    @property
    def gap(self) -> FloatArray:
        """Largest positional residual of any joint [m]."""

    @property
    def tilt(self) -> FloatArray:
        """Largest angular residual of any joint [rad]."""

    @property
    def bones(self) -> FloatArray:
        """Both ends of every link [m]."""


def write_table(path: str | Path, links: Sequence[str], projections: Sequence[Projection]) -> None:
    """CSV: one row a solver and sweep, with the residuals and the pose of every link."""
    parts = ("x", "y", "z", "qw", "qx", "qy", "qz")
    header = ["solver", "sweep", "gap_m", "tilt_rad", *(f"{part}_{link}" for link in links for part in parts)]
    rows = (
        [found.solver, k, found.gap[k], found.tilt[k], *pose.ravel()]
        for found in projections
        for k, pose in enumerate(found.pose)
    )
    write_rows(path, header, rows)


def plot(path: str | Path, robot: str, projections: Sequence[Projection]) -> None:
    """PNG: above, the links of the arm after some sweeps of every solver; below, the residuals over the sweeps."""
    rows = -(-(len(projections) + 1) // ACROSS)
    heights = (ROW_INCH * rows, RESIDUALS_INCH)
    figure = new_figure(WIDTH_INCH, sum(heights))
    figure.suptitle(f"{robot}: detached links pulled together")
    grid = figure.add_gridspec(2, 1, height_ratios=heights)
    upper, lower = (figure.add_subfigure(grid[k, 0]) for k in range(2))
    panels = upper.subplots(rows, ACROSS, sharex=True, sharey=True, squeeze=False).ravel()
    axes = _plane(np.concatenate([found.bones.reshape(-1, 3) for found in projections]))
    for panel, found in zip(panels, projections, strict=False):
        _draw_arm(panel, found, axes)
    handles, labels = panels[0].get_legend_handles_labels()
    panels[len(projections)].legend(handles, labels, loc="center", frameon=False)
    for panel in panels[len(projections) :]:
        panel.set_axis_off()
    for panel in panels[max(0, len(projections) - ACROSS) : len(projections)]:
        panel.tick_params(labelbottom=True)  # also where nothing stands below
    for panel, key, label in zip(
        lower.subplots(1, 2, sharex=True),
        ("gap", "tilt"),
        ("largest joint gap [m]", "largest joint tilt [rad]"),
        strict=True,
    ):
        for found in projections:
            values = np.maximum(getattr(found, key), LEAST_SHOWN / 10)
            panel.semilogy(
                values, STYLES.get(found.solver, "-"), markersize=3, label=NAMES.get(found.solver, found.solver)
            )
        panel.set_ylim(bottom=LEAST_SHOWN)
        panel.set_xlabel(f"sweeps; direct: solves, {getattr(projections[-1], key)[-1]:.0e} after the last")
        panel.set_ylabel(label)
        panel.grid(alpha=0.3, which="both")
    lower.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=len(projections), frameon=False)
    save(path, figure, DOTS_PER_INCH)


def _plane(points: FloatArray) -> tuple[int, int]:
    """The vertical plane in which the arm reaches furthest: indices of its axes."""
    spread = np.ptp(points, axis=0)
    return (0 if spread[0] >= spread[1] else 1), 2


def _draw_arm(panel: Any, found: Projection, axes: tuple[int, int]) -> None:
    last = len(found.bones) - 1
    shown = sorted({k for k in SHOWN if k <= last} | {last})
    for rank, k in enumerate(shown):
        share = rank / max(1, len(shown) - 1)
        color = (0.85 * (1 - share), 0.25 + 0.1 * share, 0.2 + 0.6 * share)
        for i, ends in enumerate(found.bones[k]):
            label = (f"after {k}" if k else "detached") if i == 0 else None
            panel.plot(*ends[:, axes].T, ".-", color=color, alpha=0.35 + 0.65 * share, linewidth=1 + share, label=label)
    panel.set_title(NAMES.get(found.solver, found.solver))
    panel.set_aspect("equal")
    panel.set_xlabel(f"{'xyz'[axes[0]]} [m]")
    panel.set_ylabel(f"{'xyz'[axes[1]]} [m]")
    panel.grid(alpha=0.3)
