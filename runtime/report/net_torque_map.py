"""The paper's net torque map as a picture, beside what a plane misses of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.control.net_torque import NetTorqueMap
from diffpbd.runtime.report.figures import new_figure, save

__all__ = ["closest_plane", "plot"]


def closest_plane(table: NetTorqueMap) -> tuple[float, float, FloatArray]:
    """The least-squares plane through zero: slopes [N·m/rad] and [N·m·s/rad], and the map less the plane [N·m]."""
    keys = np.stack(
        [axis.ravel() for axis in np.meshgrid(table.displacements, table.velocities, indexing="ij")], axis=1
    )
    slopes = np.linalg.lstsq(keys, table.torque.ravel(), rcond=None)[0]
    return float(slopes[0]), float(slopes[1]), table.torque - (keys @ slopes).reshape(table.torque.shape)


def plot(path: str | Path, table: NetTorqueMap) -> None:
    """PNG: torque over displacement and velocity, and the difference from the closest plane."""
    made = new_figure(10.0, 4.2)
    made.suptitle(f"{table.robot}: net torque of {table.joint}, {table.step}, {1e3 * table.h:g} ms")
    _, _, rest = closest_plane(table)
    for panel, values, label in zip(
        made.subplots(1, 2), (table.torque, rest), ("net torque [N·m]", "less the closest plane [N·m]"), strict=True
    ):
        edge = float(np.abs(values).max()) or 1.0
        image = panel.pcolormesh(
            table.velocities, table.displacements, values, cmap="RdBu_r", vmin=-edge, vmax=edge, shading="nearest"
        )
        lines = panel.contour(table.velocities, table.displacements, values, colors="k", linewidths=0.6)
        panel.clabel(
            lines, fontsize="x-small"
        )  # in print both ends of the colours are dark; below zero lines are dashed
        made.colorbar(image, ax=panel, label=label)
        panel.set_xlabel("velocity [rad/s]")
        panel.set_ylabel("displacement in one step [rad]")
    save(path, made)
