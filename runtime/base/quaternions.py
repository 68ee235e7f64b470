"""Positions with a floating base, whose numbers 3 to 6 are a unit quaternion w x y z, and the tangents between them."""

from __future__ import annotations

import contextlib
from typing import Any, Final

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError

__all__ = [
    "difference",
    "expect_unit",
    "moved",
    "of_rotation",
    "path_of",
    "product",
    "rotation_vector",
    "turn_between",
    "turned_by",
    "with_turn",
    "without_turn",
]

PLACE: Final = slice(3, 7)
NOT_UNIT: Final = 1e-6
"""[1] How far the square of a quaternion's length may be off 1, as in the C text."""


def expect_unit(function: str, argument: str, position: Any) -> None:
    """Refuses positions (…, n_p) whose quaternion has another length; what has no such numbers is refused elsewhere."""
    with contextlib.suppress(TypeError, ValueError):
        q = np.asarray(position, dtype=float)[..., PLACE]
        with np.errstate(over="ignore"):
            square = np.ravel(np.sum(q * q, axis=-1))
        if q.shape[-1] == 4 and not (np.abs(square - 1.0) <= NOT_UNIT).all():
            found = square[np.argmax(np.abs(square - 1.0))] ** 0.5
            raise InputError(
                f"{function}: argument {argument!r}: expected a unit quaternion (w, x, y, z) of the base in numbers 3 to 6, "
                f"found one of length {found:.10g}."
            )


def product(p: FloatArray, q: FloatArray) -> FloatArray:
    """p ⊗ q (…, 4)."""
    a, b = p[..., :1], p[..., 1:]
    c, d = q[..., :1], q[..., 1:]
    scalar = a * c - np.sum(b * d, axis=-1, keepdims=True)
    return np.concatenate([scalar, a * d + c * b + np.cross(b, d)], axis=-1)


def turn_between(start: FloatArray, end: FloatArray) -> FloatArray:
    """end ⊗ start⁻¹ (…, 4), its scalar part not negative."""
    turn = product(end, start * np.array([1.0, -1.0, -1.0, -1.0]))
    return np.where(turn[..., :1] < 0.0, -turn, turn)


def difference(floating: bool, one: FloatArray, other: FloatArray) -> FloatArray:
    """The tangent (…, n) from positions `other` to `one` (…, n_p): of a floating base 2 vec(q₁ ⊗ q₀⁻¹) between its turns."""
    if not floating:
        return one - other
    turn = 2.0 * turn_between(other[..., PLACE], one[..., PLACE])[..., 1:]
    return np.concatenate([one[..., :3] - other[..., :3], turn, one[..., 7:] - other[..., 7:]], axis=-1)


def moved(floating: bool, position: FloatArray, way: FloatArray) -> FloatArray:
    """A position (…, n_p) moved along a tangent (…, n): x + δ, normalize((1, φ/2) ⊗ q), p + δ."""
    if not floating:
        return position + way
    q = turned_by(position[..., PLACE], way[..., 3:6])
    return np.concatenate([position[..., :3] + way[..., :3], q, position[..., 7:] + way[..., 6:]], axis=-1)


def without_turn(floating: bool, position: FloatArray) -> FloatArray:
    """Positions as one number a rate (…, n), zero for the turn of a floating base: what bounds are on."""
    if not floating:
        return position
    still = np.zeros_like(position[..., :3])
    return np.concatenate([position[..., :3], still, position[..., 7:]], axis=-1)


def rotation_vector(turn: FloatArray) -> FloatArray:
    """[rad] (…, 3) of a unit quaternion whose scalar part is not negative."""
    sine = np.linalg.norm(turn[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, turn[..., :1])
    return np.where(sine > 0.0, angle / np.where(sine > 0.0, sine, 1.0), 2.0) * turn[..., 1:]


def of_rotation(vector: FloatArray) -> FloatArray:
    """The unit quaternion (…, 4) of a rotation vector (…, 3) [rad]."""
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.concatenate([np.cos(0.5 * angle), 0.5 * np.sinc(0.5 * angle / np.pi) * vector], axis=-1)


def turned_by(turn: FloatArray, way: FloatArray) -> FloatArray:
    """normalize((1, φ/2) ⊗ q) of quaternions (…, 4) and small turns φ (…, 3) [rad], world axes."""
    q = product(np.concatenate([np.ones_like(way[..., :1]), 0.5 * way], axis=-1), turn)
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True), dtype=np.float64)


def path_of(turn: FloatArray) -> FloatArray:
    """Unit quaternions (samples, 4) as the sum (samples, 3) [rad] of the turns from one to the next, zero at the first: a
    number an axis whose slope is the angular velocity in world axes, however far it turns."""
    steps = rotation_vector(turn_between(turn[:-1], turn[1:]))
    return np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])


def with_turn(q: FloatArray, turn: FloatArray | None) -> FloatArray:
    """Positions (samples, n_p) of coordinates (samples, n) whose numbers 3 to 5 are such a sum; None: as they are."""
    return q if turn is None else np.hstack([q[:, :3], turn, q[:, 6:]])
