"""Vectors, rotations and quaternions in SymPy. Quaternions are wxyz and unit; `R` maps body to world axes."""

from __future__ import annotations

from typing import Any

import sympy as sp

from diffpbd.codegen.program.program import Matrix


def cross(a: Any, b: Any) -> Any:
    """a × b of two 3-vectors."""
    return Matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def dot(a: Any, b: Any) -> Any:
    """a · b of two vectors of one length."""
    return sum((x * y for x, y in zip(a, b, strict=True)), sp.Integer(0))


def skew(a: Any) -> Any:
    """The 3×3 matrix [a]× with [a]× b = a × b."""
    return Matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def axial(a: Any) -> Any:
    """vee(A − Aᵀ): twice the axial vector of a 3×3 matrix; equals Σ y × x for A = Σ x yᵀ."""
    return Matrix([a[2, 1] - a[1, 2], a[0, 2] - a[2, 0], a[1, 0] - a[0, 1]])


def quaternion_product(p: Any, q: Any) -> Any:
    """p ⊗ q (Hamilton, wxyz)."""
    return Matrix(
        [
            p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
            p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
            p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
        ]
    )


def rotation_matrix(q: Any) -> Any:
    """R(q) [3×3] of a unit quaternion; quadratic in q, so ±q give the same matrix."""
    w, x, y, z = q
    return Matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def symmetric(entries: Any) -> Any:
    """The symmetric 3×3 matrix of (xx, xy, xz, yy, yz, zz)."""
    xx, xy, xz, yy, yz, zz = entries
    return Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
