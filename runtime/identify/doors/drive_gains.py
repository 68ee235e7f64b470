"""Torque over motor current of every drive, from runs with and without a known payload (Gautier, Briot 2014).

Currents determine torques only up to a factor: gains, masses and friction scale together. The known torque of a payload of
known mass and centre fixes the factor. With the gain kⱼ of joint j its current is

    iⱼ = gⱼ (Yⱼ θ + Fⱼ φⱼ + wⱼ),   gⱼ = 1/kⱼ,

Y the regressor of the links' inertials, F the columns of Coulomb and viscous friction and an offset, w the payload's torque
(zero in the runs without). Noise is in the currents; the columns come from filtered encoders. Minimised is the sum over
samples of the squared errors of the currents, each joint weighted by its own: total least squares in which these columns are
exact, so that noise does not pull the gains down. θ is common to all joints and runs, in the directions that the motion
determines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["DriveGain", "drive_gains"]

MOST = 1200
"""[1] Samples of a run that are used: motions are slower than that many in a recording."""
SLIP = 0.02  # rad/s or m/s over which Coulomb friction turns its sign
RANK = 1e-6  # of the largest singular value
CONSTANT = 1e-9
"""[1] Range of a current, as part of its size, below which it is constant but for the filter's rounding."""
FRICTION = 3  # columns a joint: Coulomb, viscous, offset
LEAST_SHARE = 0.02
"""[1] Least part of a payload's torque that is independent of the arm's own columns, to determine a gain."""
WINDOW = 1.0
"""[s] Window of correlated errors of a current: deviations that ignore correlation are too small."""


@dataclass(frozen=True)
class DriveGain:
    """Torque over current of a joint [N·m/A or N/A] with its standard deviation; None if the payload has no effect on it."""

    joint: str
    value: float | None
    std: float | None


@dataclass(frozen=True)
class _Joint:
    """Rows of one joint over all runs: current i, regressor Y in base directions, friction F, payload torque w."""

    i: FloatArray
    Y: FloatArray
    F: FloatArray
    w: FloatArray


def drive_gains(
    robot: Robot, free: Sequence[Samples], loaded: Sequence[Samples], payload: Mapping[str, float]
) -> tuple[DriveGain, ...]:
    """A gain for every joint from runs without (`free`) and with (`loaded`) a payload; `tau` of the samples is the current.

    `payload` are entries of alpha, payload.mass [kg] and payload.com.x, … [m] at least.
    """
    if not payload.get("payload.mass", 0.0) > 0.0:
        raise InputError(f"{arg.payload}: expected a mass above 0 kg, the one that is known.")
    if not free or not loaded:
        raise InputError("Drive gains need runs without and with the payload; expected at least one of each.")
    if robot.manifest.robot.loops or robot.manifest.robot.passive:
        raise InputError(
            f"Drive gains: {robot.name} has closed loops or joints without a motor; they are for open chains."
        )
    _check_currents(robot, free, loaded)
    blocks = [
        _columns(robot, samples, payload, run == 1) for run, group in enumerate((free, loaded)) for samples in group
    ]
    regressor = np.concatenate([block[1].reshape(-1, block[1].shape[-1]) for block in blocks])
    _, sizes, directions = np.linalg.svd(regressor / max(1, len(regressor)) ** 0.5, full_matrices=False)
    base = directions[sizes > RANK * sizes[0]].T
    joints = [
        _Joint(*(np.concatenate([block[part][:, j] for block in blocks]) for part in range(4))) for j in range(robot.n)
    ]
    joints = [_Joint(part.i, part.Y @ base, part.F, part.w) for part in joints]
    felt = [j for j, part in enumerate(joints) if _felt(part)]
    solved = zip(felt, *_solve([joints[j] for j in felt], free[0].rate), strict=True)
    gains = {robot.joints[j]: (value, std) for j, value, std in solved}
    return tuple(DriveGain(joint, *gains.get(joint, (None, None))) for joint in robot.joints)


def _check_currents(robot: Robot, free: Sequence[Samples], loaded: Sequence[Samples]) -> None:
    """InputError for the same run with and without payload, and for constant currents."""
    for own in loaded:
        for other in free:
            if own.tau.shape == other.tau.shape and np.array_equal(own.tau, other.tau):
                raise InputError(
                    f"{own.name} and {other.name} have the same currents to the bit, one with the payload and one without: "
                    "expected different recordings."
                )
    for samples in (*free, *loaded):
        still = np.ptp(samples.tau, axis=0) <= CONSTANT * np.abs(samples.tau).max(axis=0)
        if still.any():
            joint = robot.joints[int(np.argmax(still))]
            raise InputError(f"{samples.name}: the current of {joint} never changes, so it is none; leave the run out.")


def _columns(
    robot: Robot, samples: Samples, payload: Mapping[str, float], carries: bool
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    rows = slice(None, None, max(1, len(samples) // MOST))
    q, dq, ddq, i = (samples.trimmed(values)[rows] for values in (samples.q, samples.dq, samples.ddq, samples.tau))
    plain = robot.alpha.vector({"payload.mass": 0.0})
    Y = np.asarray(robot.functions["regressor"](q, dq, ddq, plain))
    Y = Y.reshape(len(q), robot.n, -1)
    w = np.zeros_like(q)
    if carries:
        with_payload, without = (
            np.reshape(robot.functions["inverse_dynamics"](q, dq, ddq, alpha), q.shape)
            for alpha in (robot.alpha.vector(dict(payload)), plain)
        )
        w = with_payload - without
    F = np.stack([np.tanh(dq / SLIP), dq, np.ones_like(dq)], axis=-1)
    return i, Y, F, w


def _felt(part: _Joint) -> bool:
    """Whether the payload's torque is independent of the other columns."""
    others = np.hstack([part.Y, part.F])
    left = part.w - others @ np.linalg.lstsq(others, part.w, rcond=None)[0]
    return bool(np.linalg.norm(left) > LEAST_SHARE * np.linalg.norm(part.w) > 0.0 and np.ptp(part.i) > 0.0)


def _solve(joints: Sequence[_Joint], rate: float) -> tuple[list[float], list[float]]:
    """Gains k and deviations, by Gauss-Newton on g = 1/k, θ, φ from each joint's own linear solution."""
    if not joints:
        return [], []
    n, m = len(joints), joints[0].Y.shape[1]
    own = [np.linalg.lstsq(np.hstack([j.Y, j.F, j.w[:, None]]), j.i, rcond=None)[0] for j in joints]
    scales = [
        float(np.std(j.i - np.hstack([j.Y, j.F, j.w[:, None]]) @ x)) or 1.0 for j, x in zip(joints, own, strict=True)
    ]
    g = np.array([x[-1] for x in own])
    g = np.where(g != 0.0, g, 1e-3)
    weight = np.array([abs(x[-1]) / s for x, s in zip(own, scales, strict=True)])
    theta = np.linalg.lstsq(
        np.vstack([w * j.Y for j, w in zip(joints, weight, strict=True)]),
        np.concatenate([w * (j.Y @ x[:m]) / gain for j, x, w, gain in zip(joints, own, weight, g, strict=True)]),
        rcond=None,
    )[0]
    phi = np.concatenate([x[m : m + FRICTION] / gain for x, gain in zip(own, g, strict=True)])

    def parts(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return x[:n], x[n : n + m], x[n + m :].reshape(n, FRICTION)

    def torques(x: FloatArray) -> list[FloatArray]:
        _, theta, phi = parts(x)
        return [j.Y @ theta + j.F @ f + j.w for j, f in zip(joints, phi, strict=True)]

    def errors(x: FloatArray) -> FloatArray:
        return np.concatenate(
            [(x[k] * u - j.i) / scales[k] for k, (j, u) in enumerate(zip(joints, torques(x), strict=True))]
        )

    def slopes(x: FloatArray) -> FloatArray:
        rows = []
        for k, (j, u) in enumerate(zip(joints, torques(x), strict=True)):
            block = np.zeros((len(u), len(x)))
            block[:, k] = u
            block[:, n : n + m] = x[k] * j.Y
            block[:, n + m + FRICTION * k : n + m + FRICTION * (k + 1)] = x[k] * j.F
            rows.append(block / scales[k])
        return np.vstack(rows)

    found = least_squares(errors, np.concatenate([g, theta, phi]), jac=slopes, x_scale="jac", method="trf")
    if not found.success:
        raise InputError(f"The drive gains did not settle: {found.message}")
    deviations = _deviations(np.asarray(found.jac), found.fun, [len(j.i) for j in joints], rate)[:n]
    values = found.x[:n]
    return (1.0 / values).tolist(), (deviations / values**2).tolist()


def _deviations(jacobian: FloatArray, errors: FloatArray, lengths: Sequence[int], rate: float) -> FloatArray:
    """Of all unknowns, with errors within a window of time taken as one (a sandwich over blocks)."""
    inverse = np.linalg.pinv(jacobian.T @ jacobian)
    influence = jacobian * errors[:, None]
    block = max(1, min(lengths) // 20, round(WINDOW * rate * min(lengths) / max(lengths) / 10))
    meat = np.zeros_like(inverse)
    start = 0
    for length in lengths:
        for a in range(start, start + length, block):
            s = influence[a : min(a + block, start + length)].sum(axis=0)
            meat += np.outer(s, s)
        start += length
    return np.asarray(np.sqrt(np.maximum(np.diag(inverse @ meat @ inverse), 0.0)))
