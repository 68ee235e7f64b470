"""Pairs of shapes beside coal, and their derivatives beside differences, at random and where it is hard."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from support.judges.coal import distance, geometry

from diffpbd.codegen.graph.expressions.distances import AXES, BOX, CAPSULE, ORDER, PLANE, SPHERE, cores
from diffpbd.codegen.graph.model.parameters import SMOOTHING

PAIRS = [(a, b) for a, b in product(ORDER, ORDER) if ORDER.index(a) <= ORDER.index(b) and (a, b) != (PLANE, PLANE)]
EXACT = 1e-9  # m, of spheres and capsules
OF_BOXES = 1e-8  # m


class Shape:
    """A shape of a kind at random: rotation, place, halves, radius [m]."""

    def __init__(self, kind: str, rng: np.random.Generator) -> None:
        self.kind, self.R, self.x = kind, turn(rng.normal(size=3)), 0.2 * rng.normal(size=3)
        self.halves = {
            SPHERE: np.zeros(0),
            CAPSULE: rng.uniform(0.01, 0.3, 1),
            BOX: rng.uniform(0.02, 0.2, 3),
            PLANE: np.zeros(1),
        }[kind]
        self.radius = float(rng.uniform(0.02, 0.1)) if kind in (SPHERE, CAPSULE) else 0.0

    def moved(self, shift: np.ndarray, angle: np.ndarray) -> Shape:
        other = Shape(self.kind, np.random.default_rng(0))
        other.halves, other.radius = self.halves, self.radius
        other.R, other.x = turn(angle) @ self.R, self.x + shift
        return other

    @property
    def axes(self) -> np.ndarray:
        return self.R[:, 3 - AXES[self.kind] :]


def turn(angle: np.ndarray) -> np.ndarray:
    """By Rodrigues' formula."""
    size = float(np.linalg.norm(angle))
    x, y, z = angle / size if size else np.zeros(3)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(size) * K + (1.0 - np.cos(size)) * K @ K


def ours(a: Shape, b: Shape, smoothing: float = SMOOTHING) -> tuple[float, np.ndarray, np.ndarray]:
    """Distance [m], n and the torque about the first's centre."""
    found = cores(a.kind, b.kind)(a.x - b.x, a.axes, a.halves, b.axes, b.halves, smoothing)
    d, n, torque = (np.array(x).ravel() for x in found[:3])
    return float(d[0]) - a.radius - b.radius, n, torque


def by_coal(a: Shape, b: Shape) -> float:
    return distance(
        geometry(a.kind, a.halves, a.radius), a.R, a.x, geometry(b.kind, b.halves, b.radius), b.R, b.x
    )  # fmt: skip


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_distances_are_coals(one: str, other: str, count: Callable[[int, int], int]) -> None:
    rng = np.random.default_rng(1)
    bar = OF_BOXES if BOX in (one, other) else EXACT
    worst, deep = 0.0, 0
    for _ in range(count(200, 100_000 if one != BOX else 10_000)):
        a, b = Shape(one, rng), Shape(other, rng)
        expected = by_coal(a, b)
        deep += expected < 0.0
        worst = max(worst, abs(ours(a, b)[0] - expected))
    assert worst < bar
    assert deep > 0


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_derivatives_are_differences(one: str, other: str, count: Callable[[int, int], int]) -> None:
    """By place and by turn of the first, and of the other one that the same n and M serve; away from where faces or edges
    change, which differences over two steps tell."""
    rng, judged = np.random.default_rng(2), 0
    for _ in range(count(20, 1000)):
        a, b = Shape(one, rng), Shape(other, rng)
        _, n, torque = ours(a, b)
        about_b = torque + np.cross(a.x - b.x, n)
        for which, slope in ((0, np.append(n, torque)), (1, -np.append(n, about_b))):
            for k in range(6):

                def at(step: float, k: int = k, which: int = which, a: Shape = a, b: Shape = b) -> float:
                    way = step * np.eye(6)[k]
                    pair = [a, b]
                    pair[which] = pair[which].moved(way[:3], way[3:])
                    return ours(pair[0], pair[1])[0]

                # fourth order: the distance itself is right to 1e-16
                near, far = ((at(h) - at(-h)) / (2.0 * h) for h in (1e-4, 2e-4))
                if abs(near - far) < 1e-5:
                    judged += 1
                    assert abs((4.0 * near - far) / 3.0 - slope[k]) < 1e-8
    assert judged > 100


def capsule(x: list[float], along: list[float], half: float = 0.2, radius: float = 0.05) -> Shape:
    made = Shape(CAPSULE, np.random.default_rng(0))
    z = np.array(along) / np.linalg.norm(along)
    first = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    first /= np.linalg.norm(first)
    made.R, made.x = np.stack([first, np.cross(z, first), z], axis=1), np.array(x)
    made.halves, made.radius = np.array([half]), radius
    return made


HARD = {
    "parallel": (capsule([0, 0, 0], [0, 0, 1]), capsule([0.3, 0, 0.1], [0, 0, 1]), 0.2),
    "parallel, one after the other": (capsule([0, 0, 0], [0, 0, 1]), capsule([0, 0, 0.6], [0, 0, 1]), 0.1),
    "one and the same": (capsule([0, 0, 0], [0, 0, 1]), capsule([0, 0, 0], [0, 0, 1]), -0.1),
    "crossing": (capsule([0, 0, 0], [0, 0, 1]), capsule([0, 0, 0], [1, 0, 0]), -0.1),
    "a point": (capsule([0, 0, 0], [0, 0, 1], half=0.0), capsule([0.3, 0, 0], [0, 1, 0]), 0.2),
    "two points in one": (capsule([0, 0, 0], [0, 0, 1], half=0.0), capsule([0, 0, 0], [0, 1, 0], half=0.0), -0.1),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_capsules(case: str) -> None:
    a, b, expected = HARD[case]
    d, n, torque = ours(a, b)
    assert abs(d - expected) <= (2.0 * SMOOTHING if expected < 0.0 else EXACT)
    assert np.isfinite([*n, *torque]).all()
    assert np.linalg.norm(n) <= 1.0 + 1e-12


def test_the_derivative_is_continuous_where_witnesses_jump() -> None:
    """A capsule tilts through parallel over another: its torque runs from one end to the other while the ends' heights differ
    by less than 4 δ²/|w|."""
    base, length = capsule([0, 0, 0], [0, 0, 1]), 1e-3
    tilted = [capsule([0.3, 0, 0], [np.sin(x), 0, np.cos(x)]) for x in np.linspace(-1e-4, 1e-4, 2001)]
    torque = np.array([ours(a, base, length)[2][1] for a in tilted])
    assert torque.max() - torque.min() == pytest.approx(0.4, rel=1e-3)
    assert np.abs(np.diff(torque)).max() < 0.01 * (torque.max() - torque.min())
    turning = np.flatnonzero(np.abs(torque) < 0.19)
    angle = 4.0 * length**2 / 0.3 / 0.4
    assert (turning[-1] - turning[0]) * 1e-7 == pytest.approx(1.9 * angle, rel=0.05)
    rough = np.array([ours(a, base)[2][1] for a in tilted])
    assert np.abs(np.diff(rough)).max() > 0.1


def test_the_smoothing_keeps_its_bound() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        a, b, length = Shape(CAPSULE, rng), Shape(CAPSULE, rng), 1e-3
        exact, smooth = ours(a, b, 1e-8)[0], ours(a, b, length)[0]
        core = max(exact + a.radius + b.radius, 1e-12)
        assert -1e-12 < smooth - exact <= min(np.sqrt(2.0) * length, length**2 / core) + 1e-9


def test_a_box_pierced_by_a_thin_one_overlaps() -> None:
    """No corner and no edge of the plate is in the rod, and none of the rod's corners in the plate."""
    plate, rod = (Shape(BOX, np.random.default_rng(0)) for _ in range(2))
    plate.R, plate.x, plate.halves = np.eye(3), np.zeros(3), np.array([0.5, 0.5, 0.01])
    rod.R, rod.x, rod.halves = np.eye(3), np.array([0.1, 0.0, 0.0]), np.array([0.02, 0.02, 0.5])
    for a, b in ((plate, rod), (rod, plate)):
        assert abs(ours(a, b)[0] - by_coal(a, b)) < OF_BOXES
        assert ours(a, b)[0] == pytest.approx(-0.42, abs=1e-6)
