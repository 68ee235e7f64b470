"""The capsule of least volume about points, and about a cylinder.

A capsule is given by its axis, a line, and its radius r: with the points' heights t along the line and distances ρ from it, the
ends of the axis lie at min(t + √(r² − ρ²)) and max(t − √(r² − ρ²)), or, where these have changed places, one sphere takes all.
The line and r are searched from the points' principal directions by the simplex method of Nelder and Mead, without derivatives:
volumes have kinks where other points come to bear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from diffpbd.codegen.description.robot.robot import Vec3

Array = npt.NDArray[np.float64]

ROUNDING: Final = 1e-9
"""[m] By which a fitted radius is larger than the points ask for: rounding of places in C, and the smoothing of distances."""
SEARCHED: Final = 400
"""[1] Iterations of a search at the most; more change the volume by less than a percent."""
START: Final = 0.2
CLOSE: Final = 1e-9
"""[1] Sides of a search's first simplex, and of its last where it ends earlier."""
DIRECTIONS: Final = 500
"""[1] Of more points than these the furthest in as many directions are searched with; the radius is for all."""
SECTIONS: Final = 60
"""[1] Halvings of the way to a cylinder's best capsule."""


@dataclass(frozen=True)
class Capsule:
    """A segment between `start` and `end` [m] (3) swept by a sphere of `radius` [m]."""

    start: Vec3
    end: Vec3
    radius: float

    @property
    def length(self) -> float:
        """[m] Of the segment."""
        return math.dist(self.start, self.end)

    @property
    def volume(self) -> float:
        """[m³]."""
        return math.pi * self.radius**2 * self.length + 4.0 / 3.0 * math.pi * self.radius**3


def about_cylinder(radius: float, length: float) -> Capsule:
    """The capsule of least volume about a cylinder [m] along z.

    Its rim lies on both end spheres: with x their height over the axis' ends the radius is √(r² + x²) and the axis as much
    shorter. The volume's derivative by x changes its sign once in 0 to length/2.
    """

    def made(x: float) -> Capsule:
        z = length / 2.0 - x
        return Capsule((0.0, 0.0, -z), (0.0, 0.0, z), math.hypot(radius, x))

    low, high = 0.0, length / 2.0
    for _ in range(SECTIONS):
        x = 0.5 * (low + high)
        R = math.hypot(radius, x)
        if 4.0 * x * (length / 2.0 - x) - 2.0 * R * R + 4.0 * x * R > 0.0:
            high = x
        else:
            low = x
    found = made(high)
    return Capsule(found.start, found.end, found.radius + ROUNDING)


def fitted(points: Array) -> Capsule:
    """The capsule of least volume found about points (k, 3) [m]; the same for the same points."""
    centre = points.mean(axis=0)
    shifted = _outermost(points - centre)
    axes = np.linalg.svd(shifted, full_matrices=False)[2] if len(points) > 1 else np.eye(3)
    size = max(float(np.abs(shifted).max()), ROUNDING)
    best: tuple[float, Any] | None = None
    for axis in axes:
        frame = _frame(axis)
        x = _least(shifted, frame, size)
        volume, ends = _about(shifted, frame, size, x)
        if best is None or volume < best[0]:
            best = volume, ends
    assert best is not None
    start_, end_, radius = best[1]
    a, b = (tuple(map(float, point + centre)) for point in (start_, end_))
    needed = _reach(points, np.array(a), np.array(b))
    return Capsule((a[0], a[1], a[2]), (b[0], b[1], b[2]), max(radius, needed) + ROUNDING)


def roughly(points: Array) -> float:
    """Volume [m³] of the least of three capsules about points (k, 3) [m] along their principal directions, without a search."""
    shifted = points - points.mean(axis=0)
    size = max(float(np.abs(shifted).max()), ROUNDING)
    frames = map(_frame, np.linalg.svd(shifted, full_matrices=False)[2] if len(points) > 1 else np.eye(3))
    return min(_about(shifted, frame, size, _middle(shifted, frame, size))[0] for frame in frames)


def _middle(points: Array, frame: Array, size: float) -> Array:
    """The line of `_about` midway between the points."""
    across = points @ frame[:2].T
    return np.array([0.0, 0.0, *((across.min(axis=0) + np.ptp(across, axis=0) / 2.0) / size), 0.0])


def _outermost(points: Array) -> Array:
    """The points that are furthest in some direction."""
    if len(points) <= DIRECTIONS:
        return points
    k = np.arange(DIRECTIONS) + 0.5
    height, angle = 1.0 - 2.0 * k / DIRECTIONS, np.pi * (1.0 + np.sqrt(5.0)) * k
    across = np.sqrt(1.0 - height**2)
    ways = np.stack([across * np.cos(angle), across * np.sin(angle), height])
    return np.asarray(points[np.unique(np.argmax(points @ ways, axis=0))])


def _frame(axis: Array) -> Array:
    """Rows of a frame whose last is the axis."""
    least = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(least, axis)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis])


def _about(points: Array, frame: Array, size: float, x: Array) -> tuple[float, Any]:
    """Volume and (start, end, radius) about points on a line near the frame's last axis: tilted by x[0:2], moved by x[2:4] in
    units of `size`, with a radius larger than needed by the factor 1 + x[4]²."""
    axis = frame[2] + x[0] * frame[0] + x[1] * frame[1]
    axis = axis / np.linalg.norm(axis)
    place = size * (x[2] * frame[0] + x[3] * frame[1])
    t = (points - place) @ axis
    across = points - place - t[:, None] * axis
    square = np.einsum("ij,ij->i", across, across)
    radius = float(np.sqrt(square.max())) * (1.0 + x[4] ** 2)
    room = np.sqrt(np.maximum(radius**2 - square, 0.0))
    low, high = float((t + room).min()), float((t - room).max())
    if low > high:
        low = high = 0.5 * (low + high)
    volume = math.pi * radius**2 * (high - low) + 4.0 / 3.0 * math.pi * radius**3
    return volume, (place + low * axis, place + high * axis, radius)


def _reach(points: Array, start: Array, end: Array) -> float:
    """The greatest distance [m] of points from a segment."""
    way = end - start
    square = float(way @ way)
    t = np.clip((points - start) @ way / square, 0.0, 1.0) if square > 0.0 else np.zeros(len(points))
    return float(np.linalg.norm(points - start - t[:, None] * way, axis=1).max())


def _least(points: Array, frame: Array, size: float) -> Array:
    """The x of `_about` with the least volume that is found, from the line midway between the points."""
    from scipy import optimize

    first = _middle(points, frame, size)
    simplex = np.vstack([first, *(first + START * row for row in np.eye(len(first)))])
    options = {"initial_simplex": simplex, "maxiter": SEARCHED, "xatol": CLOSE, "fatol": 0.0}
    minimize: Any = optimize.minimize
    found = minimize(lambda x: _about(points, frame, size, x)[0], first, method="Nelder-Mead", options=options)
    return np.asarray(found.x)
