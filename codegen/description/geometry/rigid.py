"""Poses and inertias of rigid bodies in plain floats, so that every machine computes the same bits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from diffpbd.codegen.description.robot.robot import IDENTITY, ZERO, Inertial, Mat3, Vec3

RIGHT_ANGLE_TOLERANCE: Final = 1e-15
"""[rad] An angle this close to a multiple of π/2 is that multiple in floating point: sine and cosine are then
exactly 0 and ±1 instead of 6e-17 and 1. Shorter spellings (1.57079632679 is 5e-12 off) stay as written."""

SHORTEST_AXIS: Final = 1e-6
"""[1] An axis shorter than this names no direction; exporters write unit axes."""

_QUARTER_TURNS: Final = ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))

AXES: Final = ("x", "y", "z")
MOMENTS: Final = ("xx", "xy", "xz", "yy", "yz", "zz")
ANGLES: Final = ("roll", "pitch", "yaw")
"""Components of vectors, inertias and rotations in names of parameters."""

MASSLESS: Final = Inertial(0.0, ZERO, (ZERO, ZERO, ZERO))
"""Inertia of a link without an `inertial` element."""


@dataclass(frozen=True)
class Pose:
    """Frame b seen from frame a: `rotation` (3 x 3, R_a_b) and `translation` [m] (3, origin of b in a)."""

    rotation: Mat3 = IDENTITY
    translation: Vec3 = ZERO


def sine_cosine(angle: float) -> tuple[float, float]:
    """Sine and cosine of an angle [rad], exact at right angles (see `RIGHT_ANGLE_TOLERANCE`)."""
    quarter = round(angle / (0.5 * math.pi))
    if abs(angle - quarter * 0.5 * math.pi) < RIGHT_ANGLE_TOLERANCE:
        return _QUARTER_TURNS[quarter % 4]
    return math.sin(angle), math.cos(angle)


def rotation_from_rpy(rpy: Vec3) -> Mat3:
    """R = Rz(yaw) Ry(pitch) Rx(roll) of roll, pitch, yaw [rad] about fixed axes (3 x 3)."""
    (s_r, c_r), (s_p, c_p), (s_y, c_y) = (sine_cosine(angle) for angle in rpy)
    return (
        (c_y * c_p, c_y * s_p * s_r - s_y * c_r, c_y * s_p * c_r + s_y * s_r),
        (s_y * c_p, s_y * s_p * s_r + c_y * c_r, s_y * s_p * c_r - c_y * s_r),
        (-s_p, c_p * s_r, c_p * c_r),
    )


def rotation_about(axis: Vec3, angle: float) -> Mat3:
    """The turn by an angle [rad] about a unit axis (3 x 3)."""
    if angle == 0.0:
        return IDENTITY
    (s, c), (x, y, z) = sine_cosine(angle), axis
    v = 1.0 - c
    return (
        (c + x * x * v, x * y * v - z * s, x * z * v + y * s),
        (x * y * v + z * s, c + y * y * v, y * z * v - x * s),
        (x * z * v - y * s, y * z * v + x * s, c + z * z * v),
    )


def rotation_from_quaternion(quaternion: tuple[float, float, float, float]) -> Mat3:
    """The rotation (3 x 3) of a quaternion w, x, y, z of any length."""
    length = math.hypot(*quaternion)
    w, x, y, z = (part / length for part in quaternion)
    return (
        (w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )


GIMBAL_LEVEL: Final = 1e-15
"""[1] Cosine of the pitch that is the rounding of a rotation: roll and yaw turn about one axis, and roll is given as 0."""


def rpy_from_rotation(rotation: Mat3) -> Vec3:
    """Roll, pitch, yaw [rad] about fixed axes of a rotation, R = Rz Ry Rx, as exact at a pitch of ±90° as elsewhere.

    Where the pitch is so steep that yaw is noise, roll is worked out from what that yaw leaves.
    """
    R = rotation
    level = math.hypot(R[0][0], R[1][0])
    pitch = math.atan2(-R[2][0], level)
    yaw = math.atan2(-R[0][1], R[1][1]) if level < GIMBAL_LEVEL else math.atan2(R[1][0], R[0][0])
    s, c = math.sin(yaw), math.cos(yaw)
    return (math.atan2(s * R[0][2] - c * R[1][2], c * R[1][1] - s * R[0][1]), pitch, yaw)


def dot(a: Vec3, b: Vec3) -> float:
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def norm(a: Vec3) -> float:
    """Euclidean length."""
    return math.hypot(*a)


def add(a: Vec3, b: Vec3) -> Vec3:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def subtract(a: Vec3, b: Vec3) -> Vec3:
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(a: Vec3, factor: float) -> Vec3:
    """factor * a."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


def apply(matrix: Mat3, vector: Vec3) -> Vec3:
    """matrix @ vector."""
    return (dot(matrix[0], vector), dot(matrix[1], vector), dot(matrix[2], vector))


def transpose(matrix: Mat3) -> Mat3:
    """The transpose."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    return ((a, d, g), (b, e, h), (c, f, i))


def multiply(a: Mat3, b: Mat3) -> Mat3:
    """a @ b."""
    columns = transpose(b)
    return (apply(columns, a[0]), apply(columns, a[1]), apply(columns, a[2]))


def compose(a_b: Pose, b_c: Pose) -> Pose:
    """Pose of frame c in frame a."""
    if a_b.rotation == IDENTITY:
        return Pose(b_c.rotation, add(a_b.translation, b_c.translation))
    return Pose(multiply(a_b.rotation, b_c.rotation), add(a_b.translation, apply(a_b.rotation, b_c.translation)))


def symmetric(xx: float, xy: float, xz: float, yy: float, yz: float, zz: float) -> Mat3:
    """The symmetric matrix with these entries."""
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def rotated_inertia(rotation: Mat3, inertia: Mat3) -> Mat3:
    """R I Rᵀ [kg·m²], exactly symmetric; I itself where R is the identity."""
    if rotation == IDENTITY:
        return inertia
    full = multiply(multiply(rotation, inertia), transpose(rotation))
    return symmetric(full[0][0], full[0][1], full[0][2], full[1][1], full[1][2], full[2][2])


def point_inertia(mass: float, offset: Vec3) -> Mat3:
    """Inertia [kg·m²] about the origin of a point of `mass` [kg] at `offset` [m]: m (|d|² 1 − d dᵀ)."""
    x, y, z = offset
    return symmetric(
        mass * (y * y + z * z),
        -mass * x * y,
        -mass * x * z,
        mass * (x * x + z * z),
        -mass * y * z,
        mass * (x * x + y * y),
    )


def add_matrices(a: Mat3, b: Mat3) -> Mat3:
    """a + b."""
    return (add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2]))


def moved(pose: Pose, body: Inertial) -> Inertial:
    """A body given in frame b, expressed in frame a; `pose` is that of b in a."""
    return Inertial(
        body.mass,
        add(pose.translation, apply(pose.rotation, body.com)),
        rotated_inertia(pose.rotation, body.inertia),
    )


def merged(bodies: Iterable[Inertial]) -> Inertial:
    """One rigid body out of several given in one frame; a body without mass and inertia changes no bit."""
    parts = [body for body in bodies if body.mass != 0.0 or any(any(row) for row in body.inertia)]
    if not parts:
        return MASSLESS
    if len(parts) == 1:
        return parts[0]
    mass = math.fsum(part.mass for part in parts)
    com = ZERO
    if mass != 0.0:
        moments = [scale(part.com, part.mass) for part in parts]
        com = (
            math.fsum(moment[0] for moment in moments) / mass,
            math.fsum(moment[1] for moment in moments) / mass,
            math.fsum(moment[2] for moment in moments) / mass,
        )
    inertia: Mat3 = (ZERO, ZERO, ZERO)
    for part in parts:
        about_com = add_matrices(part.inertia, point_inertia(part.mass, subtract(part.com, com)))
        inertia = add_matrices(inertia, about_com)
    return Inertial(mass, com, inertia)


def inertia_about_axis(body: Inertial, point: Vec3, axis: Vec3) -> float:
    """Moment of inertia [kg·m²] about the line through `point` [m] along unit `axis`, all in one frame."""
    shifted = add_matrices(body.inertia, point_inertia(body.mass, subtract(body.com, point)))
    return dot(axis, apply(shifted, axis))


def triad_of(axis: Vec3) -> tuple[float, ...]:
    """f1, f2, axis (9): a right-handed triad, f1 along the coordinate axis least aligned with the joint axis."""
    least = min(range(3), key=lambda k: (abs(axis[k]), k))
    raw = [(1.0 if k == least else 0.0) - axis[least] * axis[k] for k in range(3)]
    norm = math.sqrt(sum(e * e for e in raw))
    f1 = [e / norm for e in raw]
    f2 = [
        axis[1] * f1[2] - axis[2] * f1[1],
        axis[2] * f1[0] - axis[0] * f1[2],
        axis[0] * f1[1] - axis[1] * f1[0],
    ]
    return (*f1, *f2, *axis)


def upper_triangle(matrix: Mat3) -> tuple[float, float, float, float, float, float]:
    """(xx, xy, xz, yy, yz, zz) of a symmetric matrix."""
    return (*matrix[0], matrix[1][1], matrix[1][2], matrix[2][2])
