"""Motions and torques of robots with closed loops or joints without a motor: kinematics and a projection of torques.

With closed loops the tree's torques τ, the motors' u and the loop forces f satisfy τ = S u + Aᵀ f. The unknown loop forces are
eliminated with N, an orthonormal basis of the null space of A: Nᵀ S u = Nᵀ τ. Solved for u this is W τ with W = (Nᵀ S)⁺
Nᵀ, in the units of every motor and independent of the choice of N, so it is smooth along a motion. As many motors as
freedoms: u = W τ. More motors: only (Nᵀ S)⁺ Nᵀ S u is observable. Fewer: joints without a motor, whose torque is known to
be zero, replace the missing ones.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.names import listing
from diffpbd.runtime.model.robot import Robot

__all__ = ["Closed", "driven", "motor_torque", "of"]

DEPENDENT = 1e-7
"""[1] Singular values of rows, relative to the largest, below which they are rounding: redundant rows."""
SINGULAR = 1e-3
"""[1] Least singular value of N at the motors below which they do not drive the loops: errors of torques would be amplified a
thousand times."""


def of(robot: Robot) -> Closed | None:
    """The loops and passive joints of a robot; None if it has neither."""
    facts = robot.manifest.robot
    return Closed(robot) if facts.loops or facts.passive else None


def driven(robot: Robot) -> npt.NDArray[np.bool_]:
    """Whether each joint (n,) has a motor."""
    return np.array([joint not in robot.manifest.robot.passive for joint in robot.joints])


def motor_torque(robot: Robot, q: FloatArray, dq: FloatArray, ddq: FloatArray, alpha: Any = None) -> FloatArray:
    """Torques that the joint sensors read (samples, n) [N·m or N]; zero for a joint without a motor."""
    closed = of(robot)
    if closed is None:
        return np.asarray(robot.functions["inverse_dynamics"](q, dq, ddq, alpha), dtype=np.float64)
    if closed.looped and "inverse_dynamics" in robot.functions:
        return np.asarray(robot.functions["inverse_dynamics"](q, dq, ddq, alpha).u, dtype=np.float64)
    terms, phi = robot.functions["torque_terms"](q, dq, ddq, alpha), robot.functions["torque_coefficients"](alpha)
    return closed.told(q, terms @ phi, alpha)


def inverse(A: FloatArray, rank: int) -> FloatArray:
    """Pseudo-inverses (samples, n, rows) of rows of a known rank: rounding does not raise it."""
    left, values, right = np.linalg.svd(A, full_matrices=False)
    values, rank = values[..., :rank], min(rank, values.shape[-1])
    over = np.where(values > DEPENDENT * values[..., :1], 1.0 / np.maximum(values, np.finfo(float).tiny), 0.0)
    return np.asarray((right[..., :rank, :].swapaxes(-1, -2) * over[..., None, :]) @ left[..., :rank].swapaxes(-1, -2))


class Closed:
    """Motions and torques of a robot with closed loops or missing motors; arrays have one row per sample."""

    def __init__(self, robot: Robot) -> None:
        """For a robot that has either."""
        facts = robot.manifest.robot
        self.robot, self.looped, self.mobility = robot, bool(facts.loops), facts.mobility
        self.motors = driven(robot)

    def free(self, q: FloatArray, alpha: Any = None) -> FloatArray:
        """N (samples, n, mobility) at closed poses."""
        if not self.looped:
            return np.broadcast_to(np.eye(self.robot.n), (len(q), self.robot.n, self.robot.n))
        rows = self.robot.functions["jac_loop_residual"](q, np.zeros_like(q), alpha).drows_dp
        right = np.linalg.svd(rows)[2]
        return np.asarray(right[:, self.robot.n - self.mobility :].swapaxes(-1, -2), dtype=np.float64)

    def completed(
        self, q: FloatArray, dq: FloatArray, ddq: FloatArray, measured: Any = None, alpha: Any = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, rates and accelerations (samples, n) on the closed loops: nearest to the given ones, or with `measured`
        (n,) those of the measured joints, from which the others follow."""
        if not self.looped:
            return q, dq, ddq
        seen = np.ones(self.robot.n, dtype=np.bool_) if measured is None else np.asarray(measured, dtype=np.bool_)
        fixed = np.where(seen.all(), 0.0, seen)
        q = np.asarray(self.robot.functions["close_loops"](q, fixed, alpha), dtype=np.float64)
        N = self.free(q, alpha)
        steer = np.linalg.pinv(N[:, seen])

        def along(x: FloatArray) -> FloatArray:
            return np.asarray((N @ (steer @ x[:, seen, None]))[..., 0], dtype=np.float64)

        dq = along(dq)
        J = self.robot.functions["jac_loop_residual"](q, dq, alpha)
        apart = -(inverse(J.drows_dp, self.robot.n - self.mobility) @ (J.drow_rates_dp @ dq[..., None]))[..., 0]
        return q, dq, apart + along(ddq - apart)

    def followed(self, q: FloatArray, measured: Any, alpha: Any = None) -> FloatArray:
        """Positions (samples, n); unmeasured ones are solved from the loops sample by sample, starting from their values at the
        first: a loop may close in several ways, and a motion stays in one of them."""
        seen, close = np.asarray(measured, dtype=np.bool_), self.robot.functions["close_loops"]
        found: FloatArray = q.copy()
        fixed, k = seen.astype(np.float64), 0
        try:
            for k in range(len(q)):
                found[k, ~seen] = found[max(k - 1, 0), ~seen]
                found[k] = close(found[k], fixed, alpha)
        except SolverError as error:
            names = listing([j for j, own in zip(self.robot.joints, seen, strict=True) if not own])
            raise InputError(
                f"Sample {k + 1}: no angles of {names} close the loops with those that were measured ({error}) Look at zeros "
                "and directions of the encoders, and at the description's lengths."
            ) from None
        return found

    def rows(self, N: FloatArray) -> npt.NDArray[np.bool_]:
        """The joints (n,) whose torques are identifiable: all with a motor, and those passive ones that replace missing
        motors."""
        chosen: npt.NDArray[np.bool_] = self.motors
        lack = self.mobility - int(self.motors.sum())
        if lack <= 0:
            return chosen
        best = -1.0
        for more in combinations(np.flatnonzero(~self.motors).tolist(), lack):
            tried = self.motors.copy()
            tried[list(more)] = True
            least = float(np.linalg.svd(N[:, tried], compute_uv=False)[:, -1].min())
            if least > best:
                best, chosen = least, tried
        return chosen

    def projection(self, q: FloatArray, alpha: Any = None) -> FloatArray:
        """W (samples, n, n): the tree's torques to those of the motors; zero for a joint that is not among `rows`."""
        return self._projected(self.free(q, alpha))[0]

    def told(self, q: FloatArray, torque: FloatArray, alpha: Any = None) -> FloatArray:
        """Torques of the tree (samples, n) converted to those of the motors."""
        return np.asarray((self.projection(q, alpha) @ torque[..., None])[..., 0], dtype=np.float64)

    def seen(self, q: FloatArray, tau: FloatArray, alpha: Any = None) -> FloatArray:
        """The observable part of measured torques (samples, n): all, unless there are more motors than freedoms. Without loops
        every row is its own balance, and a torque given for a joint without a motor, such as a push on a base, counts."""
        if not self.looped:
            return tau
        _, P = self._projected(self.free(q, alpha))
        return np.asarray((P @ tau[..., None])[..., 0], dtype=np.float64)

    def _projected(self, N: FloatArray) -> tuple[FloatArray, FloatArray]:
        chosen = self.rows(N)
        least = np.linalg.svd(N[:, chosen], compute_uv=False)[:, -1]
        if (k := int(least.argmin())) >= 0 and least[k] < SINGULAR:
            raise InputError(
                f"At sample {k + 1} of {len(N)} the motors do not drive the loops (a singular pose: {least[k]:.2g} of full "
                "effect); torques say nothing there. Leave such poses out of the motion, or cut the recording there."
            )
        inverse = np.linalg.pinv(N[:, chosen].swapaxes(-1, -2))
        W, P = np.zeros((len(N), self.robot.n, self.robot.n)), np.zeros((len(N), self.robot.n, self.robot.n))
        W[:, chosen] = inverse @ N.swapaxes(-1, -2)
        P[np.ix_(np.arange(len(N)), chosen.nonzero()[0], self.motors.nonzero()[0])] = W[:, chosen][:, :, self.motors]
        return W, P
