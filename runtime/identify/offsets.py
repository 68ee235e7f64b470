"""Torque offsets that were not fitted and should have been: they show as bias, or hide in other parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.identify.design import Design
from diffpbd.runtime.robot import Robot

__all__ = ["missing"]

WORTH = 0.1
"""[1] Part of a joint's residual that an offset must take away to be named."""


def missing(robot: Robot, designs: Sequence[Design], phi: FloatArray, names: Sequence[str]) -> list[str]:
    """A sentence for each joint without a fitted offset whose residual one would lower."""
    sentences = []
    for j, joint in enumerate(robot.joints):
        if f"torque_offset.{joint}" in names or f"spring.rest.{joint}" in names:
            continue
        residual = np.concatenate([d.residual(phi)[:, j] for d in designs])
        columns = np.unique(np.concatenate([d.columns[j] for d in designs]))
        matrix = np.zeros((len(residual), columns.size + 1))
        matrix[:, -1] = 1.0
        row = 0
        for d in designs:
            rows = slice(row, row + len(d.targets))
            matrix[rows, np.searchsorted(columns, d.columns[j])] = d.matrices[j]
            row += len(d.targets)
        without, rms = (float(np.sqrt((r**2).mean())) for r in (_left(matrix[:, :-1], residual)[1], residual))
        found, left = _left(matrix, residual)
        least = float(np.sqrt((left**2).mean()))
        if rms > 0.0 and without - least > WORTH * without:
            unit = "N·m" if robot.manifest.robot.joints[j].unit == "rad" else "N"
            sentences.append(
                f"joint {joint} reads as if its sensor had an offset of {found[-1]:.3g} {unit} (residual {least:.3g} instead "
                f"of {without:.3g}), which is not fitted: it is bias, or hides in what is. Add torque_offset.{joint} to --fit"
            )
    return sentences


def _left(matrix: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients of least squares and what they leave."""
    if not matrix.shape[1]:
        return np.zeros(0), values
    found = np.linalg.lstsq(matrix, values, rcond=None)[0]
    return np.asarray(found), values - matrix @ found
