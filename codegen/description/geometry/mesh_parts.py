"""A mesh as several capsules: triangles are cut by planes, and every part has a capsule of its own.

A cut divides the triangles that it meets, so that each part holds all corners of its pieces; its capsule, which is convex, then
holds the pieces, and all capsules together hold the surface. The cut that saves most is made first: planes across the three
principal directions of a part are tried at several heights, roughly, and the best of them is fitted. Of all counts so found the
one is taken whose capsules are each worth their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from diffpbd.codegen.description.geometry.capsules import Capsule, fitted, roughly

Array = npt.NDArray[np.float64]

MOST: Final = 8
"""[1] Capsules of a mesh."""
HEIGHTS: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""[1] Of a part's extent, where cuts are tried."""
WORTH: Final = 0.9
"""[1] Share of the volume that a capsule more must leave at most, on average."""
TOGETHER: Final = 1e-12
"""[m] From a cut at which a corner lies on it."""


@dataclass(frozen=True)
class _Part:
    """Triangles (k, 3, 3) [m] and the capsule about their corners."""

    triangles: Array
    capsule: Capsule

    @cached_property
    def halves(self) -> tuple[_Part, _Part] | None:
        """The best of its cuts, None where there is none."""
        return _divided(self.triangles)


def capsules_of(triangles: Array, most: int) -> list[Capsule]:
    """At most so many capsules that hold triangles (k, 3, 3) [m] together; the same for the same triangles."""
    parts = [_part(triangles)]
    found = [[part.capsule for part in parts]]
    while len(parts) < most and any(part.halves for part in parts):
        saved = [-np.inf if p.halves is None else p.capsule.volume - _volume(p.halves) for p in parts]
        best = int(np.argmax(saved))
        parts[best : best + 1] = parts[best].halves or ()
        found.append([part.capsule for part in parts])
    return min(found, key=lambda own: sum(capsule.volume for capsule in own) / WORTH ** len(own))


def _part(triangles: Array) -> _Part:
    return _Part(triangles, fitted(_corners(triangles)))


def _corners(triangles: Array) -> Array:
    from diffpbd.codegen.description.read.meshes import hull

    return hull(np.unique(triangles.reshape(-1, 3), axis=0))[0]


def _volume(parts: tuple[_Part, _Part]) -> float:
    return parts[0].capsule.volume + parts[1].capsule.volume


def _divided(triangles: Array) -> tuple[_Part, _Part] | None:
    points = _corners(triangles)
    centre = points.mean(axis=0)
    best: tuple[float, Any] | None = None
    for axis in np.linalg.svd(points - centre, full_matrices=False)[2]:
        along = points @ axis
        for share in HEIGHTS:
            sides = cut(triangles, axis, float(along.min() + share * np.ptp(along)))
            if all(len(side) for side in sides):
                volume = sum(roughly(np.unique(side.reshape(-1, 3), axis=0)) for side in sides)
                if best is None or volume < best[0]:
                    best = volume, sides
    return None if best is None else (_part(best[1][0]), _part(best[1][1]))


def cut(triangles: Array, axis: Array, height: float) -> tuple[Array, Array]:
    """Triangles below and above a plane across a unit vector, those that it meets divided."""
    h = triangles @ axis - height
    h[np.abs(h) < TOGETHER] = 0.0
    below, above = (h <= 0.0).all(axis=1), (h >= 0.0).all(axis=1)
    met = ~(below | above)
    corners, far = triangles[met], h[met]
    up = far > 0.0
    alone = np.where(up.sum(axis=1) == 1, np.argmax(up, axis=1), np.argmin(far, axis=1))
    two_up = up.sum(axis=1) == 2
    alone = np.where(two_up, np.argmin(far, axis=1), alone)
    order = (alone[:, None] + np.arange(3)) % 3
    corners, far = np.take_along_axis(corners, order[:, :, None], 1), np.take_along_axis(far, order, 1)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = a + np.nan_to_num(far[:, 0] / (far[:, 0] - far[:, 1]))[:, None] * (b - a)
        q = a + np.nan_to_num(far[:, 0] / (far[:, 0] - far[:, 2]))[:, None] * (c - a)
    tip = np.stack([a, p, q], axis=1)
    rest = np.concatenate([np.stack([p, b, c], axis=1), np.stack([p, c, q], axis=1)])
    high = far[:, 0] > 0.0
    low_parts = [triangles[below], tip[~high], rest[np.tile(high, 2)]]
    high_parts = [triangles[above & ~below], tip[high], rest[np.tile(~high, 2)]]
    return np.concatenate(low_parts), np.concatenate(high_parts)
