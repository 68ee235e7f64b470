"""What the forms that follow a trajectory share: recordings as steps, unknown entries of alpha, and the result.

The torque recorded at a sample acts, less its sensor's offset, until the next one, as in a simulated log. Positions and rates
are weighted with `POSITION` and `RATE`; standard deviations follow from what is left of the weighted residuals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.errors import InputError
from diffpbd.runtime.identify.bodies import PRIOR
from diffpbd.runtime.identify.result import Correlation, Errors, Estimate, Identification, Lost, Torques, Trace
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.names import listing
from diffpbd.runtime.robot import Robot

__all__ = [
    "POSITION",
    "RATE",
    "UNSEEN",
    "Found",
    "Motion",
    "Parameters",
    "Path",
    "Settings",
    "covariance_of",
    "motions",
    "parameters_of",
    "result_of",
    "undetermined_directions",
]

Path: TypeAlias = "tuple[FloatArray, FloatArray, FloatArray]"
"""Positions and rates (steps + 1, n) of an estimated trajectory, true torques (steps, n) that act during its steps."""

POSITION = 1e-3
"""[rad or m] Deviation of a recorded position: a few quanta of a 14-bit encoder."""
RATE = 1e-2
"""[rad/s or m/s] Deviation of a recorded rate: that position over a tenth of a second."""
OFFSET = "torque_offset."
UNSEEN = 1e-6
"""[1] Singular value of the normalised sensitivities below which a direction of the parameters is not determined."""
UNFELT = 1e-6
"""[deviations per SI unit] RMS effect on the motion below which a parameter has none: viscous friction of an arm at rest."""
ALIKE = 0.95
"""[1] Correlation from which two parameters are named as hardly told apart."""
SPRING_START = 1.0
"""[N·m/rad] Stiffness that the search begins with where spring and rest are unknown and alpha has none: without stiffness
the rest has no effect."""
LEVER_START = 100.0
"""[N/m] The same for a lever spring and its geometry."""
ON_BOUND = 1e-5
"""[N·m, N·m·s/rad, …] Distance from a bound that counts as on it: an interior-point method keeps about that off."""


@dataclass(frozen=True)
class Motion:
    """One recording: step h [s], positions and rates (steps + 1, n), torque readings of every step (steps, n)."""

    name: str
    h: float
    q: FloatArray
    dq: FloatArray
    tau: FloatArray

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.tau)


def motions(robot: Robot, samples: Sequence[Samples], form: str) -> list[Motion]:
    """Recordings as steps between their samples."""
    missing = [name for name in ("joint_step", "jac_joint_step", "jac_alpha_joint_step") if name not in robot.functions]
    if missing:
        raise InputError(f"--form {form} needs {listing(missing)}, which {robot.name} has not; use --form torque.")
    found = []
    for s in samples:
        q, dq, tau = (s.trimmed(values) for values in (s.q, s.dq, s.tau))
        if len(q) < 2:
            raise InputError(f"{s.name}: {len(q)} sample; too short for --form {form}, which needs at least one step.")
        found.append(Motion(s.name, 1.0 / s.rate, q, dq, tau[:-1]))
    return found


@dataclass(frozen=True)
class Settings:
    """Weight of the `prior` of inertials; whether windows of shooting are tied (`continuity`); deviations [N·m or N] of
    readings by joint, infinite where they are not used, zero or not named where the torque is known. Without `torques` those of
    all joints are unknown, near their readings, in the simultaneous form."""

    prior: float = PRIOR
    continuity: bool = False
    torques: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Parameters:
    """Unknown entries of alpha: names, positions, start and bounds; `base` holds all others.

    `offsets[k]` is the joint whose sensor's offset unknown k is, -1 for what acts on the plant.
    """

    names: tuple[str, ...]
    positions: npt.NDArray[np.intp]
    base: FloatArray
    start: FloatArray
    lower: FloatArray
    upper: FloatArray
    offsets: npt.NDArray[np.intp]
    offset_of: npt.NDArray[np.intp]
    """Positions of every joint's torque offset in alpha."""

    def alpha(self, theta: FloatArray) -> FloatArray:
        """alpha with these values of the unknowns."""
        values = np.array(self.base, dtype=np.float64)
        values[self.positions] = theta
        return values

    def torque(self, tau: FloatArray, theta: FloatArray) -> FloatArray:
        """True torque of a reading (…, n): its sensor's offset taken away."""
        return np.asarray(tau - self.alpha(theta)[self.offset_of], dtype=np.float64)


def parameters_of(robot: Robot, names: Sequence[str], base: FloatArray, form: str) -> Parameters:
    """The unknowns; what is no entry of alpha is refused."""
    strange = [name for name in names if name not in robot.alpha]
    if strange:
        raise InputError(f"--form {form} fits entries of alpha only, not {listing(strange)}; use --form torque.")
    positions = np.array([robot.alpha.index(name) for name in names], dtype=np.intp)
    start = base[positions].copy()
    for k, name in enumerate(names):
        joint = name.removeprefix("spring.stiffness.")
        if joint != name and f"spring.rest.{joint}" in names and start[k] == 0.0:
            start[k] = SPRING_START
        if name.startswith("lever_spring.stiffness.") and start[k] == 0.0:
            start[k] = LEVER_START
    joints = [name.removeprefix(OFFSET) if name.startswith(OFFSET) else "" for name in names]
    return Parameters(
        tuple(names),
        positions,
        base,
        start,
        robot.alpha.lower[positions],
        robot.alpha.upper[positions],
        np.array([robot.joints.index(joint) if joint else -1 for joint in joints], dtype=np.intp),
        np.array([robot.alpha.index(f"{OFFSET}{joint}") for joint in robot.joints], dtype=np.intp),
    )


@dataclass(frozen=True)
class Found:
    """What a form found: unknowns, their covariance for weighted residuals of mean square one (NaN where not determined), the
    weighted mean square, the number of directions that the recordings do not determine, the parameters that this leaves open,
    and the solver's words."""

    theta: FloatArray
    covariance: FloatArray
    mean_square: float
    undetermined: int
    lost: tuple[Lost, ...]
    condition: float
    status: str
    iterations: int
    notes: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    """Of every recording, where torques were unknown."""


def undetermined_directions(information: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Scale (k,) of every unknown, the directions (k, m) of the scaled ones that have no information, and the condition of
    the others."""
    if not len(information):
        return np.ones(0), np.zeros((0, 0)), 1.0
    diagonal = np.sqrt(np.maximum(np.diag(information), 0.0))
    felt = diagonal > UNFELT
    scale = 1.0 / np.where(felt, diagonal, 1.0)
    values, vectors = np.linalg.eigh(np.where(np.outer(felt, felt), information, 0.0) * np.outer(scale, scale))
    none = values <= UNSEEN**2 * max(float(values[-1]), np.finfo(float).tiny)
    seen = np.sqrt(np.maximum(values[~none], 0.0))
    return scale, vectors[:, none], float(seen[-1] / seen[0]) if seen.size else np.inf


def covariance_of(information: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Covariance (m, m) in the directions that are determined, the directions that are not, and the former's condition."""
    scale, undetermined, condition = undetermined_directions(information)
    size = np.outer(scale, scale)
    if undetermined.size:
        away = np.eye(len(scale)) - undetermined @ undetermined.T
        information = away @ (information * size) @ away / size
    return np.linalg.pinv(information * size, rcond=UNSEEN**2, hermitian=True) * size, undetermined, condition


def result_of(
    robot: Robot,
    train: Sequence[Samples],
    held: Sequence[Samples],
    parameters: Parameters,
    found: Found,
    notes: Sequence[str],
    torques: Sequence[Torques] = (),
) -> Identification:
    """The result as every form gives it; errors are those of the torque, measured minus inverse dynamics."""
    bounds = [_bound(parameters, k, value) for k, value in enumerate(found.theta)]
    sides = {None: found.theta, "lower": parameters.lower, "upper": parameters.upper}
    theta = np.array([sides[side][k] for k, side in enumerate(bounds)])
    alpha = parameters.alpha(theta)
    deviation = np.sqrt(np.maximum(np.diag(found.covariance), 0.0) * found.mean_square)
    missing = {item.name for item in found.lost}
    gone = np.array([name in missing for name in parameters.names], dtype=np.bool_)
    estimates = []
    for k, name in enumerate(robot.alpha.names):
        unit = robot.alpha.units[k]
        if name in parameters.names:
            j = parameters.names.index(name)
            std = None if gone[j] or not np.isfinite(deviation[j]) else float(deviation[j])
            estimates.append(Estimate(name, float(theta[j]), std, unit, bounds[j]))
        elif parameters.base[k] != robot.alpha.defaults[k]:
            estimates.append(Estimate(name, float(parameters.base[k]), None, unit))
    return Identification(
        robot=robot.name,
        joints=robot.joints,
        efforts=tuple("N·m" if joint.unit == "rad" else "N" for joint in robot.manifest.robot.joints),
        status=found.status,
        estimates=tuple(estimates),
        lost=found.lost,
        correlations=tuple(_correlations(parameters, found.covariance, gone)),
        train=_errors(robot, train, alpha),
        validate=_errors(robot, held, alpha) if held else None,
        iterations=found.iterations,
        rank=len(parameters.names) - found.undetermined,
        unknowns=len(parameters.names),
        condition=found.condition,
        window=0.0,
        processing=train[0].processing,
        notes=(*notes, *found.notes, *(f"{s.name}: {note}" for s in (*train, *held) for note in s.notes)),
        torques=tuple(torques),
    )


def _bound(parameters: Parameters, k: int, value: float) -> str | None:
    near = ON_BOUND * max(1.0, abs(value))
    for bound, word in ((parameters.lower[k], "lower"), (parameters.upper[k], "upper")):
        if abs(value - bound) <= near:
            return word
    return None


def _correlations(parameters: Parameters, covariance: FloatArray, gone: npt.NDArray[np.bool_]) -> list[Correlation]:
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    found = []
    for i, first in enumerate(parameters.names):
        for j in range(i):
            size = deviation[i] * deviation[j]
            if not (gone[i] or gone[j]) and size > 0.0 and abs(covariance[i, j]) > ALIKE * size:
                found.append(Correlation(parameters.names[j], first, float(covariance[i, j] / size)))
    return found


def _errors(robot: Robot, samples: Sequence[Samples], alpha: FloatArray) -> Errors:
    residuals, traces = [], []
    for s in samples:
        predicted = s.smooth(np.asarray(robot.inverse_dynamics(s.q, s.dq, s.ddq, alpha)))
        measured = s.trimmed(s.tau)
        residuals.append(measured - predicted)
        traces.append(Trace(s.name, s.trimmed(s.time), measured, predicted))
    together = np.vstack(residuals)

    def named(values: FloatArray) -> dict[str, float]:
        return {joint: float(value) for joint, value in zip(robot.joints, values, strict=True)}

    rmse, bias = np.sqrt((together**2).mean(axis=0)), together.mean(axis=0)
    return Errors(named(rmse), named(bias), named(together.std(axis=0)), len(together), tuple(traces))
