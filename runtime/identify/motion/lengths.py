"""`--fit loop`: geometry of closed loops from the encoders alone, before dynamics are fitted.

Readings of more encoders than freedoms must close the loops. At given lengths the closed pose nearest to a reading is found,
joints without an encoder wherever the loops put them; what is left between the two is the residual, in the units of the
encoders, and the lengths that leave least of it are the fitted ones: least squares with errors in all readings, by Gauss-Newton
in the directions that the recordings determine. To first order a residual is changed by what the lengths open,
(1 - P) S A⁺ ∂g/∂α with A the rows' gradient, S the joints with an encoder and P onto what the mechanism's own motions do to
these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError, arg
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.identify.motion.conclusion import End, conclude
from diffpbd.runtime.identify.motion.coordinates import Coordinates
from diffpbd.runtime.identify.motion.trajectory import Parameters, parameters_of
from diffpbd.runtime.identify.result.covariance import Influence
from diffpbd.runtime.identify.result.result import Errors, Identification, Trace, identification
from diffpbd.runtime.identify.result.statistics import by_information
from diffpbd.runtime.identify.settings.settings import FRICTION_MODELS, STANDSTILL
from diffpbd.runtime.identify.settings.task import Task
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.closed import inverse
from diffpbd.runtime.model.robot import Robot

__all__ = ["GEOMETRY", "fit_lengths", "of_lengths"]

GEOMETRY: Final = ("loop", "origin")
"""How entries of alpha begin that say where joints are, those of loops too."""
CLOSING: Final = 30
"""Iterations that bring a pose onto the loops."""
CLOSED: Final = 1e-11
"""[m, rad] Last change of such a pose."""
FAR: Final = 0.3
"""[rad or m] Longest change of a joint in one iteration."""
ROUNDS: Final = 50
"""Gauss-Newton iterations."""
SETTLED: Final = 1e-10
"""[m, rad] Last change of a length."""
HALVINGS: Final = 12
UNFELT: Final = 1e-6
"""[rad or m per m or rad] RMS effect on the residuals below which a length has none."""


def of_lengths(robot: Robot, names: Sequence[str]) -> bool:
    """Whether any of these words or entries is of the geometry of a robot with closed loops."""
    return bool(robot.manifest.robot.loops) and any(name.strip().split(".")[0] in GEOMETRY for name in names)


@dataclass(frozen=True)
class _Read:
    """Readings of a recording: positions (samples, n) and which joints (n,) have an encoder."""

    samples: Samples
    q: FloatArray
    seen: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Fit:
    """Readings at an alpha: closed poses, residuals (samples, encoders) of every recording."""

    poses: tuple[FloatArray, ...]
    left: tuple[FloatArray, ...]

    @property
    def square(self) -> float:
        """Sum of the residuals' squares."""
        return float(sum((e**2).sum() for e in self.left))


def fit_lengths(task: Task) -> Identification:
    """The entries of `selection`, all of geometry, all others at `base`; errors are those of positions."""
    robot, train, validate, selection, base, settings, say = task
    for option, given in (
        (arg.cross_validate, settings.cross_validate), (arg.loss("huber"), settings.huber), (arg.starts, settings.starts > 1),
        (arg.standstill("auto"), settings.standstill != STANDSTILL[0]),
        (arg.friction_model("auto"), settings.friction_model != FRICTION_MODELS[0]),
    ):  # fmt: skip
        if given:
            raise InputError(f"{option}: it is for fits of torques; {arg.fit} loop goes by positions alone.")
    others = [name for name in selection.names if not name.startswith(tuple(f"{kind}." for kind in GEOMETRY))]
    if others:
        raise InputError(
            f"{arg.fit} {others[0]}: lengths of closed loops are fitted by the encoders alone, before dynamics; fit loop and "
            f"origin in a run of their own, and give its file to the next with {arg.start}."
        )
    reads, held = ([_read(robot, s) for s in group] for group in (train, validate))
    _check(robot, reads)
    parameters = parameters_of(robot, selection.names, base, "torque")
    say("Closing the loops on the encoders")
    theta, fit, iterations = _solve(robot, reads, parameters)
    coordinates = Coordinates(robot, replace(parameters, start=theta))
    slopes = _all_slopes(robot, reads, fit, parameters, theta)
    J = np.vstack(slopes)
    spare = sum(len(r.q) * (int(r.seen.sum()) - robot.manifest.robot.mobility) for r in reads)
    end = End(
        coordinates, theta, J.T @ J, fit.square / max(spare, 1), spare, 0.0, "Solved", iterations,
        influence=lambda moves: _influence(robot, reads, fit, slopes, moves), sample=1.0 / train[0].rate,
    )  # fmt: skip
    solved = conclude(end)
    if not set(solved.values) - {item.name for item in solved.lost}:
        raise InputError(
            f"{arg.fit} loop: {listing([item.name for item in solved.lost])}: these recordings determine none of them by "
            f"itself, only {solved.rank} combinations of {solved.unknowns}. Hold measured ones with {arg.fixed}, or record "
            "other motions."
        )
    notes = [*selection.notes, *solved.notes, *(n for r in (*reads, *held) for n in _said(robot, r))]
    alpha = _alpha(parameters, theta)
    test = _errors(robot, held, _closed(robot, held, alpha)) if held else None
    errors = _errors(robot, reads, fit)
    solved = replace(solved, notes=tuple(notes))
    return identification(robot, base, solved, errors, test, train[0].processing, compared="position")


def _read(robot: Robot, samples: Samples) -> _Read:
    q = samples.q if samples.read is None else samples.read[0]
    return _Read(samples, samples.trimmed(q), np.array([joint not in samples.derived for joint in robot.joints]))


def _check(robot: Robot, reads: Sequence[_Read]) -> None:
    """Refuses too few encoders: with no more than freedoms, any lengths close the loops."""
    mobility = robot.manifest.robot.mobility
    for r in reads:
        own = [joint for joint, has in zip(robot.joints, r.seen, strict=True) if has]
        if len(own) <= mobility:
            free = [joint for joint in robot.joints if joint not in own]
            raise InputError(
                f"{r.samples.name}: {arg.fit} loop needs more encoders than the mechanism has freedoms ({mobility}): with "
                f"those of {listing(own)} alone the loops close whatever their lengths. Record angles of {listing(free)} too."
            )


def _said(robot: Robot, r: _Read) -> list[str]:
    free = [joint for joint, has in zip(robot.joints, r.seen, strict=True) if not has]
    own = [f"{r.samples.name}: {note}" for note in r.samples.notes if "without encoders" not in note]
    return [*own, *([f"{r.samples.name}: {listing(free)}, without an encoder, follow from the loops"] if free else [])]


def _alpha(parameters: Parameters, theta: FloatArray) -> FloatArray:
    alpha: FloatArray = parameters.base.copy()
    alpha[parameters.positions] = theta
    return alpha


def _errors(robot: Robot, reads: Sequence[_Read], fit: _Fit) -> Errors:
    """Of positions; a joint without an encoder has none."""
    traces = []
    for r, pose in zip(reads, fit.poses, strict=True):
        traces.append(Trace.of(r.samples, np.where(r.seen, r.q, pose), pose))
    return Errors.of(robot.joints, traces)


# Closed poses -----------------------------------------------------------------------------------------------------------------


def _closed(robot: Robot, reads: Sequence[_Read], alpha: FloatArray) -> _Fit:
    """The closed poses nearest to the readings; SolverError where a reading is out of reach."""
    poses, left = [], []
    for r in reads:
        q = _nearest(robot, r.q, r.seen, alpha)
        poses.append(q)
        left.append((r.q - q)[:, r.seen])
    return _Fit(tuple(poses), tuple(left))


def _nearest(robot: Robot, read: FloatArray, seen: npt.NDArray[np.bool_], alpha: FloatArray) -> FloatArray:
    q: FloatArray = read.copy()
    still = np.zeros_like(read)
    for _ in range(CLOSING):
        rows = np.asarray(robot.functions["loop_residual"](q, still, alpha).rows)
        A = np.asarray(robot.functions["jac_loop_residual"](q, still, alpha).drows_dp)
        back = -(inverse(A, robot.n - robot.manifest.robot.mobility) @ rows[..., None])[..., 0]
        N = _motions(robot, A)
        wanted = (read - q - back)[:, seen]
        step = back + (N @ (np.linalg.pinv(N[:, seen]) @ wanted[..., None]))[..., 0]
        longest = np.abs(step).max(axis=1, initial=0.0)
        q = q + step * np.minimum(1.0, FAR / np.maximum(longest, FAR))[:, None]
        if longest.max(initial=0.0) < CLOSED:
            return q
    worst = int(longest.argmax())
    raise SolverError(f"Sample {worst + 1}: no pose near what was read closes the loops.")


def _motions(robot: Robot, A: FloatArray) -> FloatArray:
    """Orthonormal null-space bases (samples, n, mobility) of the rows."""
    right = np.linalg.svd(A)[2]
    return np.asarray(right[:, robot.n - robot.manifest.robot.mobility :].swapaxes(-1, -2), dtype=np.float64)


def _slopes(robot: Robot, r: _Read, q: FloatArray, alpha: FloatArray, positions: npt.NDArray[np.intp]) -> FloatArray:
    """Derivatives (samples, encoders, entries) of the residuals at closed poses."""
    still = np.zeros_like(q)
    A = np.asarray(robot.functions["jac_loop_residual"](q, still, alpha).drows_dp)
    G = np.asarray(robot.functions["jac_alpha_loop_residual"](q, still, alpha).drows_dalpha)[..., positions]
    moved, N = (inverse(A, robot.n - robot.manifest.robot.mobility) @ G)[:, r.seen], _motions(robot, A)[:, r.seen]
    return np.asarray(moved - N @ (np.linalg.pinv(N) @ moved), dtype=np.float64)


def _all_slopes(
    robot: Robot, reads: Sequence[_Read], fit: _Fit, parameters: Parameters, theta: FloatArray
) -> list[FloatArray]:
    """Rows (residuals, entries) of every recording."""
    alpha = _alpha(parameters, theta)
    found = [_slopes(robot, r, q, alpha, parameters.positions) for r, q in zip(reads, fit.poses, strict=True)]
    return [part.reshape(-1, part.shape[-1]) for part in found]


# Lengths ----------------------------------------------------------------------------------------------------------------------


def _solve(robot: Robot, reads: Sequence[_Read], parameters: Parameters) -> tuple[FloatArray, _Fit, int]:
    """Lengths, closed poses there, iterations. Directions that nothing determines keep the start."""
    theta = parameters.start.copy()
    try:
        fit = _closed(robot, reads, _alpha(parameters, theta))
    except SolverError as error:
        raise InputError(
            f"{arg.fit} loop: at the start {error} Look at zeros and directions of the encoders, and give lengths that are "
            f"nearer with {arg.start}."
        ) from None
    for k in range(ROUNDS):
        J = np.vstack(_all_slopes(robot, reads, fit, parameters, theta))
        left = np.concatenate([e.reshape(-1) for e in fit.left])
        scale, found = by_information(J.T @ J, UNFELT * np.sqrt(len(J)))
        step = -scale * (found.inverse @ (scale * (J.T @ left)))
        theta_next, next_fit = _shortened(robot, reads, parameters, (theta, fit), step)
        change = float(np.abs(theta_next - theta).max(initial=0.0))
        theta, fit = theta_next, next_fit
        if change < SETTLED:
            return theta, fit, k + 1
    raise SolverError(f"{arg.fit} loop: lengths still change by {change:.2g} after {ROUNDS} iterations.")


def _shortened(
    robot: Robot, reads: Sequence[_Read], parameters: Parameters, at: tuple[FloatArray, _Fit], step: FloatArray
) -> tuple[FloatArray, _Fit]:
    """Line search: the longest of a step and its halves that does not raise the residual; none at rounding."""
    theta, fit = at
    for k in range(HALVINGS):
        tried = np.clip(theta + step / 2**k, parameters.lower, parameters.upper)
        try:
            found = _closed(robot, reads, _alpha(parameters, tried))
        except SolverError:
            continue
        if found.square <= fit.square:
            return tried, found
    return theta, fit


def _influence(
    robot: Robot, reads: Sequence[_Read], fit: _Fit, slopes: Sequence[FloatArray], moves: FloatArray
) -> Influence:
    """Of the residuals on what moves by `moves` (entries, k) with the gradient."""
    together = np.vstack([r.q for r in reads])
    found = Influence(together.min(axis=0), together.max(axis=0))
    for r, left, J in zip(reads, fit.left, slopes, strict=True):
        parts = (J.reshape(*left.shape, -1) * left[..., None]) @ moves
        by_joint = np.zeros((robot.n, len(left), moves.shape[1]))
        by_joint[r.seen] = parts.swapaxes(0, 1)
        found.add(r.q, list(by_joint))
    return found
