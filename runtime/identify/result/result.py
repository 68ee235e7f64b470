"""What an identification found, and its file params.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.logs.processing import Processing, Samples
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.sensors import sensor_names, unit_of

__all__ = [
    "COMBINATION", "Correlation", "Errors", "Essential", "Estimate", "Identification", "Lost", "Solved", "Torques", "Trace",
    "identification", "predicted",
]  # fmt: skip

COMBINATION = "determined only in combination"  # prefix of such a reason
SENSORS = "sensor."  # prefix of parameters outside of alpha


@dataclass(frozen=True)
class Estimate:
    """A parameter's value and standard deviation in its unit.

    `std` is None where the value was given or is not determined, and if the model was `rejected` (the reason); then
    `formal` is the value for a right model. `bound` says which bound the value is on.
    """

    name: str
    value: float
    std: float | None
    unit: str
    bound: str | None = None
    formal: float | None = None
    rejected: str | None = None


@dataclass(frozen=True)
class Lost:
    """A parameter that the recordings do not determine, and why; it keeps its start value unless a prior decides."""

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
    """Measured and predicted torque (samples, n) [N·m or N] of a recording, its time [s], positions and rates."""

    name: str
    time: FloatArray
    measured: FloatArray
    predicted: FloatArray
    q: FloatArray
    dq: FloatArray

    @staticmethod
    def of(samples: Samples, measured: FloatArray, predicted: FloatArray) -> Trace:
        """Torques of these samples."""
        time, q, dq = (samples.trimmed(values) for values in (samples.time, samples.q, samples.dq))
        return Trace(samples.name, time, measured, predicted, q, dq)


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

    @property
    def shares(self) -> dict[str, tuple[float, float]]:
        """By joint: RMSE as part of the RMS torque, and R², the part of the torque's variance that is explained [1]."""
        measured = np.vstack([trace.measured for trace in self.traces])
        sizes, scatters = np.sqrt((measured**2).mean(axis=0)), measured.std(axis=0)
        found = {}
        for (joint, rmse), size, scatter in zip(self.rmse.items(), sizes.tolist(), scatters.tolist(), strict=True):
            found[joint] = (rmse / size if size else 0.0, 1.0 - (rmse / scatter) ** 2 if scatter else 0.0)
        return found

    @staticmethod
    def of(joints: Sequence[str], traces: Sequence[Trace]) -> Errors:
        """Errors over recordings."""
        together = np.vstack([trace.measured - trace.predicted for trace in traces])
        rmse, bias = np.sqrt((together**2).mean(axis=0)), together.mean(axis=0)
        return Errors(
            _by_joint(joints, rmse), _by_joint(joints, bias), _by_joint(joints, together.std(axis=0)),
            len(together), tuple(traces),
        )  # fmt: skip


def _by_joint(joints: Sequence[str], values: FloatArray) -> dict[str, float]:
    return {joint: float(value) for joint, value in zip(joints, values, strict=True)}


def _entries(estimates: Sequence[Estimate]) -> dict[str, Any]:
    return {e.name: {"value": e.value, "std": e.std, "unit": e.unit} for e in estimates}


@dataclass(frozen=True)
class Essential:
    """Base parameters whose removal raises the residual more than chance does, fitted without the `dropped` ones, whose
    `statistic` F is below its `quantile`; `errors` [N·m or N] by joint with all and with the essential ones, on what is `held`.
    """

    kept: tuple[Estimate, ...]
    dropped: tuple[str, ...]
    statistic: float
    quantile: float
    errors: Mapping[str, tuple[float, float]]
    held: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Of a solve: `window` [s] is that of the long-run covariance behind the standard deviations; `condition` that of the
    normalised columns of the determined directions."""

    lost: tuple[Lost, ...]
    correlations: tuple[Correlation, ...]
    rank: int
    unknowns: int
    condition: float
    window: float
    status: str
    iterations: int
    notes: tuple[str, ...] = ()
    base: tuple[Estimate, ...] = ()
    """Combinations of inertial parameters that the recordings determine, where whole bodies were fitted."""


@dataclass(frozen=True, kw_only=True)
class Identification(Outcome):
    """The result; `efforts` are the units of the joints' torques, N·m or N."""

    robot: str
    joints: tuple[str, ...]
    efforts: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    train: Errors
    validate: Errors | None
    processing: Processing
    essential: Essential | None = None
    presliding: Mapping[str, float] = field(default_factory=dict)
    """[rad or m] Presliding displacement of the joints whose friction has memory in this fit."""
    left_out: dict[str, float] | None = None
    """[N·m or N] By joint: mean RMSE on each recording with the parameters of all others, where that was asked for."""
    torques: tuple[Torques, ...] = ()
    """Those of every recording, where they were unknown."""
    passive: tuple[str, ...] = ()
    """Joints without a motor."""
    compared: str = "torque"
    """What `train` and `validate` are errors of, in the units of `efforts`: torque, or position [m or rad]."""
    generate: str | None = None
    """The command that generates a robot with these parameters, if the present one lacks some."""

    @property
    def judged(self) -> tuple[str, ...]:
        """Joints with identifiable torques: those with a motor, and those that replace missing ones."""
        silent = self.passive
        return tuple(j for j in self.joints if j not in silent or self.train.rmse[j] > 0.0)

    @property
    def parameters(self) -> dict[str, float]:
        """Values by name, as other functions take them for alpha."""
        return {e.name: e.value for e in self.estimates}

    def to_json(self, provenance: Mapping[str, Any] | None = None) -> str:
        """The text of params.json, with where the parameters come from."""
        held, entries = self.validate, _entries(self.estimates)
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
        more: dict[str, Any] = {
            "rejected": {e.name: e.rejected for e in self.estimates if e.rejected},
            "base_parameters": _entries(self.base),
            "essential_parameters": _entries(self.essential.kept) if self.essential else None,
            "presliding": dict(self.presliding),
            "sensor": sensor,
            "generate": self.generate,
            "provenance": provenance and dict(provenance),
        }
        data |= {key: value for key, value in more.items() if value}
        return json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


@dataclass(frozen=True, kw_only=True)
class Solved(Outcome):
    """What a form found. By name: `values` of the fitted parameters, standard `deviations` of those that are determined,
    `bounds` that some are on."""

    values: Mapping[str, float]
    deviations: Mapping[str, float]
    bounds: Mapping[str, str]
    withheld: Mapping[str, str] = field(default_factory=dict)
    """Reasons for withheld deviations, by name of the parameter."""


def identification(
    robot: Robot, base: FloatArray, solved: Solved, train: Errors, validate: Errors | None, processing: Processing,
    torques: Sequence[Torques] = (), compared: str = "torque",
) -> Identification:  # fmt: skip
    """The result as every form gives it; entries of alpha that were not fitted keep `base`."""
    facts = robot.manifest.robot
    return Identification(
        **{entry.name: getattr(solved, entry.name) for entry in fields(Outcome)},
        robot=robot.name,
        joints=robot.joints,
        efforts=tuple(joint.effort_unit if compared == "torque" else joint.unit for joint in facts.joints),
        estimates=tuple(_estimates(robot, base, solved)),
        train=train,
        validate=validate,
        processing=processing,
        passive=facts.passive,
        torques=tuple(torques),
        compared=compared,
    )


def _estimates(robot: Robot, base: FloatArray, solved: Solved) -> list[Estimate]:
    """Fitted entries of alpha and those given away from their default, in the order of alpha; then the sensors'."""
    found = []
    units = dict(zip(robot.alpha.names, robot.alpha.units, strict=True))
    units |= {name: unit_of(name) for name in sensor_names(robot)}
    given = dict(zip(robot.alpha.names, base.tolist(), strict=True))
    defaults = dict(zip(robot.alpha.names, robot.alpha.defaults.tolist(), strict=True))
    for name, unit in units.items():
        if name in solved.values:
            value = solved.values[name]
            value = value if np.isfinite(value) else given[name]  # a spring without stiffness has no rest
            formal, why = solved.deviations.get(name), solved.withheld.get(name)
            found.append(
                Estimate(
                    name, value, None if why else formal, unit, solved.bounds.get(name), formal if why else None, why
                )
            )
        elif name in given and given[name] != defaults[name]:
            found.append(Estimate(name, given[name], None, unit))
    return found


def predicted(robot: Robot, samples: Samples, alpha: FloatArray) -> Trace:
    """Measured torque of a recording and that of inverse dynamics, filtered alike."""
    torque = samples.smooth(np.asarray(robot.inverse_dynamics(samples.p, samples.dq, samples.ddq, alpha)))
    return Trace.of(samples, samples.trimmed(samples.tau), torque)
