"""Obstacles at run time: their rows by kind, checked, and filled up for a robot."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.manifest import OBSTACLES
from diffpbd.runtime.functions.function import as_array
from diffpbd.runtime.model.robot import Robot

__all__ = ["NOTHING", "Placed", "expect_shapes", "obstacles", "rows_of"]

Placed: TypeAlias = "Mapping[str, npt.ArrayLike]"
"""Rows of obstacles by kind."""
NOTHING: Placed = MappingProxyType({})
FAR = 1e4
"""[m] Position of unused obstacles; none is placed further away or larger."""
LEAST_SIZE = 1e-9
"""[1] A quaternion or normal shorter than this has no direction."""
COLUMNS = {
    "spheres": "centre, radius", "capsules": "both ends, radius", "boxes": "centre, quaternion wxyz, sides",
    "planes": "normal, height",
}  # fmt: skip
"""Columns of a row of each kind of obstacle, in words."""
SOLID = {
    "spheres": (slice(3, 4), slice(0)), "capsules": (slice(6, 7), slice(0)), "boxes": (slice(7, 10), slice(3, 7)),
    "planes": (slice(0), slice(0, 3)),
}  # fmt: skip
"""For each kind the columns that are lengths, and those that are a direction."""


def obstacles(robot: Robot, **given: npt.ArrayLike) -> dict[str, FloatArray]:
    """Arguments of `clearance` and related functions: `spheres`, `capsules`, `boxes`, `planes`, a row each, padded to the
    number that the robot was generated with by distant ones.

    Rows are centre (3) and radius; both ends (3, 3) and radius; centre (3), quaternion wxyz (4), sides (3); normal (3), height.
    """
    counts = expect_shapes(robot, "obstacles").obstacles
    if strange := sorted(set(given) - set(counts)):
        raise InputError(
            f"{robot.name} was generated without {', '.join(strange)}; `diffpbd generate … --clearance --obstacles "
            f"{strange[0]}=1` has them."
        )
    found: dict[str, FloatArray] = {}
    for kind, count in counts.items():
        rows = rows_of(kind, given.get(kind, ()))
        if len(rows) > count:
            raise InputError(
                f"{kind}: {len(rows)} are given, {robot.name} was generated with {count}; `diffpbd generate … --obstacles "
                f"{kind}={len(rows)}` has as many."
            )
        found[kind] = np.hstack([rows.T, np.tile(_far(kind)[:, None], count - len(rows))])
    return found


def rows_of(kind: str, given: npt.ArrayLike) -> FloatArray:
    """Rows (k, numbers) of one kind, of these or of a single one (numbers,); InputError for invalid solids."""
    size = OBSTACLES[kind]
    rows = as_array(given, kind, "obstacles")
    if rows.size == 0:
        return np.zeros((0, size))
    rows = rows[None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.shape[1] != size:
        raise InputError(f"{kind}: expected a row of {size} numbers each ({COLUMNS[kind]}), found shape {rows.shape}.")
    lengths, direction = SOLID[kind]
    for k, row in enumerate(rows):
        if (np.abs(row) > FAR).any():
            raise InputError(
                f"{kind}: row {k}: expected numbers of at most {FAR:g}, found {row.tolist()} ({COLUMNS[kind]})."
            )
        if (row[lengths] < 0.0).any():
            raise InputError(f"{kind}: row {k}: a length below 0 m, {row[lengths].min():g} ({COLUMNS[kind]}).")
        if direction.stop and not np.linalg.norm(row[direction]) > LEAST_SIZE:
            raise InputError(f"{kind}: row {k}: {row[direction].tolist()} has no direction ({COLUMNS[kind]}).")
    return rows


def _far(kind: str) -> FloatArray:
    """A distant obstacle of this kind."""
    away = {
        "spheres": [FAR, 0.0, 0.0, 0.0],
        "capsules": [FAR, 0.0, 0.0, FAR, 0.0, 1.0, 0.0],
        "boxes": [FAR, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
        "planes": [0.0, 0.0, 1.0, -FAR],
    }
    return np.array(away[kind])


def expect_shapes(robot: Robot, what: str) -> Any:
    """The shapes of a robot; an InputError for one without, where `what` needs them."""
    if robot.manifest.clearance is None:
        raise InputError(
            f"{what}: {robot.name} was generated without distances; `diffpbd generate … --clearance` makes them."
        )
    return robot.manifest.clearance
