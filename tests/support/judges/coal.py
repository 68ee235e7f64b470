"""Distances of shapes by coal, placed by pinocchio: neither shares a line with what is judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import coal
import numpy as np

from diffpbd.runtime.folder.manifest import Shape


def geometry(kind: str, halves: Sequence[float], radius: float) -> Any:
    """The geometry of a shape; a plane is the half-space below z = 0, a capsule lies along z."""
    if kind == "sphere":
        return coal.Sphere(radius)
    if kind == "capsule":
        return coal.Capsule(radius, 2.0 * halves[0])
    if kind == "box":
        return coal.Box(*(2.0 * np.asarray(halves)))
    return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)


def distance(one: Any, R: np.ndarray, x: np.ndarray, other: Any, S: np.ndarray, y: np.ndarray) -> float:
    """[m] Signed, as exactly as coal gives it; rotations (3, 3) and places (3) of both in the world."""
    return request(one, R, x, other, S, y).min_distance


def request(one: Any, R: np.ndarray, x: np.ndarray, other: Any, S: np.ndarray, y: np.ndarray) -> Any:
    asked = coal.DistanceRequest()
    asked.gjk_tolerance = asked.epa_tolerance = 1e-12
    asked.gjk_max_iterations = asked.epa_max_iterations = 1000
    asked.enable_signed_distance = True
    found = coal.DistanceResult()
    coal.distance(one, coal.Transform3s(R, x), other, coal.Transform3s(S, y), asked, found)
    return found


def of_shape(shape: Shape) -> Any:
    return geometry(shape.kind, shape.halves, shape.radius)


def placed(shape: Shape, R: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and place of a shape on a link with rotation R at x."""
    return R @ np.reshape(shape.rotation, (3, 3)), x + R @ np.array(shape.centre)
