"""Springs on chosen joints in the torque form.

The torque is not linear in all numbers of such a spring, but it is a smooth function of one joint's position, so over the
recorded positions it is a Chebyshev series whose coefficients are functions of the numbers. The recordings are condensed over
the polynomials, once, and the solver sees the exact law at the nodes of the series.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.folder.manifest import Element
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["AttachedSpring", "attached_springs", "geometry_of", "scales_of", "started"]

DEGREE = 64
"""Terms of the series. Over 3 rad a spring of arms 6 and 15 cm needs 40 for rounding error, wherever it closes."""
CLOSE = 1e-6
"""[1] Error of the series, as part of the largest torque, above which it is told."""
CHECKED = 2000
"""Angles at which it is compared with the law."""


@dataclass(frozen=True)
class AttachedSpring:
    """One spring over the positions from `low` to `high` [rad or m] of a joint (the `at`-th): `terms` of its series, or one,
    its torque itself, where no number of it is unknown. `places` are those in alpha of its numbers that it is
    not linear in, `others` those without which no other spring acts."""

    element: Element
    joint: str
    at: int
    places: tuple[int, ...]
    others: tuple[int, ...]
    low: float
    high: float
    terms: int

    def has(self, name: str) -> bool:
        """Whether an entry of alpha is one of this spring's."""
        return name in self.element.entries(self.joint)

    def columns(self, robot: Robot, q: FloatArray, alpha: FloatArray) -> FloatArray:
        """What the sensor's torque is linear in (samples, terms), at positions q of the joint."""
        if self.terms == 1:
            return -self.torque(robot, q, alpha).reshape(-1, 1)
        return np.asarray(-np.polynomial.chebyshev.chebvander(self._scaled(q), self.terms - 1), dtype=np.float64)

    def coefficients(self, robot: Robot, alpha: Any) -> Any:
        """Their coefficients (terms) at a symbolic alpha."""
        if self.terms == 1:
            return casadi.SX.ones(1)
        turns = np.pi * (np.arange(self.terms) + 0.5) / self.terms
        nodes = 0.5 * (self.low + self.high) + 0.5 * (self.high - self.low) * np.cos(turns)
        law, values = robot.casadi("spring_torque"), casadi.SX(alpha)
        values[list(self.others)] = 0.0
        torque = []
        for node in nodes.tolist():
            p = np.zeros(robot.n)
            p[self.at] = node
            torque.append(law(p, values)[self.at])
        transform = 2.0 / self.terms * np.cos(np.outer(np.arange(self.terms), turns))
        transform[0] /= 2.0
        return casadi.mtimes(casadi.DM(transform), casadi.vertcat(*torque))

    def torque(self, robot: Robot, q: FloatArray, alpha: FloatArray) -> FloatArray:
        """The law at positions q (k,) of the joint: torque on it [N·m or N]."""
        p = np.zeros((len(q), robot.n))
        p[:, self.at] = q
        without = alpha.copy()
        without[list(self.others)] = 0.0
        return np.asarray(robot.spring_torque(p, without), dtype=np.float64)[:, self.at]

    def note(self, robot: Robot, coefficients: FloatArray, alpha: FloatArray) -> list[str]:
        """A sentence where the series is not the law: a spring whose torque has a kink, as at length zero."""
        if self.terms == 1:
            return []
        q = np.linspace(self.low, self.high, CHECKED)
        law = self.torque(robot, q, alpha)
        off = float(np.abs(law + self.columns(robot, q, alpha) @ coefficients).max())
        if off <= CLOSE * np.abs(law).max():
            return []
        return [
            f"The torque of {self.element.name} at {self.joint} has a kink within the recorded positions: there it is fitted "
            f"to within {off:.2g} N·m only"
        ]

    def _scaled(self, q: FloatArray) -> FloatArray:
        return np.asarray((2.0 * q - self.low - self.high) / (self.high - self.low), dtype=np.float64)


def attached_springs(robot: Robot, names: Sequence[str], samples: Sequence[Samples]) -> tuple[AttachedSpring, ...]:
    """Every spring on a chosen joint over the positions of these recordings, of which these names are unknown."""
    alpha, every = robot.alpha, [(element, joint) for element in robot.manifest.elements for joint in element.joints]
    found = []
    for element, joint in every:
        at = robot.joints.index(joint)
        low, high = min(float(s.q[:, at].min()) for s in samples), max(float(s.q[:, at].max()) for s in samples)
        unknown = any(name in element.entries(joint) for name in names) and high > low
        sizes = [name for one, k in every if (one, k) != (element, joint) for name in one.entries(k, one.linear)]
        others = (*alpha.indices("spring.stiffness"), *map(alpha.index, sizes))
        places = tuple(map(alpha.index, element.entries(joint, element.geometry))) if element.geometry else ()
        found.append(AttachedSpring(element, joint, at, places, others, low, high, DEGREE if unknown else 1))
    return tuple(found)


def geometry_of(robot: Robot) -> frozenset[str]:
    """Entries of alpha that the torque of such springs is not linear in."""
    return frozenset(_entry(e, number, joint) for e, number, joint, _ in _numbers(robot) if number in e.geometry)


def scales_of(robot: Robot) -> dict[str, float]:
    """Usual sizes of the entries of alpha of such springs."""
    return {_entry(element, number, joint): scale for element, number, joint, scale in _numbers(robot)}


def started(robot: Robot, name: str, start: float) -> float:
    """What a search begins with for an entry of alpha that is `start`: without what its torque is linear in, no other number
    of a spring has an effect."""
    sizes = {_entry(e, number, joint): scale for e, number, joint, scale in _numbers(robot) if number in e.linear}
    return sizes.get(name, start) if start == 0.0 else start


def _numbers(robot: Robot) -> Iterator[tuple[Element, str, str, float]]:
    for element in robot.manifest.elements:
        for number, scale in zip(element.numbers, element.scales, strict=True):
            for joint in element.joints:
                yield element, number, joint, scale


def _entry(element: Element, number: str, joint: str) -> str:
    return f"{element.name}.{number}.{joint}"
