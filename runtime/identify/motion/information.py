"""Information about parameters from a trajectory with uncertain torques: a backward pass over its states with square-root
information (QR); normal equations lose all digits if torques are known accurately and have little weight.

To first order a step is s' = A s + B v + G θ, v the deviation of the torque from its reading. Positions and rates are
seen at every state, v is small (or zero where torques are known). From the last state backwards, what is known of (θ, s')
is put in terms of (θ, s, v), and v is forgotten; at the first state that is forgotten too, and what is left is the
information about θ. (The other way around A would have to be inverted, which stiff friction does not allow.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.motion.trajectory import POSITION, RATE, Motion, Parameters, Path
from diffpbd.runtime.model.robot import Robot

__all__ = ["information_along", "information_of"]


def information_of(
    robot: Robot,
    parameters: Parameters,
    theta: FloatArray,
    paths: Sequence[Path],
    motions: Sequence[Motion],
    torque: FloatArray,
) -> FloatArray:
    """That of all recordings (m, m), each with its path; see `information_along`."""
    found = np.zeros((len(theta), len(theta)))
    for path, motion in zip(paths, motions, strict=True):
        found += information_along(robot, parameters, theta, path, motion.h, torque)
    return found


def information_along(
    robot: Robot,
    parameters: Parameters,
    theta: FloatArray,
    path: Path,
    h: float,
    torque: FloatArray,
) -> FloatArray:
    """Information (m, m) about the parameters from one recording with the states and true torques of `path` (steps + 1, n;
    steps + 1, n; steps, n); `torque` (n,) is the deviation of readings, zero where they are exact, infinite where there are
    none."""
    P, PD, U = path
    n, m = robot.n, len(theta)
    A, B, G = parameters.sensitivities(robot, theta, P[:-1], PD[:-1], U, h)
    seen = np.hstack([np.zeros((2 * n, m)), np.diag(np.repeat([1.0 / POSITION, 1.0 / RATE], n))])
    unknown = np.flatnonzero(torque > 0.0)
    B, doubt, v = B[:, :, unknown], np.diag(1.0 / torque[unknown]), len(unknown)
    root = seen
    for a, b, g in zip(A[::-1], B[::-1], G[::-1], strict=True):
        by_state = root[:, m:]
        ahead = np.hstack([by_state @ b, root[:, :m] + by_state @ g, by_state @ a])
        rows = [np.hstack([doubt, np.zeros((v, m + 2 * n))]), ahead, np.hstack([np.zeros((2 * n, v)), seen])]
        root = _forget(np.vstack(rows), v)
    root = _forget(np.hstack([root[:, m:], root[:, :m]]), 2 * n)
    return np.asarray(root.T @ root, dtype=np.float64)


def _forget(root: FloatArray, first: int) -> FloatArray:
    """Root of the information (rows, unknowns) of all but the first unknowns, triangular."""
    return np.asarray(np.linalg.qr(root, mode="r"), dtype=np.float64)[first:, first:]
