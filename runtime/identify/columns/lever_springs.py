"""Lever springs in the torque form, and what a joint's torque says about them.

The torque is not linear in a lever spring's numbers, but it is a smooth function of one joint's angle, so over the recorded
angles it is a Chebyshev series whose coefficients are functions of the numbers. The recordings are condensed over the
polynomials, once, and the solver sees the exact law at the nodes of the series.

With l₁, l₂ the arms and x the length, τ = k l₁ l₂ (1 − x_rest/x) sin(α + p). All lengths times c with k / c² have the same
torque, so one length must be known; and l₂/l₁ enters through 2 l₁ l₂ / (l₁² + l₂²) alone, so its inverse does as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.logs.processing import Samples
from diffpbd.runtime.model.robot import Robot

__all__ = ["GEOMETRY", "Combination", "Lever", "combinations", "levers", "scaled"]

PREFIX = "lever_spring."
PARTS = ("stiffness", "arm_1", "arm_2", "rest")
"""What lengths and stiffness trade between."""
GEOMETRY = tuple(f"{PREFIX}{part}." for part in ("arm_1", "arm_2", "angle", "rest"))
"""Beginnings of the names of what its torque is not linear in."""
START = 1000.0
"""[N/m] Stiffness that the search begins with where alpha has none: without stiffness nothing else has an effect."""
DEGREE = 64
"""Terms of the series. Over 3 rad a spring of arms 6 and 15 cm needs 40 for rounding error, wherever it closes."""
CLOSE = 1e-6
"""[1] Error of the series, as part of the largest torque, above which it is told."""
CHECKED = 2000
"""Angles at which it is compared with the law."""


@dataclass(frozen=True)
class Lever:
    """One lever spring over the angles from `low` to `high` [rad] of a joint (the `at`-th): `terms` of its series, or one, its
    torque itself, where no number of it is unknown. `places` are those of its `GEOMETRY` in alpha."""

    joint: str
    at: int
    places: tuple[int, ...]
    low: float
    high: float
    terms: int

    def has(self, name: str) -> bool:
        """Whether an entry of alpha is one of this spring's."""
        return name.startswith(PREFIX) and name.endswith(f".{self.joint}")

    def columns(self, robot: Robot, q: FloatArray, alpha: FloatArray) -> FloatArray:
        """What the sensor's torque is linear in (samples, terms), at angles q of the joint."""
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
        values[list(robot.alpha.indices("spring.stiffness"))] = 0.0
        torque = []
        for node in nodes.tolist():
            p = np.zeros(robot.n)
            p[self.at] = node
            torque.append(law(p, values)[self.at])
        transform = 2.0 / self.terms * np.cos(np.outer(np.arange(self.terms), turns))
        transform[0] /= 2.0
        return casadi.mtimes(casadi.DM(transform), casadi.vertcat(*torque))

    def torque(self, robot: Robot, q: FloatArray, alpha: FloatArray) -> FloatArray:
        """The law at angles q (k,) of the joint: torque on it [N·m]."""
        p = np.zeros((len(q), robot.n))
        p[:, self.at] = q
        without = alpha.copy()
        without[list(robot.alpha.indices("spring.stiffness"))] = 0.0
        return np.asarray(robot.spring_torque(p, without), dtype=np.float64)[:, self.at]

    def note(self, robot: Robot, coefficients: FloatArray, alpha: FloatArray) -> list[str]:
        """A sentence where the series is not the law: a spring that comes close to length zero."""
        if self.terms == 1:
            return []
        q = np.linspace(self.low, self.high, CHECKED)
        law = self.torque(robot, q, alpha)
        off = float(np.abs(law + self.columns(robot, q, alpha) @ coefficients).max())
        if off <= CLOSE * np.abs(law).max():
            return []
        return [
            f"The lever spring at {self.joint} comes close to length zero within the recorded angles: there its torque is "
            f"fitted to within {off:.2g} N·m only"
        ]

    def _scaled(self, q: FloatArray) -> FloatArray:
        return np.asarray((2.0 * q - self.low - self.high) / (self.high - self.low), dtype=np.float64)


def levers(robot: Robot, names: Sequence[str], samples: Sequence[Samples]) -> tuple[Lever, ...]:
    """Every lever spring of a robot over the angles of these recordings, of which these names are unknown."""
    found = []
    for name in robot.alpha.names:
        joint = name.removeprefix(f"{PREFIX}stiffness.")
        if joint != name:
            at = robot.joints.index(joint)
            low, high = min(float(s.q[:, at].min()) for s in samples), max(float(s.q[:, at].max()) for s in samples)
            unknown = any(n.startswith(PREFIX) and n.endswith(f".{joint}") for n in names) and high > low
            places = tuple(robot.alpha.index(f"{kind}{joint}") for kind in GEOMETRY)
            found.append(Lever(joint, at, places, low, high, DEGREE if unknown else 1))
    return tuple(found)


@dataclass(frozen=True)
class Combination:
    """A number that the torque determines: its value, and derivatives by the fitted entries of alpha."""

    name: str
    unit: str
    value: float
    gradient: FloatArray


def scaled(names: Sequence[str]) -> Iterator[str]:
    """Joints whose stiffness and lengths are all among the names: nothing says how large their lever springs are."""
    for name in names:
        joint = name.removeprefix(f"{PREFIX}stiffness.")
        if joint != name and all(f"{PREFIX}{part}.{joint}" in names for part in PARTS):
            yield joint


def combinations(names: Sequence[str], values: Mapping[str, float]) -> list[Combination]:
    """k l₁ l₂, l₂/l₁ and x_rest/√(l₁ l₂) of the lever springs of `scaled`; what they have beside them is the angle."""
    found = []
    for joint in scaled(names):
        k, one, two, rest = (values[f"{PREFIX}{part}.{joint}"] for part in PARTS)
        # Exponents of k, l1, l2, x_rest.
        for label, unit, powers in (
            ("stiffness·arm_1·arm_2", "N·m", (1.0, 1.0, 1.0, 0.0)),
            ("arm_2/arm_1", "1", (0.0, -1.0, 1.0, 0.0)),
            ("rest/√(arm_1·arm_2)", "1", (0.0, -0.5, -0.5, 1.0)),
        ):
            value = float(np.prod([x**n for x, n in zip((k, one, two, rest), powers, strict=True)]))
            gradient = np.zeros(len(names))
            for part, x, n in zip(PARTS, (k, one, two, rest), powers, strict=True):
                if n and x > 0.0:
                    gradient[names.index(f"{PREFIX}{part}.{joint}")] = n * value / x
            found.append(Combination(f"{label} of the lever spring at {joint}", unit, value, gradient))
    return found
