"""Textbook dynamics in NumPy over a Robot, written apart from the product: recursive Newton–Euler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffpbd.codegen.description.robot.robot import Inertial, Robot

Array = NDArray[np.float64]
GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class Payload:
    """A body rigidly attached to the first tip, in tip axes."""

    mass: float
    com: Array
    inertia: Array


def rotation(axis: Array, angle: float) -> Array:
    """Rodrigues' formula."""
    k = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k)


def poses(robot: Robot, q: ArrayLike) -> list[tuple[Array, Array]]:
    """R_world_link and the origin of every link frame in the world."""
    q = np.asarray(q, float)
    found: list[tuple[Array, Array]] = []
    for joint, position in zip(robot.joints, q, strict=True):
        R, x = (np.eye(3), np.zeros(3)) if joint.parent < 0 else found[joint.parent]
        x = x + R @ np.array(joint.translation)
        R = R @ np.array(joint.rotation)
        axis = np.array(joint.axis)
        if joint.type.slides:
            found.append((R, x + R @ axis * position))
        else:
            found.append((R @ rotation(axis, position), x))
    return found


def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    dq: ArrayLike,
    ddq: ArrayLike,
    gravity: ArrayLike = GRAVITY,
    payload: Payload | None = None,
) -> Array:
    """Joint torques [N·m or N] of the rigid-body model; all vectors in world axes."""
    q, dq, ddq = (np.asarray(value, float) for value in (q, dq, ddq))
    places = poses(robot, q)
    n = robot.n
    axes, omega, alpha, accel = [], [], [], []
    for i, joint in enumerate(robot.joints):
        R, x = places[i]
        axis = R @ np.array(joint.axis)
        if joint.parent < 0:
            w0, a0, v0, x0 = np.zeros(3), np.zeros(3), -np.asarray(gravity, float), np.zeros(3)
        else:
            w0, a0, v0, x0 = (omega[joint.parent], alpha[joint.parent], accel[joint.parent], places[joint.parent][1])
        r = x - x0
        a = v0 + np.cross(a0, r) + np.cross(w0, np.cross(w0, r))
        if joint.type.slides:
            omega.append(w0)
            alpha.append(a0)
            accel.append(a + axis * ddq[i] + 2.0 * np.cross(w0, axis * dq[i]))
        else:
            omega.append(w0 + axis * dq[i])
            alpha.append(a0 + axis * ddq[i] + np.cross(w0, axis * dq[i]))
            accel.append(a)
        axes.append(axis)
    force, moment = np.zeros((n, 3)), np.zeros((n, 3))  # on link i, about its frame's origin
    for i, link in enumerate(robot.links):
        _add_body(force[i], moment[i], places[i][0], link.inertial, omega[i], alpha[i], accel[i])
    if payload is not None:
        tip = robot.tips[0]
        R_tip = np.array(tip.rotation)
        body = Inertial(
            payload.mass,
            tuple(np.array(tip.translation) + R_tip @ payload.com),
            tuple(map(tuple, R_tip @ payload.inertia @ R_tip.T)),
        )
        i = tip.link
        _add_body(force[i], moment[i], places[i][0], body, omega[i], alpha[i], accel[i])
    torque = np.zeros(n)
    for i in reversed(range(n)):
        joint = robot.joints[i]
        torque[i] = axes[i] @ (force[i] if joint.type.slides else moment[i])
        if joint.parent >= 0:
            force[joint.parent] += force[i]
            moment[joint.parent] += moment[i] + np.cross(places[i][1] - places[joint.parent][1], force[i])
    return torque


def _add_body(force: Array, moment: Array, R: Array, body: Inertial, omega: Array, alpha: Array, accel: Array) -> None:
    c = R @ np.array(body.com)
    inertia = R @ np.array(body.inertia) @ R.T
    f = body.mass * (accel + np.cross(alpha, c) + np.cross(omega, np.cross(omega, c)))
    force += f
    moment += inertia @ alpha + np.cross(omega, inertia @ omega) + np.cross(c, f)


def mass_matrix(robot: Robot, q: ArrayLike, payload: Payload | None = None) -> Array:
    """Column by column out of the inverse dynamics."""
    zero = np.zeros(robot.n)
    columns = [inverse_dynamics(robot, q, zero, unit, np.zeros(3), payload) for unit in np.eye(robot.n)]
    return np.array(columns).T


def tip_pose(robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
    """Position and rotation of the first tip in the world."""
    tip = robot.tips[0]
    R, x = poses(robot, q)[tip.link]
    return x + R @ np.array(tip.translation), R @ np.array(tip.rotation)


def tip_jacobian(robot: Robot, q: ArrayLike) -> Array:
    """Linear rows, then angular; world axes, at the first tip."""
    places = poses(robot, q)
    position, _ = tip_pose(robot, q)
    jacobian = np.zeros((6, robot.n))
    i = robot.tips[0].link
    while i >= 0:
        joint = robot.joints[i]
        axis = places[i][0] @ np.array(joint.axis)
        if joint.type.slides:
            jacobian[:3, i] = axis
        else:
            jacobian[:3, i] = np.cross(axis, position - places[i][1])
            jacobian[3:, i] = axis
        i = joint.parent
    return jacobian
