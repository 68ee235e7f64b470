"""Distances of a robot's links by name (`generate --clearance`): the two nearest, in words, at poses and along motions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.base.options import option
from diffpbd.runtime.model.obstacles import NOTHING, Placed, expect_shapes, obstacles, rows_of
from diffpbd.runtime.model.robot import Robot

__all__ = [
    "KEPT",
    "NEAREST",
    "Distances",
    "apart_throughout",
    "distance_option",
    "distances_of",
    "expect_apart",
    "least_distance",
    "near",
    "obstacles",
]

KEPT = 0.02
"""[m] Default distance between links in planned motions."""
NEAREST = 1.0
"""[m] Largest distance to keep, and largest overlap to allow."""
FINEST = 1e-5
"""[s] Finest time step of the proof that a motion keeps its distance."""
PROBES = 7
"""[1] Number of poses that decide which joints move which distance."""


class Distances:
    """Distances of a robot's shapes from each other and from the obstacles `placed`, at parameters alpha, with their names."""

    def __init__(self, robot: Robot, alpha: FloatArray, placed: Placed = NOTHING) -> None:
        clearance = expect_shapes(robot, "Distances")
        self.robot, self.alpha, self.placed = robot, alpha, bool(placed)
        self._given = obstacles(robot, **placed)
        own = {shape.name for shape in clearance.shapes}
        own |= {f"{kind} {k}" for kind in placed for k in range(len(rows_of(kind, placed[kind])))}
        self._kept = np.array([k for k, row in enumerate(clearance.rows) if row[1] in own], dtype=np.intp)
        self.pairs = tuple((clearance.rows[k][0], clearance.rows[k][1]) for k in self._kept)
        """Names of both sides of every distance."""
        self.reach = np.array(clearance.reach)
        """[m or 1] How far a point of a shape moves at most per unit of every joint."""

    def at(self, q: FloatArray) -> FloatArray:
        """Distances (…, pairs) [m] at poses (…, n_p)."""
        found = np.asarray(self._call("clearance", q), dtype=np.float64)
        return np.asarray(found[..., self._kept])

    def slopes(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Distances and their derivatives (…, pairs, n)."""
        found = self._call("jac_clearance", q)
        return np.asarray(found.distance)[..., self._kept], np.asarray(found.ddistance_dp)[..., self._kept, :]

    def _call(self, name: str, q: FloatArray) -> Any:
        given: dict[str, Any] = dict(self._given)
        if q.ndim > 1:
            given = {kind: np.broadcast_to(x, (len(q), *x.shape)) for kind, x in given.items()}
        return self.robot.function(name)(q, **given, alpha=self.alpha)

    def moving(self) -> FloatArray:
        """(pairs, n) 1 where a joint moves a pair's distance, else 0; by derivatives at a few poses."""
        low, high = self.robot.limits.lower, self.robot.limits.upper
        low, high = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
        poses = low + (high - low) * np.random.default_rng(0).random((PROBES, self.robot.n))
        return np.asarray(np.any(self.slopes(poses)[1] != 0.0, axis=0), dtype=np.float64)

    def words(self, distances: FloatArray) -> str:
        """The nearest pair of distances (pairs), such as "wrist and base are 0.012 m into each other"."""
        k = int(np.argmin(distances))
        one, other = self.pairs[k]
        d = float(distances[k])
        return f"{one} and {other} are {abs(d):.4f} m {'into each other' if d < 0.0 else 'apart'}"


def distances_of(robot: Robot, alpha: FloatArray, placed: Placed = NOTHING) -> Distances | None:
    """`Distances` of a robot that has them between its links or from what is placed; None for others."""
    if robot.manifest.clearance is None and not placed:
        return None
    found = Distances(robot, alpha, placed)
    return found if found.pairs else None


def distance_option(usual: float) -> Any:
    """The field `clearance` [m] of a job, `usual` by default."""
    return option(
        f"Links stay so far [m] from each other (default {usual:g}, where ROBOT was generated with --clearance; below 0: wide "
        "shapes may overlap by as much).", None, span=(-NEAREST, NEAREST), unit="m", metavar="M",
    )  # fmt: skip


def least_distance(robot: Robot, asked: float | None, usual: float = 0.0, placed: Placed = NOTHING) -> float | None:
    """The distance [m] to keep: `asked`, else `usual` for a robot that has distances between its links or from what is placed,
    else None."""
    if asked is not None:
        expect_shapes(robot, f"{arg.clearance}")
    return usual if asked is None and distances_of(robot, robot.alpha.defaults, placed) is not None else asked


def near(
    robot: Robot, alpha: FloatArray, least: float | None, placed: Placed = NOTHING
) -> Callable[[FloatArray], str] | None:
    """A function of the pose q [rad]: which two shapes are nearer than `least` [m], in words, or empty; None without
    distances or `least`."""
    distances = None if least is None else distances_of(robot, alpha, placed)
    if distances is None or least is None:
        return None
    plain = not distances._given
    fast = robot.fixed("clearance", alpha) if plain else None

    def found(q: FloatArray) -> str:
        values = distances.at(q) if fast is None else fast(q)
        return "" if values.min() >= least else f"{distances.words(values)}, {_asked(least)}"

    return found


def expect_apart(
    robot: Robot,
    alpha: FloatArray,
    least: float | None,
    poses: Iterable[FloatArray],
    what: str,
    placed: Placed = NOTHING,
) -> None:
    """An InputError that names `what` if shapes are nearer than `least` [m] at a pose; poses with NaN are skipped."""
    distances = None if least is None else distances_of(robot, alpha, placed)
    every = [q for q in poses if not np.isnan(q).any()]
    if distances is None or least is None or not every:
        return
    values = distances.at(np.array(every))
    k = int(np.argmin(values.min(axis=1)))
    if values[k].min() < least:
        raise InputError(f"The {what} cannot be reached: {distances.words(values[k])}, {_asked(least)}.")


def _asked(least: float) -> str:
    return (
        f"{least:g} m are asked"
        if least > 0.0
        else "they may not touch"
        if least == 0.0
        else f"{-least:g} m are allowed"
    )


def apart_throughout(
    distances: Distances,
    least: float,
    time: FloatArray,
    motion: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    acceleration: FloatArray,
) -> bool:
    """Proves whether shapes stay `least` [m] apart also between the times (samples,) [s]; `motion` gives positions and rates
    (samples, n), `acceleration` (n,) bounds accelerations.

    A distance changes at most by its joints' rates times their reach. If that does not decide between two times, the interval
    is halved, down to `FINEST` s.
    """
    moved = distances.moving()
    start, end = time[:-1], time[1:]
    while len(start):
        span = end - start
        (q0, dq0), (q1, dq1) = motion(start), motion(end)
        rates = np.maximum(np.abs(dq0), np.abs(dq1)) + 0.5 * span[:, None] * acceleration
        d0, d1 = distances.at(q0), distances.at(q1)
        if min(d0.min(), d1.min()) < least:
            return False
        change = (rates * distances.reach) @ moved.T * span[:, None]
        open_ = ((0.5 * (d0 + d1 - change)) < least).any(axis=1)
        if (span[open_] < FINEST).any():
            return False
        middle = 0.5 * (start + end)[open_]
        start, end = np.concatenate([start[open_], middle]), np.concatenate([middle, end[open_]])
    return True
