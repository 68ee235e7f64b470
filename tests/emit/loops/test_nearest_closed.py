"""`close_loops` gives the nearest closed pose: judged by all of random mechanisms, by the closed form of the triangle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.robots import generated
from support.small.closed_robots import case

from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import SolverError

TURN = 2 * np.pi
FEWEST = 200
"""Closed poses of a grid without which random lengths make no mechanism."""


def joined(A: Any, B: Any, a: float, b: float) -> list[tuple[Any, Any, Any]]:
    """Where two bars of lengths a and b from the points A and B meet (complex numbers): which do, and angles of both bars."""
    way = B - A
    with np.errstate(invalid="ignore", divide="ignore"):
        bent = np.arccos((a * a + np.abs(way) ** 2 - b * b) / (2 * a * np.abs(way)))
    ok, found = np.isfinite(bent), []
    for sign in (1, -1):
        one = np.angle(way) + sign * bent
        found.append((ok, one, np.angle(A + a * np.exp(1j * one) - B)))
    return found


def four_bar(lengths: Any, fine: int = 2000) -> Any:
    """Closed poses of a four-bar (crank, coupler, rocker, ground) on a grid of its crank."""
    a, c, r, g = lengths
    crank = np.linspace(-np.pi, np.pi, fine, endpoint=False)
    ends = joined(a * np.exp(1j * crank), g + 0j * crank, c, r)
    return np.vstack([np.stack([crank, one - crank, other], 1)[ok] for ok, one, other in ends])


def five_bar(lengths: Any, fine: int = 150) -> Any:
    """Closed poses of a five-bar (both inner, both outer arms, ground) on a grid of its motors."""
    a, c, b, d, g = lengths
    left, right = (x.ravel() for x in np.meshgrid(*[np.linspace(-np.pi, np.pi, fine, endpoint=False)] * 2))
    ends = joined(a * np.exp(1j * left), g + b * np.exp(1j * right), c, d)
    return np.vstack([np.stack([left, one - left, right, other - right], 1)[ok] for ok, one, other in ends])


def gap(lengths: Any, p: Any) -> float:
    """Between the ends of both chains, which begin at 0 and on the ground."""
    left, right = lengths[:2], lengths[2:-1]
    ends = [
        sum(a * np.exp(1j * x) for a, x in zip(bars, np.cumsum(q), strict=True))
        for bars, q in ((left, p[:2]), (right, p[2:]))
    ]
    return float(abs(ends[0] - ends[1] - lengths[-1]))


FOUR = ("origin.j2.x", "loop.origin.four_bar.parent.x", "loop.origin.four_bar.child.x", "origin.j3.x")
FIVE = (
    "origin.j2.x", "loop.origin.five_bar.parent.x", "origin.j4.x", "loop.origin.five_bar.child.x", "origin.j3.x",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "entries", "poses", "grid"), [("four_bar", FOUR, four_bar, 3e-3), ("five_bar", FIVE, five_bar, 3e-2)]
)
def test_nearest_of_random_mechanisms(
    name: str, entries: tuple[str, ...], poses: Callable[[Any], Any], grid: float, count: Callable[[int, int], int]
) -> None:
    """From poses all over a turn; no pose of the grid is nearer (a grid is wide by `grid`), and it is a pose of the grid."""
    robot, rng, tried = case(name).robot, np.random.default_rng(7), 0
    still = np.zeros(robot.n)
    while tried < count(6, 300):
        lengths = rng.uniform(0.2, 1.0, len(entries))
        every, alpha = poses(lengths), dict(zip(entries, lengths, strict=True))
        if len(every) < FEWEST:
            continue
        tried += 1
        assert np.abs(robot.loop_residual(every[0], still, alpha=alpha).rows).max() < 1e-12
        for target in rng.uniform(-np.pi, np.pi, (10, robot.n)):
            p = robot.close_loops(target, still, alpha=alpha)
            away = np.linalg.norm((every - target + np.pi) % TURN - np.pi, axis=1).min()
            assert np.linalg.norm(p - target) < away + grid
            assert gap(lengths, p) < 1e-11


@pytest.fixture(scope="module")
def crank(shared: Path) -> Robot:
    recipe = shared / "cases" / "Q06-crank-rocker-branch" / "crank.toml"
    return load(generated(str(recipe), functions=("joint_step",)))


def two(crank: float) -> Any:
    """Both closed poses of the crank-rocker of Q06 at an angle of its drive."""
    ends = joined(np.array([0.25 * np.exp(1j * crank)]), np.array([0.8 + 0j]), 0.9, 0.6)
    return np.array([[crank, one[0] - crank, other[0]] for ok, one, other in ends if ok[0]])


def test_crank_rocker_stays_near(crank: Robot, count: Callable[[int, int], int]) -> None:
    """A crank moved by up to half a turn and kept there: never refused, and the nearer of the two poses, turns allowed."""
    rng = np.random.default_rng(8)
    for k in range(count(150, 3000)):
        start = two(rng.uniform(-np.pi, np.pi))[k % 2]
        target = start + [rng.uniform(-3.1, 3.1), 0.0, 0.0]
        p = crank.close_loops(target, [1, 0, 0])
        assert p[0] == target[0]
        ways = (two(p[0]) - p + np.pi) % TURN - np.pi
        assert np.abs(ways).max(axis=1).min() < 1e-9
        away = np.linalg.norm((two(p[0]) - target + np.pi) % TURN - np.pi, axis=1).min()
        assert np.linalg.norm(p - target) < away + 1e-9


def test_crank_rocker_keeps_its_branch(crank: Robot) -> None:
    """Whole turns of a rollout by the closed form."""
    for branch in (0, 1):
        p = crank.close_loops(two(0.3)[branch], np.zeros(3))
        fast = 40.0 * (two(0.3 + 1e-6) - two(0.3 - 1e-6))[branch] / 2e-6
        P, _ = crank.rollout(p, crank.close_rates(p, fast), np.zeros((500, 3)), h=0.002)
        assert np.ptp(P[:, 0]) > 2 * TURN
        off = [((two(q[0])[branch] - q + np.pi) % TURN - np.pi) for q in P]
        assert np.abs(off).max() < 1e-12


def test_what_is_out_of_reach_is_said_fast(crank: Robot) -> None:
    with pytest.raises(SolverError, match="did not close"):
        crank.close_loops([0.3, 2.0, 1.0], [1, 1, 0])
