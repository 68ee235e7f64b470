"""Rotations, inertias and vectors of alpha as CasADi matrices: what `model` builds its blocks with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.description.geometry.rigid import ANGLES, rpy_from_rotation

RIGHT_ANGLE: Final = 1e-11
"""[1] Entries of a joint's rotation within this of −1, 0 or 1 are rounded to it: a right angle written as 1.57079632679
is off by 5e-12, which has no effect but costs operations."""


def squared(rotation: Any) -> Any:
    """A rotation whose constant entries within `RIGHT_ANGLE` of −1, 0 or 1 are these."""
    result = ca.SX(rotation)
    for k in range(result.numel()):
        if result[k].is_constant():
            near = round(float(result[k]))
            if abs(float(result[k]) - near) <= RIGHT_ANGLE:
                result[k] = near
    return result


def vector(entry: Any, prefix: str, parts: Sequence[str], numbers: Sequence[float]) -> Any:
    """Entries of alpha or numbers under one prefix."""
    return ca.vertcat(*[entry(f"{prefix}.{part}", number) for part, number in zip(parts, numbers, strict=True)])


def turned(entry: Any, index: Mapping[str, int], prefix: str, rotation: Any) -> Any:
    """A rotation (3 × 3): numbers, or of roll, pitch and yaw where one of them is symbolic."""
    names = [f"{prefix}.{angle}" for angle in ANGLES]
    if not any(name in index for name in names):
        return squared(ca.DM([list(r) for r in rotation]))
    roll, pitch, yaw = (entry(name, x) for name, x in zip(names, rpy_from_rotation(rotation), strict=True))
    return ca.mtimes(ca.mtimes(turn(2, yaw), turn(1, pitch)), turn(0, roll))


def turn(axis: int, angle: Any) -> Any:
    """Rotation (3 × 3) about a coordinate axis."""
    c, s = ca.cos(angle), ca.sin(angle)
    result = ca.SX.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    result[i, i], result[j, j], result[i, j], result[j, i] = c, c, -s, s
    return result


def square(rows: Any) -> Any:
    """3 × 3 from 9 by rows."""
    return ca.reshape(rows, 3, 3).T


def rows(matrix: Any) -> Any:
    """9 by rows from 3 × 3."""
    return ca.vertcat(*[matrix[r, c] for r in range(3) for c in range(3)])


def symmetric(e: Any) -> Any:
    """3 × 3 of (xx, xy, xz, yy, yz, zz)."""
    return ca.blockcat([[e[0], e[1], e[2]], [e[1], e[3], e[4]], [e[2], e[4], e[5]]])


def upper(m: Any) -> Any:
    """(xx, xy, xz, yy, yz, zz) of 3 × 3."""
    return ca.vertcat(m[0, 0], m[0, 1], m[0, 2], m[1, 1], m[1, 2], m[2, 2])


def about_origin(mass: Any, com: Any, inertia: Any) -> Any:
    """(m, m c, I about the link origin) of (m, c, I about the COM): parallel axes."""
    x, y, z = com[0], com[1], com[2]
    shift = ca.vertcat(y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y)
    return ca.vertcat(mass, mass * com, inertia + mass * shift)


def product(p: Any, q: Any) -> Any:
    """p ⊗ q (wxyz)."""
    a, b = p[0], p[1:4]
    c, d = q[0], q[1:4]
    return ca.vertcat(a * c - ca.dot(b, d), a * d + c * b + ca.cross(b, d))
