"""The arm as bare numbers, and its forward dynamics as the smallest CasADi graphs we know how to write: the peer's best case.

Link frames, joint axes along z, every constant folded. Two textbook ways: the articulated-body algorithm (Featherstone),
and the composite-rigid-body mass matrix factored as L D L^T. Moments come before forces, angular before linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin

GRAVITY = 9.81
"""[m/s^2], along -z of the root link."""
SNAP = 1e-11
"""Rotation entries closer than this to 0 or 1 are rounding of a URDF's 1.57079632679; snapping them makes the code sparser."""


@dataclass(frozen=True)
class Body:
    """One moving link: joint placement in its parent, mass [kg], COM [m], inertia about the link origin [kg m^2]."""

    rotation: np.ndarray
    translation: np.ndarray
    mass: float
    com: np.ndarray
    inertia: np.ndarray


def bodies(urdf: Path) -> tuple[Body, ...]:
    """The serial chain of the file `urdf`, read by pinocchio; every joint must turn about its own z axis."""
    model = pin.buildModelFromUrdf(str(urdf))
    result = []
    for i in range(1, model.njoints):
        if model.joints[i].shortname() not in ("JointModelRZ", "JointModelRUBZ") or model.parents[i] != i - 1:
            raise ValueError(f"{urdf}: joint {model.names[i]} is not one of a serial chain of hinges about z.")
        rotation = np.array(model.jointPlacements[i].rotation)
        for value in (-1.0, 0.0, 1.0):
            rotation[np.abs(rotation - value) < SNAP] = value
        inertia = model.inertias[i]
        about_origin = inertia.inertia - inertia.mass * np.linalg.matrix_power(pin.skew(inertia.lever), 2)
        result.append(
            Body(
                rotation,
                np.array(model.jointPlacements[i].translation),
                inertia.mass,
                np.array(inertia.lever),
                about_origin,
            )
        )
    return tuple(result)


def constant(value: np.ndarray | list[float]) -> ca.SX:
    return ca.SX(ca.DM(value))


def symmetric(a: ca.SX) -> ca.SX:
    """The lower triangle of `a`, mirrored, so that nothing is computed twice."""
    return ca.tril2symm(ca.tril(a))


def about_z(c: ca.SX, s: ca.SX, v: ca.SX) -> ca.SX:
    """Rz v."""
    return ca.vertcat(c * v[0] - s * v[1], s * v[0] + c * v[1], v[2])


def turned(c: ca.SX, s: ca.SX, a: ca.SX) -> ca.SX:
    """Rz a Rz^T of a symmetric 3 x 3 matrix."""
    common = s * (a[0, 0] - a[1, 1]) + 2 * c * a[0, 1]
    shift, xy = s * common, c * common - a[0, 1]
    z = about_z(c, s, a[:, 2])
    return ca.blockcat([[a[0, 0] - shift, xy, z[0]], [xy, a[1, 1] + shift, z[1]], [z[0], z[1], a[2, 2]]])


def turned_general(c: ca.SX, s: ca.SX, a: ca.SX) -> ca.SX:
    """Rz a Rz^T of any 3 x 3 matrix."""
    left = ca.horzcat(*(about_z(c, s, a[:, k]) for k in range(3)))
    return ca.horzcat(*(about_z(c, s, left[k, :].T) for k in range(3))).T


@dataclass(frozen=True)
class Inertia:
    """A spatial inertia: moment = rotational w + coupling v, force = coupling^T w + linear v."""

    rotational: ca.SX
    coupling: ca.SX
    linear: ca.SX

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.rotational + other.rotational, self.coupling + other.coupling, self.linear + other.linear)

    def to_parent(self, body: Body, c: ca.SX, s: ca.SX) -> Inertia:
        """The same inertia in the parent link's frame."""
        r, t = constant(body.rotation), ca.skew(constant(body.translation))
        rotational = symmetric(r @ turned(c, s, self.rotational) @ r.T)
        linear = symmetric(r @ turned(c, s, self.linear) @ r.T)
        coupling = r @ turned_general(c, s, self.coupling) @ r.T
        shifted = coupling + t @ linear
        return Inertia(symmetric(rotational - coupling @ t + t @ shifted.T), shifted, linear)


def rigid(body: Body) -> Inertia:
    """The link's own inertia."""
    return Inertia(constant(body.inertia), constant(body.mass * pin.skew(body.com)), constant(body.mass * np.eye(3)))


@dataclass(frozen=True)
class Motion:
    """The outward pass: joint cosines and sines, and the wrench each link needs, about its origin in its own frame."""

    cos: list[ca.SX]
    sin: list[ca.SX]
    moment: list[ca.SX]
    force: list[ca.SX]


def down(body: Body, c: ca.SX, s: ca.SX, angular: ca.SX, linear: ca.SX) -> tuple[ca.SX, ca.SX]:
    """A motion of the parent link, in the child's frame."""
    r = constant(body.rotation)
    at_joint = linear + ca.cross(angular, constant(body.translation))
    return about_z(c, -s, r.T @ angular), about_z(c, -s, r.T @ at_joint)


def up(body: Body, c: ca.SX, s: ca.SX, moment: ca.SX, force: ca.SX) -> tuple[ca.SX, ca.SX]:
    """A wrench on the child link, in the parent's frame."""
    r = constant(body.rotation)
    force = r @ about_z(c, s, force)
    return r @ about_z(c, s, moment) + ca.cross(constant(body.translation), force), force


def outward(chain: tuple[Body, ...], p: ca.SX, pd: ca.SX, pdd: ca.SX | None = None) -> Motion:
    """Newton and Euler from base to tip, gravity included; without `pdd` the joints don't accelerate."""
    w, a_w, a_v = ca.SX.zeros(3), ca.SX.zeros(3), constant([0, 0, GRAVITY])
    result = Motion([ca.cos(p[i]) for i in range(len(chain))], [ca.sin(p[i]) for i in range(len(chain))], [], [])
    for i, body in enumerate(chain):
        c, s = result.cos[i], result.sin[i]
        a_w, a_v = down(body, c, s, a_w, a_v + ca.cross(w, ca.cross(w, constant(body.translation))))
        w = about_z(c, -s, constant(body.rotation).T @ w)
        a_w = a_w + ca.vertcat(w[1] * pd[i], -w[0] * pd[i], 0 if pdd is None else pdd[i])
        w = w + ca.vertcat(0, 0, pd[i])
        inertia, com = constant(body.inertia), constant(body.mass * body.com)
        force = body.mass * a_v + ca.cross(a_w, com) + ca.cross(w, ca.cross(w, com))
        moment = inertia @ a_w + ca.cross(w, inertia @ w) + ca.cross(com, a_v)
        result.moment.append(ca.densify(moment))
        result.force.append(ca.densify(force))
    return result


def inverse_dynamics(chain: tuple[Body, ...], p: ca.SX, pd: ca.SX, pdd: ca.SX) -> ca.SX:
    """Joint torques [N m] by the recursive Newton-Euler algorithm."""
    motion = outward(chain, p, pd, pdd)
    moment, force = list(motion.moment), list(motion.force)
    for i in reversed(range(1, len(chain))):
        m, f = up(chain[i], motion.cos[i], motion.sin[i], moment[i], force[i])
        moment[i - 1], force[i - 1] = moment[i - 1] + m, force[i - 1] + f
    return ca.vertcat(*(m[2] for m in moment))


def articulated_body(chain: tuple[Body, ...], p: ca.SX, pd: ca.SX, u: ca.SX) -> ca.SX:
    """Joint accelerations [rad/s^2] by the articulated-body algorithm, the arm hung on a fixed base."""
    n = len(chain)
    motion = outward(chain, p, pd)
    moment, force = list(motion.moment), list(motion.force)
    inertia = [rigid(body) for body in chain]
    gain_w, gain_v, rest = [ca.SX()] * n, [ca.SX()] * n, [ca.SX()] * n
    for i in reversed(range(n)):
        angular, linear = inertia[i].rotational[:, 2], inertia[i].coupling[2, :].T
        inverse = 1 / angular[2]
        rest[i] = (u[i] - moment[i][2]) * inverse
        gain_w[i], gain_v[i] = angular * inverse, linear * inverse
        if i == 0:
            break
        left = Inertia(
            inertia[i].rotational - symmetric(angular @ gain_w[i].T),
            inertia[i].coupling - angular @ gain_v[i].T,
            inertia[i].linear - symmetric(linear @ gain_v[i].T),
        )
        left.rotational[2, :], left.rotational[:, 2], left.coupling[2, :] = 0, 0, 0
        body, c, s = chain[i], motion.cos[i], motion.sin[i]
        inertia[i - 1] = inertia[i - 1] + left.to_parent(body, c, s)
        pushed_moment = ca.vertcat((moment[i] + angular * rest[i])[:2], u[i])
        m, f = up(body, c, s, pushed_moment, force[i] + linear * rest[i])
        moment[i - 1], force[i - 1] = moment[i - 1] + m, force[i - 1] + f
    a_w, a_v, pdd = ca.SX.zeros(3), ca.SX.zeros(3), []
    for i, body in enumerate(chain):
        a_w, a_v = down(body, motion.cos[i], motion.sin[i], a_w, a_v)
        gain = ca.vertcat(gain_w[i][:2], 1)
        pdd.append(rest[i] - ca.dot(gain, a_w) - ca.dot(gain_v[i], a_v))
        a_w = a_w + ca.vertcat(0, 0, pdd[i])
    return ca.vertcat(*pdd)


def composite_body(chain: tuple[Body, ...], p: ca.SX, pd: ca.SX, u: ca.SX) -> ca.SX:
    """Joint accelerations [rad/s^2] by the mass matrix (composite rigid bodies), factored as L D L^T."""
    n = len(chain)
    motion = outward(chain, p, pd)
    moment, force = list(motion.moment), list(motion.force)
    rotational, com = [constant(b.inertia) for b in chain], [constant(b.mass * b.com) for b in chain]
    mass, right = [b.mass for b in chain], ca.SX(n, 1)
    matrix = ca.SX.zeros(n, n)
    for i in reversed(range(n)):
        body, c, s = chain[i], motion.cos[i], motion.sin[i]
        right[i] = u[i] - moment[i][2]
        m, f = rotational[i][:, 2], ca.vertcat(-com[i][1], com[i][0], 0)
        matrix[i, i] = m[2]
        for j in reversed(range(i)):
            m, f = up(chain[j + 1], motion.cos[j + 1], motion.sin[j + 1], m, f)
            matrix[i, j] = matrix[j, i] = m[2]
        if i == 0:
            break
        m, f = up(body, c, s, moment[i], force[i])
        moment[i - 1], force[i - 1] = moment[i - 1] + m, force[i - 1] + f
        r, t = constant(body.rotation), constant(body.translation)
        first = r @ about_z(c, s, com[i])
        shifted, cross = first + mass[i] * t, first @ t.T
        moved = cross + cross.T + mass[i] * (t @ t.T)
        rotational[i - 1] = rotational[i - 1] + symmetric(
            r @ turned(c, s, rotational[i]) @ r.T + ca.trace(moved) * ca.SX.eye(3) - moved
        )
        com[i - 1], mass[i - 1] = com[i - 1] + shifted, mass[i - 1] + mass[i]
    return solve_symmetric(matrix, right)


def solve_symmetric(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """Solution (n x k) of a symmetric positive definite system by L D L^T, unrolled."""
    n = matrix.shape[0]
    lower, scaled, inverse = ca.SX.eye(n), ca.SX.zeros(n, n), []
    for j in range(n):
        inverse.append(1 / (matrix[j, j] - sum(scaled[j, k] * lower[j, k] for k in range(j))))
        for i in range(j + 1, n):
            scaled[i, j] = matrix[i, j] - sum(scaled[i, k] * lower[j, k] for k in range(j))
            lower[i, j] = scaled[i, j] * inverse[j]
    rows = [right[i, :] for i in range(n)]
    for i in range(n):
        rows[i] = rows[i] - sum(lower[i, k] * rows[k] for k in range(i))
    rows = [row * inverse[i] for i, row in enumerate(rows)]
    for i in reversed(range(n)):
        rows[i] = rows[i] - sum(lower[k, i] * rows[k] for k in range(i + 1, n))
    return ca.vertcat(*rows)


def implicit_jacobian(chain: tuple[Body, ...], p: ca.SX, pd: ca.SX, u: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Joint accelerations and their n x 3n Jacobian by p, pd, u from that of inverse dynamics: -M^-1 [dID, -1]."""
    value = composite_body(chain, p, pd, u)
    pdd = ca.SX.sym("pdd", len(chain))
    slopes = ca.jacobian(inverse_dynamics(chain, p, pd, pdd), ca.vertcat(p, pd, pdd))
    by_p, by_pd, matrix = ca.horzsplit(ca.substitute(slopes, pdd, value), len(chain))
    return value, solve_symmetric(matrix, ca.horzcat(-by_p, -by_pd, ca.SX.eye(len(chain))))
