"""Torque offsets, rotors, gains and delays that were not fitted and should have been: they hide in other parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.identify.design import Design
from diffpbd.runtime.robot import Robot

__all__ = ["missing"]

WORTH = 0.1
"""[1] Part of a joint's residual that an offset, a rotor, a gain or a delay must take away to be named."""


def missing(robot: Robot, designs: Sequence[Design], phi: FloatArray, names: Sequence[str]) -> list[str]:
    """A sentence for each joint without a fitted offset whose residual one would lower; else for what of its drive would."""
    sentences = []
    for j, joint in enumerate(robot.joints):
        if joint in robot.manifest.robot.base_freedoms:
            continue  # it has no sensor
        residual = np.concatenate([d.residual(phi)[:, j] for d in designs])
        columns = np.unique(np.concatenate([d.columns[j] for d in designs]))
        matrix = np.zeros((len(residual), columns.size))
        row = 0
        for d in designs:
            rows = slice(row, row + len(d.targets))
            matrix[rows, np.searchsorted(columns, d.columns[j])] = d.matrices[j]
            row += len(d.targets)
        without, rms = (float(np.sqrt((r**2).mean())) for r in (_left(matrix, residual)[1], residual))
        if rms == 0.0:
            continue
        offset = np.ones((len(residual), 1))
        if not (f"torque_offset.{joint}" in names or f"spring.rest.{joint}" in names):
            found, least = _with(matrix, offset, residual)
            if without - least > WORTH * without:
                unit = "N·m" if robot.manifest.robot.joints[j].unit == "rad" else "N"
                sentences.append(
                    f"joint {joint} reads as if its sensor had an offset of {found:.3g} {unit} (residual {least:.3g} instead "
                    f"of {without:.3g}), which is not fitted: it is bias, or hides in what is. Add "
                    f"torque_offset.{joint} to --fit"
                )
                continue
        sentences += _drive(robot, designs, phi, names, j, matrix, residual, without)
    return sentences


def _drive(
    robot: Robot, designs: Sequence[Design], phi: FloatArray, names: Sequence[str], j: int, matrix: FloatArray,
    residual: FloatArray, without: float,
) -> list[str]:  # fmt: skip
    """The rotor, gain or delay of a joint whose absence costs most, where that is a tenth of its residual at least."""
    joint = robot.joints[j]
    unit = "kg·m²" if robot.manifest.robot.joints[j].unit == "rad" else "kg"
    predicted = [(d.targets + d.fixed - d.residual(phi))[:, j] for d in designs]
    signals = {
        f"rotor_inertia.{joint}": [d.samples.smooth(d.samples.ddq)[:, j] for d in designs],
        f"sensor.gain.{joint}": predicted,
        f"sensor.delay.{joint}": [
            -np.gradient(p, 1.0 / d.samples.rate) for p, d in zip(predicted, designs, strict=True)
        ],
    }
    tried = []
    for name, signal in signals.items():
        if name not in names and np.std(np.concatenate(signal)) > 0.0:
            found, least = _with(matrix, np.concatenate(signal)[:, None], residual)
            if name.startswith("rotor") and found <= 0.0:
                continue  # no rotor takes torque away
            tried.append((least, name, found))
    if not tried or without - min(tried)[0] <= WORTH * without:
        return []
    least, name, found = min(tried)
    what = {
        "rotor": f"a rotor of {found:.3g} {unit}", "sensor.gain": f"a sensor gain of {1.0 + found:.3g}",
        "sensor.delay": f"a delay of {1e3 * found:.3g} ms",
    }  # fmt: skip
    text = next(sentence for start, sentence in what.items() if name.startswith(start))
    return [
        f"joint {joint} reads as if it had {text} (residual {least:.3g} instead of {without:.3g}), which is not fitted: it "
        f"may hide in what is. Try {name} in --fit"
    ]


def _with(matrix: FloatArray, column: FloatArray, residual: FloatArray) -> tuple[float, float]:
    """The coefficient of a column beside the others, and the RMS that is left then."""
    found, left = _left(np.hstack([matrix, column]), residual)
    return float(found[-1]), float(np.sqrt((left**2).mean()))


def _left(matrix: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients of least squares and what they leave."""
    if not matrix.shape[1]:
        return np.zeros(0), values
    found = np.linalg.lstsq(matrix, values, rcond=None)[0]
    return np.asarray(found), values - matrix @ found
