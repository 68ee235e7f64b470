"""What a trajectory with uncertain torques says about parameters: a backward pass over its states, in information form.

To first order a step is s' = A s + B v + G θ, v the deviation of the torque from its reading. Positions and rates are seen at
every state, v is small (or zero where torques are known). From the last state backwards, what is known of (θ, s') is put in terms
of (θ, s, v), and v is forgotten; at the first state that is forgotten too, and what is left is the information about θ. (The
other way around A would have to be inverted, which stiff friction does not allow.)
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.robot import Robot
from diffpbd.runtime.solve.trajectory import POSITION, RATE, Parameters

__all__ = ["information_along"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def information_along(
    robot: Robot,
    parameters: Parameters,
    theta: FloatArray,
    path: tuple[FloatArray, FloatArray, FloatArray],
    h: float,
    torque: FloatArray | None,
) -> FloatArray:
    """Information (m, m) about the parameters from one recording with the states and true torques of `path` (steps + 1, n;
    steps + 1, n; steps, n); `torque` (n,) is the deviation of readings, None where they are exact."""
    P, PD, U = path
    n, m = robot.n, len(theta)
    J = robot.jac_joint_step(P[:-1], PD[:-1], U, h, parameters.alpha(theta))
    J_alpha = robot.jac_alpha_joint_step(P[:-1], PD[:-1], U, h, parameters.alpha(theta))
    A = np.concatenate(
        [np.concatenate([J.dp_next_dp, J.dp_next_dpd], axis=2), np.concatenate([J.dpd_next_dp, J.dpd_next_dpd], axis=2)], axis=1
    )
    B = np.concatenate([J.dp_next_du, J.dpd_next_du], axis=1)
    G = np.concatenate([J_alpha.dp_next_dalpha, J_alpha.dpd_next_dalpha], axis=1)[:, :, parameters.positions]
    for k in np.flatnonzero(parameters.offsets >= 0):
        G[:, :, k] -= B[:, :, parameters.offsets[k]]
    seen = np.zeros((m + 2 * n, m + 2 * n))
    seen[m:, m:] = np.diag(np.repeat([POSITION**-2, RATE**-2], n))
    uncertain = 0 if torque is None else n
    total = seen.copy()
    for a, b, g in zip(A[::-1], B[::-1], G[::-1], strict=True):
        ahead = np.zeros((m + 2 * n, m + 2 * n + uncertain))
        ahead[:m, :m] = np.eye(m)
        ahead[m:] = np.hstack([g, a, b[:, :uncertain]])
        total = ahead.T @ total @ ahead
        if torque is not None:
            total[-n:, -n:] += np.diag(torque**-2)
            total = _forget(total, n)
        total = total + seen
    return _forget(total, 2 * n)


def _forget(information: FloatArray, last: int) -> FloatArray:
    """Information of all but the last unknowns."""
    own, cross, rest = information[:-last, :-last], information[-last:, :-last], information[-last:, -last:]
    return np.asarray(own - cross.T @ np.linalg.solve(rest, cross), dtype=np.float64)
