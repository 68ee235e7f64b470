"""A robot with a floating base by pinocchio's free-flyer: its local velocities turned into world axes and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

Array = Any


def rotation(q: Array) -> Array:
    w, x, y, z = q
    return pin.Quaternion(w, x, y, z).matrix()


def product(p: Array, q: Array) -> Array:
    a, b, c, d = p[0], p[1:], q[0], q[1:]
    return np.concatenate([[a * c - b @ d], a * d + c * b + np.cross(b, d)])


def moved(p: Array, d: Array) -> Array:
    """x + d, (1, φ/2) ⊗ q normalised, joints: a position moved along its tangent."""
    q = p[3:7] + product(np.concatenate([[0.0], d[3:6] / 2]), p[3:7])
    return np.concatenate([p[:3] + d[:3], q / np.linalg.norm(q), p[7:] + d[6:]])


def difference(one: Array, other: Array) -> Array:
    """The tangent from `other` to `one`."""
    q = product(one[3:7], other[3:7] * [1, -1, -1, -1])
    return np.concatenate([one[:3] - other[:3], 2 * q[1:] * (1.0 if q[0] > 0 else -1.0), one[7:] - other[7:]])


def position(rng: np.random.Generator, joints: int) -> Array:
    q = rng.standard_normal(4)
    return np.concatenate([rng.uniform(-2, 2, 3), q / np.linalg.norm(q), rng.uniform(-1.5, 1.5, joints)])


class FreeFlyer:
    """Apart from the product; joints by name, those that are not named stay at zero."""

    def __init__(self, urdf: Path, joints: tuple[str, ...]) -> None:
        whole = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
        others = [k for k, name in enumerate(whole.names) if k > 1 and name not in joints]
        self.model = pin.buildReducedModel(whole, others, pin.neutral(whole))
        self.data = self.model.createData()
        places = [self.model.joints[self.model.getJointId(name)] for name in joints]
        self.places, self.v = places, [*range(6), *(place.idx_v for place in places)]

    def q(self, p: Array) -> Array:
        q = pin.neutral(self.model)
        q[:7] = p[[0, 1, 2, 4, 5, 6, 3]]
        for place, value in zip(self.places, p[7:], strict=True):
            q[place.idx_q : place.idx_q + place.nq] = [np.cos(value), np.sin(value)] if place.nq == 2 else [value]
        return q

    def local(self, p: Array, x: Array) -> Array:
        """World, world, joints to pinocchio's axes and order."""
        R, y = rotation(p[3:7]), np.zeros(self.model.nv)
        y[self.v] = np.concatenate([R.T @ x[:3], R.T @ x[3:6], x[6:]])
        return y

    def world(self, p: Array, y: Array) -> Array:
        R, x = rotation(p[3:7]), y[self.v]
        return np.concatenate([R @ x[:3], R @ x[3:6], x[6:]])

    def torque(self, p: Array, pd: Array, pdd: Array) -> Array:
        a = self.local(p, pdd)
        v = self.local(p, pd)
        a[:3] -= np.cross(v[3:6], v[:3])
        return self.world(p, pin.rnea(self.model, self.data, self.q(p), v, a))

    def acceleration(self, p: Array, pd: Array, u: Array) -> Array:
        v = self.local(p, pd)
        a = pin.aba(self.model, self.data, self.q(p), v, self.local(p, u))
        a[:3] += np.cross(v[3:6], v[:3])
        return self.world(p, a)

    def closed_acceleration(
        self, p: Array, pd: Array, u: Array, ends: tuple[tuple[str, Array], tuple[str, Array]], axis: Array
    ) -> Array:
        """The same with a hinge, `axis` in the first link, between points of two links whose axes agree when all is at zero:
        every row of it, pseudo-inverted."""
        q, v = self.q(p), self.local(p, pd)
        free = pin.aba(self.model, self.data, q, v, self.local(p, u))
        M = pin.crba(self.model, self.data, q)
        M = np.triu(M) + np.triu(M, 1).T
        pin.forwardKinematics(self.model, self.data, q, v, np.zeros(self.model.nv))
        pin.computeJointJacobians(self.model, self.data, q)
        seen = []
        for link, place in ends:
            body = self.model.frames[self.model.getFrameId(link)]
            frame = pin.Frame(
                "cut", body.parentJoint, body.placement * pin.SE3(np.eye(3), place), pin.FrameType.OP_FRAME
            )
            arguments = self.model, self.data, frame.parentJoint, frame.placement, pin.LOCAL_WORLD_ALIGNED
            J = pin.getFrameJacobian(*arguments)
            drift = pin.getFrameClassicalAcceleration(*arguments)
            R = self.data.oMi[frame.parentJoint].rotation @ frame.placement.rotation
            seen.append((J, drift, J @ v, R))
        (J0, a0, v0, R0), (J1, a1, v1, _) = seen
        across = np.linalg.svd(np.array(axis)[None])[2][1:] @ R0.T
        A = np.vstack([(J1 - J0)[:3], across @ (J1 - J0)[3:]])
        moving = np.cross(v0[3:], across) @ (v1 - v0)[3:]
        drift = np.concatenate([(a1 - a0).linear, across @ (a1 - a0).angular + moving])
        inverse = np.linalg.pinv(A @ np.linalg.solve(M, A.T), rcond=1e-9)
        a = free - np.linalg.solve(M, A.T @ (inverse @ (A @ free + drift)))
        a[:3] += np.cross(v[3:6], v[:3])
        return self.world(p, a)

    def mass_matrix(self, p: Array) -> Array:
        M = pin.crba(self.model, self.data, self.q(p))
        M = np.triu(M) + np.triu(M, 1).T
        T = np.array([self.local(p, e) for e in np.eye(len(self.v))]).T
        return T.T @ M @ T

    def tip(self, p: Array, link: str) -> tuple[Any, Array]:
        """Pose of a link, and its Jacobian in world axes by the rates."""
        frame, q = self.model.getFrameId(link), self.q(p)
        pin.framesForwardKinematics(self.model, self.data, q)
        J = pin.computeFrameJacobian(self.model, self.data, q, frame, pin.LOCAL_WORLD_ALIGNED)
        return self.data.oMf[frame], J @ np.array([self.local(p, e) for e in np.eye(len(self.v))]).T

    def energies(self, p: Array, pd: Array) -> tuple[float, float]:
        q, v = self.q(p), self.local(p, pd)
        return pin.computeKineticEnergy(self.model, self.data, q, v), pin.computePotentialEnergy(
            self.model, self.data, q
        )

    def after(self, p: Array, pd: Array, u: Array, time: float) -> tuple[Array, Array]:
        """The state a time later, u held in world axes."""
        return swung(self.acceleration, p, pd, u, time)


def swung(
    acceleration: Callable[[Array, Array, Array], Array], p: Array, pd: Array, u: Array, time: float
) -> tuple[Array, Array]:
    """The state a time later under constant u, by DOP853."""
    n = len(pd)

    def slope(_: float, y: Array) -> Array:
        here = np.concatenate([y[:3], y[3:7] / np.linalg.norm(y[3:7]), y[7 : n + 1]])
        rates = y[n + 1 :]
        turning = product(np.concatenate([[0.0], rates[3:6] / 2]), y[3:7])
        return np.concatenate([rates[:3], turning, rates[6:], acceleration(here, rates, u)])

    y = solve_ivp(slope, (0.0, time), np.concatenate([p, pd]), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return np.concatenate([y[:3], y[3:7] / np.linalg.norm(y[3:7]), y[7 : n + 1]]), y[n + 1 :]
