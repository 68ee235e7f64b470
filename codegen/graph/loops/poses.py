"""Closed poses of a robot's loops, found by numbers from seeded starts, and the names of the rows that are closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from diffpbd.codegen.description.geometry.rigid import norm
from diffpbd.codegen.description.robot.robot import Loop, Robot
from diffpbd.codegen.graph.model.attached import frame_of
from diffpbd.codegen.laws.cuts import ROWS

STARTS: Final = 40
"""Seeded starts of the search for closed poses."""
FEWEST: Final = 8
"""Closed poses without which nothing is said of the rank."""
CLOSED: Final = 1e-12
"""[m, 1] Residual of a closed pose."""
FAR: Final = 0.3
"""[rad or m] Longest change of a coordinate in one iteration."""
FURTHEST: Final = 100.0
"""[rad or m] From the pose next to zero; limits beyond are another way to write none."""
ITERATIONS: Final = 200
CUT_OFF: Final = 1e-7
"""[1] Singular values below this part of the largest are taken for zero while a loop is being closed."""
SEED: Final = 20261128

Array = Any


@dataclass(frozen=True)
class Probe:
    """Rows of a robot's loops as functions of the coordinates (n), at the defaults of alpha: `rows` gives g (m) and A (m × n),
    `by_alpha` ∂g/∂alpha (m × entries). They are all rows, or those of `order`."""

    robot: Robot
    rows: Callable[[Array], tuple[Array, Array]]
    by_alpha: Callable[[Array], Array]
    entries: tuple[str, ...]
    order: tuple[int, ...] | None = None

    @cached_property
    def scale(self) -> Array:
        """One over the loop's size [1/m] for rows that are lengths, 1 for the others (m)."""
        found = scales(self.robot)
        return found if self.order is None else found[list(self.order)]

    def gradient(self, p: Array) -> Array:
        """A at a pose, rows scaled."""
        return self.scale[:, None] * self.rows(p)[1]

    def spectrum(self, p: Array) -> Array:
        """Its singular values, the largest first."""
        return np.linalg.svd(self.gradient(p), compute_uv=False)

    def only(self, order: Sequence[int]) -> Probe:
        """The rows of `order` alone."""
        own = list(order)

        def rows(p: Array) -> tuple[Array, Array]:
            g, A = self.rows(p)
            return g[own], A[own]

        return replace(self, rows=rows, by_alpha=lambda p: self.by_alpha(p)[own], order=tuple(own))


def scales(robot: Robot) -> Array:
    """One over the loop's size [1/m] for rows that are lengths, 1 for the others."""
    scales: list[float] = []
    for loop in robot.loops:
        lengths = [norm(loop.parent_translation), norm(loop.child_translation)]
        for link in (loop.parent, loop.child):
            while link >= 0:
                lengths.append(norm(robot.joints[link].translation))
                link = robot.joints[link].parent
        size = max(max(lengths), 1e-3)
        scales += [1.0 / size if row.startswith(("gap", "distance")) else 1.0 for row in ROWS[loop.type.value]]
    return np.array(scales)


def row_names(loop: Loop) -> tuple[str, ...]:
    """Names of all rows: axes of the cut frame by their letter where they lie along one."""
    axes = frame_of(loop)
    letters = {}
    for part, axis in zip(("1", "2", "axis"), axes, strict=True):
        along = [letter for letter, x in zip("xyz", axis, strict=True) if abs(x) == 1.0]
        letters[part] = along[0] if along else part
    names = []
    for row in ROWS[loop.type.value]:
        what, _, part = row.rpartition("_")
        names.append(f"{loop.name}.{what}_{letters[part]}" if what else f"{loop.name}.{row}")
    return tuple(names)


def _bounds(robot: Robot) -> tuple[Array, Array]:
    """Where starts are drawn from: the limits where they are some, or a turn and a metre to either side."""
    joints = [robot.joints[i] for i in robot.independent]
    wide = [1.0 if j.type.slides else np.pi for j in joints]
    low = np.array([-w if j.lower is None else j.lower for j, w in zip(joints, wide, strict=True)])
    high = np.array([w if j.upper is None else j.upper for j, w in zip(joints, wide, strict=True)])
    low, high = np.minimum(low, high), np.maximum(low, high)
    nearest = np.clip(0.0, low, high)
    return np.maximum(low, nearest - FURTHEST), np.minimum(high, nearest + FURTHEST)


def inside_limits(robot: Robot, p: Array) -> bool:
    """Whether every coordinate is."""
    joints = [robot.joints[i] for i in robot.independent]
    return all(
        (j.lower is None or x >= min(j.lower, j.upper if j.upper is not None else j.lower) - 1e-9)
        and (j.upper is None or x <= max(j.upper, j.lower if j.lower is not None else j.upper) + 1e-9)
        for j, x in zip(joints, p, strict=True)
    )


def close(probe: Probe, p: Array, cut_off: float = CUT_OFF, least: float = 1e-15) -> tuple[Array, float]:
    """The closed pose nearest to p by Gauss-Newton with least change on all rows, and what is left;
    `least` [rad or m] is the change after which it stops."""
    best, left, step, change = p, np.inf, 1.0, np.zeros(len(p))
    for _ in range(ITERATIONS):
        g, A = probe.rows(p)
        size = float(np.linalg.norm(g))
        if size < left:
            best, left, step = p, size, min(1.0, 2.0 * step)
            change = -np.linalg.lstsq(A, g, rcond=cut_off)[0]
        else:
            step *= 0.5
        longest = step * float(np.abs(change).max())
        if longest < least:
            break
        p = best + step * change * min(1.0, FAR / longest)
    return best, left


def starts(probe: Probe) -> Iterator[Array]:
    """Poses from which closed ones are looked for: half of them all over the limits, then as many about the zero pose, further
    away one after another: of many joints a random pose is far from any closed one."""
    rng, (low, high) = np.random.default_rng(SEED), _bounds(probe.robot)
    for k in range(2 * STARTS):
        wide = 0.5 * ((k - STARTS) / STARTS) ** 2
        yield rng.uniform(low, high) if k < STARTS else np.clip(wide * rng.standard_normal(len(low)), low, high)


def closed_poses(probe: Probe) -> tuple[list[Array], tuple[Array, float]]:
    """Closed poses, those inside the limits where they suffice; and the pose that comes nearest, with its residual. Starts
    about the zero pose are made where too few of those all over the limits close."""
    inside: list[Array] = []
    outside: list[Array] = []
    nearest: tuple[Array, float] = (np.zeros(len(probe.robot.independent)), np.inf)
    for k, start in enumerate(starts(probe)):
        if k == STARTS and len(inside) + len(outside) >= FEWEST:
            break
        p, left = close(probe, start)
        if left < nearest[1]:
            nearest = (p, left)
        if left < CLOSED:
            (inside if inside_limits(probe.robot, p) else outside).append(p)
    return (inside if len(inside) >= FEWEST else [*inside, *outside]), nearest
