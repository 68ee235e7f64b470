"""Pinocchio as an outside authority: the same file read by another program, joints mapped by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio

from diffpbd.codegen.description.robot.robot import Robot

Array = npt.NDArray[np.float64]


class Peer:
    """Pinocchio's model of a URDF file in our joint order; joints that the robot leaves out stay at zero."""

    def __init__(self, urdf: Path, robot: Robot) -> None:
        self.model = pinocchio.buildModelFromUrdf(str(urdf))
        self.data = self.model.createData()
        self.robot = robot
        self.joints = [self.model.joints[self.model.getJointId(j.name)] for j in robot.joints]
        self.columns = [j.idx_v for j in self.joints]
        self.frame = self.model.getFrameId(robot.tips[0].name)

    def _q(self, p: Array) -> Array:
        q = pinocchio.neutral(self.model)
        for joint, at, value in zip(self.robot.joints, self.joints, p, strict=True):
            turns = joint.type.endless
            q[at.idx_q : at.idx_q + at.nq] = [np.cos(value), np.sin(value)] if turns else [value]
        return q

    def _v(self, value: Array) -> Array:
        v = np.zeros(self.model.nv)
        v[self.columns] = value
        return v

    def inverse_dynamics(self, p: Array, pd: Array, pdd: Array) -> Array:
        return np.array(pinocchio.rnea(self.model, self.data, self._q(p), self._v(pd), self._v(pdd))[self.columns])

    def gravity(self, p: Array) -> Array:
        return np.array(pinocchio.computeGeneralizedGravity(self.model, self.data, self._q(p))[self.columns])

    def coriolis(self, p: Array, pd: Array) -> Array:
        return self.inverse_dynamics(p, pd, np.zeros(len(p))) - self.gravity(p)

    def mass_matrix(self, p: Array) -> Array:
        M = pinocchio.crba(self.model, self.data, self._q(p))
        M = np.triu(M) + np.triu(M, 1).T
        return np.array(M[np.ix_(self.columns, self.columns)])

    def forward_dynamics(self, p: Array, pd: Array, u: Array) -> Array:
        if self.model.nv == len(p):
            return np.array(pinocchio.aba(self.model, self.data, self._q(p), self._v(pd), self._v(u))[self.columns])
        bias = self.inverse_dynamics(p, pd, np.zeros(len(p)))
        return np.linalg.solve(self.mass_matrix(p), u - bias)

    def tip_pose(self, p: Array) -> tuple[Array, Array]:
        pinocchio.framesForwardKinematics(self.model, self.data, self._q(p))
        placement = self.data.oMf[self.frame]
        return placement.translation.copy(), placement.rotation.copy()

    def tip_jacobian(self, p: Array) -> Array:
        J = pinocchio.computeFrameJacobian(
            self.model, self.data, self._q(p), self.frame, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        return np.array(J[:, self.columns])

    def energy(self, p: Array, pd: Array) -> tuple[float, float]:
        q = self._q(p)
        return (
            pinocchio.computeKineticEnergy(self.model, self.data, q, self._v(pd)),
            pinocchio.computePotentialEnergy(self.model, self.data, q),
        )

    def swing(self, p: Array, pd: Array, durations: tuple[float, ...], h: float = 2.5e-4) -> list[Array]:
        """Joint positions after these times [s] of free motion: exact rigid-body dynamics under RK4.

        At 10 ms RK4 errs by 4e-4 rad on Baxter's arm after 1 s, so at 0.25 ms by about 2e-10.
        """
        still = np.zeros(len(p))
        found = []
        for k in range(1, round(max(durations) / h) + 1):
            p, pd = runge_kutta(lambda a, b: self.forward_dynamics(a, b, still), p, pd, h)
            if any(k == round(t / h) for t in durations):
                found.append(p)
        return found


def runge_kutta(acceleration: Callable[[Any, Any], Any], p: Any, v: Any, h: float) -> tuple[Any, Any]:
    """One classical fourth-order step of p̈ = acceleration(p, ṗ)."""
    a1 = acceleration(p, v)
    a2 = acceleration(p + 0.5 * h * v, v + 0.5 * h * a1)
    v2 = v + 0.5 * h * a1
    v3 = v + 0.5 * h * a2
    a3 = acceleration(p + 0.5 * h * v2, v3)
    v4 = v + h * a3
    a4 = acceleration(p + h * v3, v4)
    return p + h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4), v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
