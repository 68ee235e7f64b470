"""Algorithm 1 of the paper in NumPy, written from the printed text alone: one multiplier a constraint along c/‖c‖, all
positional and then all angular constraints in every sweep. Nothing of diffpbd is imported.

Corrected as docs/method.md lists: slips 1 to 6, 11 and 14. Link i joins link i - 1 (the base for i = 0) in joint i.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass
class Body:
    """A link about its COM, in its own axes, with the joint that carries it: t from its COM to the joint and its axis a there;
    r from the COM of the link before (the base: its origin) to the joint, in the axes of that link, and the axis b there."""

    mass: float
    inertia: Array
    com: Array
    t: Array
    a: Array
    r: Array
    b: Array


def cross_matrix(w: Array) -> Array:
    """[w]x."""
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def times(p: Array, q: Array) -> Array:
    """p ⊗ q, scalar part first."""
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


def matrix(q: Array) -> Array:
    """R(q) = (w² - v·v) 1 + 2 v vᵀ + 2 w [v]x."""
    w, v = q[0], q[1:]
    return np.asarray((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * cross_matrix(v))


def turned(q: Array, phi: Array) -> Array:
    """(q + ½ [0, φ] ⊗ q)/‖…‖."""
    moved = q + 0.5 * times(np.array([0.0, *phi]), q)
    return np.asarray(moved / np.linalg.norm(moved))


# The arm ----------------------------------------------------------------------------------------------------------------------


def _frame(element: ET.Element | None) -> tuple[Array, Array]:
    numbers: dict[str, Any] = {} if element is None else element.attrib
    x, (roll, pitch, yaw) = (np.array([float(w) for w in numbers.get(k, "0 0 0").split()]) for k in ("xyz", "rpy"))
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    Rz, Ry = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]]), np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    return Rz @ Ry @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]]), x


def read_arm(path: Path) -> list[Body]:
    """Links of a URDF of hinges in a row, from the base on; what is welded on belongs to the link that carries it."""
    root = ET.parse(path).getroot()
    joints = {j.find("parent").get("link"): j for j in root.findall("joint")}  # type: ignore[union-attr]
    carried = {j.find("child").get("link") for j in root.findall("joint")}  # type: ignore[union-attr]
    name = next(link.get("name") for link in root.findall("link") if link.get("name") not in carried)
    at, bodies, com, parts, hinge = (np.eye(3), np.zeros(3)), [], np.zeros(3), [], None
    while True:
        link = next(e for e in root.findall("link") if e.get("name") == name)
        if (given := link.find("inertial")) is not None:
            parts.append((given, at))
        joint = joints.get(name)
        if joint is None or joint.get("type") != "fixed":
            if hinge is not None:
                bodies.append(_body(parts, com, *hinge))
                com = bodies[-1].com
            if joint is None:
                return bodies
        R, x = _frame(joint.find("origin"))
        R, x = at[0] @ R, at[1] + at[0] @ x
        if joint.get("type") == "fixed":
            at = (R, x)
        else:
            axis = np.array([float(w) for w in joint.find("axis").get("xyz").split()])  # type: ignore[union-attr]
            hinge, at, parts = (x, R @ axis, axis), (np.eye(3), np.zeros(3)), []
        name = joint.find("child").get("link")  # type: ignore[union-attr]


def _body(parts: list[Any], before: Array, place: Array, b: Array, a: Array) -> Body:
    known = []
    for given, (R, x) in parts:
        turn, shift = _frame(given.find("origin"))
        xx, xy, xz, yy, yz, zz = (
            float(given.find("inertia").get(k)) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        known.append((float(given.find("mass").get("value")), x + R @ shift, R @ turn @ tensor @ turn.T @ R.T))
    mass = sum(m for m, _, _ in known)
    com = sum(m * c for m, c, _ in known) / mass
    inertia = sum(T - m * cross_matrix(c - com) @ cross_matrix(c - com) for m, c, T in known)
    return Body(mass, inertia, com, -com, a, place - before, b)


# Algorithm 1 ------------------------------------------------------------------------------------------------------------------


class Printed:
    """One step of the arm from poses x (links, 3), q (links, 4) and rates v, ω (links, 3)."""

    def __init__(self, arm: list[Body]) -> None:
        self.arm = arm

    def step(self, state: Array, u: Array, h: float, g: Array, sweeps: int, factor: float | None = None) -> Array:
        """The state (links, 13: x, v, q, ω) after a step; `factor` of Jacobi sweeps, None for Gauss–Seidel."""
        x0, v0, q0, w0 = state[:, :3], state[:, 3:6], state[:, 6:10], state[:, 10:]
        self.x, self.q = x0.copy(), q0.copy()
        torque = np.zeros_like(x0)
        for i, body in enumerate(self.arm):
            along = matrix(q0[i]) @ body.a * u[i]
            torque[i] += along
            if i:
                torque[i - 1] -= along
        for i in range(len(self.arm)):  # statements 4 to 9
            v = v0[i] + h * g
            self.x[i] = x0[i] + h * v
            R = matrix(q0[i])
            inertia = R @ self.arm[i].inertia @ R.T
            w = w0[i] + h * np.linalg.solve(inertia, torque[i] - np.cross(w0[i], inertia @ w0[i]))
            self.q[i] = turned(q0[i], h * w)
        for _ in range(sweeps):
            self.sweep(factor)
        result = np.zeros_like(state)
        for i in range(len(self.arm)):  # statements 19 to 25
            turn = times(self.q[i], q0[i] * np.array([1, -1, -1, -1]))
            w = 2 * turn[1:] / h * (1.0 if turn[0] >= 0 else -1.0)
            result[i] = np.concatenate([self.x[i], (self.x[i] - x0[i]) / h, self.q[i], w])
        return result

    def sweep(self, factor: float | None) -> None:
        """Statements 10 to 18."""
        for solve in (self.positional, self.angular):
            moves = []
            for i in range(len(self.arm)):
                found = solve(i)
                if factor is None:
                    self.apply(found, 1.0)
                moves += found
            if factor is not None:
                self.apply(moves, factor)

    def world_inverse(self, i: int) -> Array:
        """I⁻¹ in world axes at the pose of now."""
        R = matrix(self.q[i])
        return np.asarray(R @ np.linalg.inv(self.arm[i].inertia) @ R.T)

    def positional(self, i: int) -> list[tuple[int, Array, Array]]:
        """Equations 1 and 5 to 9 of joint i: (link, Δx, Δφ) of both links."""
        body = self.arm[i]
        arm_b = matrix(self.q[i]) @ body.t
        arm_a = body.r if i == 0 else matrix(self.q[i - 1]) @ body.r
        c = self.x[i] + arm_b - (arm_a if i == 0 else self.x[i - 1] + arm_a)
        length = np.linalg.norm(c)
        if length == 0.0:
            return []
        n = c / length
        by_b, by_a = cross_matrix(arm_b) @ n, -cross_matrix(arm_a) @ n
        K = 1 / body.mass + by_b @ self.world_inverse(i) @ by_b
        if i:
            K += 1 / self.arm[i - 1].mass + by_a @ self.world_inverse(i - 1) @ by_a
        multiplier = -length / K
        moves = [(i, n * multiplier / body.mass, self.world_inverse(i) @ by_b * multiplier)]
        if i:
            at = -n * multiplier / self.arm[i - 1].mass
            moves.append((i - 1, at, self.world_inverse(i - 1) @ by_a * multiplier))
        return moves

    def angular(self, i: int) -> list[tuple[int, Array, Array]]:
        """Equations 11 to 16 of joint i: (link, no move, Δφ) of both links."""
        body = self.arm[i]
        b = body.b if i == 0 else matrix(self.q[i - 1]) @ body.b
        c = np.cross(b, matrix(self.q[i]) @ body.a)
        length = np.linalg.norm(c)
        if length == 0.0:
            return []
        n = c / length
        K = n @ self.world_inverse(i) @ n + (n @ self.world_inverse(i - 1) @ n if i else 0.0)
        multiplier = -length / K
        moves = [(i, np.zeros(3), self.world_inverse(i) @ n * multiplier)]
        if i:
            moves.append((i - 1, np.zeros(3), -self.world_inverse(i - 1) @ n * multiplier))
        return moves

    def apply(self, moves: list[tuple[int, Array, Array]], factor: float) -> None:
        """Equations 10 and 17; what several joints ask of a link at once is added first."""
        for i in {i for i, _, _ in moves}:
            self.x[i] += factor * sum(dx for k, dx, _ in moves if k == i)
            self.q[i] = turned(self.q[i], factor * sum(phi for k, _, phi in moves if k == i))
