"""Where a robot has no mass to move: joints that make its mass matrix singular, links that have none."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from diffpbd.codegen.description.robot.robot import Joint, Robot

Matrix = NDArray[np.float64]

NEGLIGIBLE_MASS: Final = 1e-12
"""[kg] Below this a link counts as massless: its weight is lost in the rounding of any machine's torques."""

NEGLIGIBLE_INERTIA: Final = 1e-18
"""[kg·m²] Below this an inertia counts as zero: that of a negligible mass at a distance of 1 mm."""

VANISHING_SHARE: Final = 1e-10
"""Part of a joint's inertia that must be left when all behind it moves freely; rounding leaves 1e-13."""

_PROBES: Final = (0.618033988749895, 1.324717957244746, 1.839286755214161)
"""[rad, m] Irrational joint positions in steps: a pivot that vanishes at all three vanishes everywhere."""


def singular_links(robot: Robot) -> tuple[tuple[str, str], ...]:
    """(link, joint) of every joint that moves nothing: there the mass matrix is singular in every pose.

    Forward dynamics and every step are impossible on such a robot; inverse dynamics and gravity are not.
    """
    shares = _pivot_shares if len(robot.independent) == robot.n else _geared_pivot_shares
    largest = np.max([shares(robot, probe) for probe in _PROBES], axis=0)
    return tuple((robot.links[i].name, robot.joints[i].name) for i in robot.independent if largest[i] < VANISHING_SHARE)


def massless_links(robot: Robot) -> tuple[tuple[str, str], ...]:
    """(link, joint) of every moving link without mass or with an inertia that is not positive definite.

    A step in maximal coordinates divides by both; joint-space functions do not, unless the joint is also
    in `singular_links`. Where such a link carries others, forward dynamics can be singular in single poses.
    """
    names = []
    for link, joint in zip(robot.links, robot.joints, strict=True):
        smallest = float(np.linalg.eigvalsh(np.array(link.inertial.inertia))[0])
        if link.inertial.mass < NEGLIGIBLE_MASS or smallest < NEGLIGIBLE_INERTIA:
            names.append((link.name, joint.name))
    return tuple(names)


def _pivot_shares(robot: Robot, probe: float) -> Matrix:
    """For every joint (n): articulated inertia along it over composite inertia along it, 0 where both vanish.

    The articulated inertias are the pivots of the mass matrix eliminated from the tips (Featherstone's ABA).
    """
    n = robot.n
    articulated = [_spatial_inertia(robot, i) for i in range(n)]
    composite = [matrix.copy() for matrix in articulated]
    shares = np.zeros(n)
    for i in reversed(range(n)):
        joint = robot.joints[i]
        motion = _motion(joint)
        free = articulated[i] @ motion
        pivot, whole = float(motion @ free), float(motion @ composite[i] @ motion)
        moves = whole > _negligible(joint)
        shares[i] = pivot / whole if moves else 0.0
        left = articulated[i]
        if shares[i] >= VANISHING_SHARE:
            left = left - np.outer(free, free) / pivot
        if joint.parent >= 0:
            transform = _motion_transform(robot, i, probe * (i + 1))
            articulated[joint.parent] = articulated[joint.parent] + transform.T @ left @ transform
            composite[joint.parent] = composite[joint.parent] + transform.T @ composite[i] @ transform
    return shares


def _geared_pivot_shares(robot: Robot, probe: float) -> Matrix:
    """Pivot shares where joints mimic others: pivots of Aᵀ M A, A from independent rates to all; 0 for the others."""
    n = robot.n
    composite = [_spatial_inertia(robot, i) for i in range(n)]
    M = np.zeros((n, n))
    for i in reversed(range(n)):
        joint = robot.joints[i]
        motion = _motion(joint)
        force, k = composite[i] @ motion, i
        M[i, i] = motion @ force
        while robot.joints[k].parent >= 0:
            force, k = _motion_transform(robot, k, probe * (k + 1)).T @ force, robot.joints[k].parent
            M[i, k] = M[k, i] = _motion(robot.joints[k]) @ force
        if joint.parent >= 0:
            transform = _motion_transform(robot, i, probe * (i + 1))
            composite[joint.parent] = composite[joint.parent] + transform.T @ composite[i] @ transform
    A = np.zeros((n, n))
    for i, joint in enumerate(robot.joints):
        A[i, i if joint.mimic is None else joint.mimic.joint] = 1.0 if joint.mimic is None else joint.mimic.multiplier
    M = A.T @ M @ A
    whole = np.diag(M).copy()
    shares = np.zeros(n)
    for i in reversed(range(n)):
        shares[i] = M[i, i] / whole[i] if whole[i] > _negligible(robot.joints[i]) else 0.0
        if shares[i] >= VANISHING_SHARE:
            M = M - np.outer(M[:, i], M[i, :]) / M[i, i]
    return shares


def _motion(joint: Joint) -> Matrix:
    """Twist (6) at rate 1, in the joint frame."""
    still = np.zeros(3)
    return np.concatenate([still, joint.axis] if joint.type.slides else [joint.axis, still])


def _negligible(joint: Joint) -> float:
    """[kg or kg·m²] Below this a joint moves nothing."""
    return NEGLIGIBLE_MASS if joint.type.slides else NEGLIGIBLE_INERTIA


def _spatial_inertia(robot: Robot, index: int) -> Matrix:
    """6 x 6 about the link frame's origin, angular rows first."""
    inertial = robot.links[index].inertial
    c = _cross(np.array(inertial.com))
    mass = inertial.mass
    return np.block([[np.array(inertial.inertia) - mass * c @ c, mass * c], [-mass * c, mass * np.eye(3)]]).astype(
        np.float64
    )


def _motion_transform(robot: Robot, index: int, position: float) -> Matrix:
    """6 x 6 from motions seen in the parent link's frame to motions seen in the link's own."""
    joint = robot.joints[index]
    axis = np.array(joint.axis)
    rotation, translation = np.array(joint.rotation), np.array(joint.translation)
    if joint.type.slides:
        translation = translation + rotation @ axis * position
    else:
        a = _cross(axis)
        rotation = rotation @ (np.eye(3) + np.sin(position) * a + (1.0 - np.cos(position)) * a @ a)
    return np.block([[rotation.T, np.zeros((3, 3))], [-rotation.T @ _cross(translation), rotation.T]]).astype(
        np.float64
    )


def _cross(v: Matrix) -> Matrix:
    """The matrix of v ×."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
