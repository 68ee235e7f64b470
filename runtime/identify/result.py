"""What an identification found, and its file params.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.identify.design import Design
from diffpbd.runtime.logs.processing import Processing

__all__ = ["COMBINATION", "Correlation", "Errors", "Estimate", "Identification", "Lost", "Torques", "Trace"]

COMBINATION = "determined only in combination"  # how such a reason begins
SENSORS = "sensor."  # how parameters begin that are no part of alpha


@dataclass(frozen=True)
class Estimate:
    """A parameter's value and standard deviation in its unit.

    `std` is None where the value was given or is not determined; `bound` says which bound the value is on.
    """

    name: str
    value: float
    std: float | None
    unit: str
    bound: str | None = None


@dataclass(frozen=True)
class Lost:
    """A parameter that the recordings do not determine, and why; it keeps its start as far as nothing else decides."""

    name: str
    reason: str


@dataclass(frozen=True)
class Correlation:
    """Two parameters that the recordings hardly tell apart."""

    first: str
    second: str
    value: float


@dataclass(frozen=True)
class Trace:
    """Measured and predicted torque (samples, n) [N·m or N] of a recording, and its time [s]."""

    name: str
    time: FloatArray
    measured: FloatArray
    predicted: FloatArray


@dataclass(frozen=True)
class Torques:
    """Estimated torques of a recording: time (steps,) [s] at which each begins to act, the estimated positions, rates and
    true torques (steps, n), and `reading`, what a sensor with the estimated offset would show."""

    name: str
    time: FloatArray
    q: FloatArray
    dq: FloatArray
    u: FloatArray
    reading: FloatArray


@dataclass(frozen=True)
class Errors:
    """By joint [N·m or N]: RMSE, bias (mean of measured minus predicted), RMSE about the bias."""

    rmse: dict[str, float]
    bias: dict[str, float]
    centred: dict[str, float]
    count: int
    traces: tuple[Trace, ...]

    @staticmethod
    def of(joints: Sequence[str], designs: Sequence[Design], phi: FloatArray) -> Errors:
        """Errors of these coefficients over recordings."""
        residuals = [d.residual(phi) for d in designs]
        together = np.vstack(residuals)
        rmse, bias = np.sqrt((together**2).mean(axis=0)), together.mean(axis=0)
        traces = []
        for d, r in zip(designs, residuals, strict=True):
            measured = d.targets + d.fixed
            traces.append(Trace(d.samples.name, d.samples.trimmed(d.samples.time), measured, measured - r))
        return Errors(
            _by_joint(joints, rmse), _by_joint(joints, bias), _by_joint(joints, together.std(axis=0)),
            len(together), tuple(traces),
        )  # fmt: skip


def _by_joint(joints: Sequence[str], values: FloatArray) -> dict[str, float]:
    return {joint: float(value) for joint, value in zip(joints, values, strict=True)}


@dataclass(frozen=True)
class Identification:
    """The result.

    `efforts` are the units of the joints' torques, N·m or N. `window` [s] is that of the long-run covariance behind the
    standard deviations; `condition` that of the normalised columns of the determined directions.
    """

    robot: str
    joints: tuple[str, ...]
    efforts: tuple[str, ...]
    status: str
    estimates: tuple[Estimate, ...]
    lost: tuple[Lost, ...]
    correlations: tuple[Correlation, ...]
    train: Errors
    validate: Errors | None
    iterations: int
    rank: int
    unknowns: int
    condition: float
    window: float
    processing: Processing
    notes: tuple[str, ...]
    base: tuple[Estimate, ...] = ()
    """Combinations of inertial parameters that the recordings determine, where whole bodies were fitted."""
    left_out: dict[str, float] | None = None
    """[N·m or N] By joint: mean RMSE on each recording with the parameters of all others, where that was asked for."""
    torques: tuple[Torques, ...] = ()
    """Those of every recording, where they were unknown."""

    @property
    def parameters(self) -> dict[str, float]:
        """Values by name, as other functions take them for alpha."""
        return {e.name: e.value for e in self.estimates}

    def to_json(self) -> str:
        """The text of params.json."""
        held = self.validate
        entries = {e.name: {"value": e.value, "std": e.std, "unit": e.unit} for e in self.estimates}
        sensor = {name: entry for name, entry in entries.items() if name.startswith(SENSORS)}
        data: dict[str, Any] = {
            "status": self.status,
            "parameters": {name: entry for name, entry in entries.items() if name not in sensor},
            "not_identifiable": [item.name for item in self.lost],
            "rmse": {"train": self.train.rmse, "validate": held.rmse if held else {}},
            "bias": {"train": self.train.bias, "validate": held.bias if held else {}},
        }
        if self.left_out is not None:
            data["rmse"]["leave_one_out"] = self.left_out
        if self.base:
            data["base_parameters"] = {e.name: {"value": e.value, "std": e.std, "unit": e.unit} for e in self.base}
        if sensor:
            data["sensor"] = sensor
        return json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
