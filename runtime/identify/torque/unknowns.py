"""The unknowns of the torque form: which numbers the solver moves, and how they make alpha and φ.

Most unknowns are entries of alpha. Three kinds are not. Where a mean of friction and its asymmetry are wanted, the unknowns
are friction in the one and in the other direction, neither below zero. Where both stiffness k and rest r of a spring are
wanted, they are k and the spring's torque at zero, b = −k r: the measured torque is linear in them and k = 0 is an ordinary
point. Where a moment of inertia of a body is wanted, they are the ten log-Cholesky coordinates of the body (`inertials`), with
its entries that are not wanted as equality constraints.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.columns import directions, inertials
from diffpbd.runtime.identify.columns.attached_springs import AttachedSpring, geometry_of, scales_of, started
from diffpbd.runtime.identify.columns.bodies import AXES, PAYLOAD, PAYLOAD_MASS, PhysicalBody, physical_bodies
from diffpbd.runtime.identify.columns.design import LINK_COLUMNS, columns_of_joint_kind, every_joint
from diffpbd.runtime.identify.columns.outer import Outer
from diffpbd.runtime.identify.columns.tilt import tilted
from diffpbd.runtime.identify.settings.selection import Total
from diffpbd.runtime.model.robot import Robot
from diffpbd.runtime.model.sensors import SENSOR

__all__ = ["Body", "Unknowns", "jacobian_of", "make_unknowns"]

REST, STIFFNESS = "spring.rest.", "spring.stiffness."


@dataclass(frozen=True)
class Body(PhysicalBody):
    """A body in log-Cholesky coordinates, and where the torque's coefficients have it."""

    columns: slice
    """Its block of φ; a payload's is that of the link that carries the tip."""


@dataclass(frozen=True)
class Unknowns:
    """`labels` name the unknowns x, `names` the fitted entries of alpha in its order.

    `alpha`, `phi`, `prior` (the sum of divergences of described bodies), `barrier` (of the others) and `equal` (zero at a
    solution) are casadi functions of x. Bounds and `start` belong to x. Of springs on chosen joints, `geometry` are the
    numbers that the torque is not linear in, `scales` usual sizes of all.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    positions: tuple[int, ...]
    start: FloatArray
    lower: FloatArray
    upper: FloatArray
    bodies: tuple[Body, ...]
    alpha: Any
    phi: Any
    prior: Any
    barrier: Any
    equal: Any
    coefficients: Any
    """φ of alpha, `torque_coefficients`."""
    geometry: frozenset[str]
    scales: Mapping[str, float]
    total: Total | None = None

    def alpha_at(self, x: FloatArray) -> FloatArray:
        """alpha [units of the manifest], then the sensors'; not finite where a spring has no stiffness and so no rest."""
        return np.array(self.alpha(x), dtype=np.float64).reshape(-1)

    def values_at(self, x: FloatArray) -> dict[str, float]:
        """The fitted parameters by name; not finite as in `alpha_at`."""
        return dict(zip(self.names, self.alpha_at(x)[list(self.positions)].tolist(), strict=True))

    def phi_at(self, x: FloatArray) -> FloatArray:
        """Coefficients of `torque_terms`, of springs on chosen joints, of the columns of `outer`."""
        return np.array(self.phi(x), dtype=np.float64).reshape(-1)

    def phi_jacobian(self, x: FloatArray) -> FloatArray:
        """dφ/dx."""
        return _jacobian(self.phi, x)

    def alpha_jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives of the fitted entries of alpha (names, unknowns); zero where they have none."""
        whole = _jacobian(self.alpha, x)[list(self.positions)]
        return np.where(np.isfinite(whole), whole, 0.0)

    def body_effect(self, body: Body, x: FloatArray) -> FloatArray:
        """Derivatives (10, 10) of the body's block of φ by its entries of alpha."""
        alpha = self.alpha_at(x)[: self.coefficients.size1_in(0)]
        whole = self.coefficients.factory("J", ["alpha"], ["jac:phi:alpha"])(np.where(np.isfinite(alpha), alpha, 0.0))
        return np.array(whole.full(), dtype=np.float64)[body.columns][:, list(body.positions)]

    @property
    def curved(self) -> bool:
        """Whether a number of a spring is unknown that the torque is not linear in."""
        return not self.geometry.isdisjoint(self.labels)

    def spring_parts(self, springs: Sequence[AttachedSpring]) -> list[slice]:
        """The blocks of φ that belong to springs on chosen joints."""
        ends = np.cumsum([self.coefficients.size1_out(0), *(spring.terms for spring in springs)]).tolist()
        return [slice(a, b) for a, b in zip(ends, ends[1:], strict=False)]

    def springs(self) -> Iterator[tuple[int, int]]:
        """Unknowns (stiffness, torque at zero) of the springs that have both."""
        for k, label in enumerate(self.labels):
            joint = label.removeprefix(REST)
            if joint != label and STIFFNESS + joint in self.labels:
                yield self.labels.index(STIFFNESS + joint), k


def jacobian_of(function: Any) -> Any:
    """dy/dx of a casadi function of x."""
    return function.factory("J", ["x"], ["jac:y:x"])


def _jacobian(function: Any, x: FloatArray) -> FloatArray:
    return np.array(jacobian_of(function)(x).full(), dtype=np.float64)


def make_unknowns(
    robot: Robot,
    names: Sequence[str],
    base: FloatArray,
    outer: Outer | None = None,
    *,
    direction: bool = False,
    springs: Sequence[AttachedSpring] = (),
    total: Total | None = None,
) -> Unknowns:
    """Unknowns for these entries of alpha; the others keep `base`, which is also the start.

    `outer` are those of the names that have columns of their own, and where these were made; with `direction` gravity
    keeps its magnitude. `springs` are those on chosen joints with the positions that they are
    needed at, `total` is an equation.
    """
    return _Builder(robot, names, base, outer or Outer((), np.zeros(0)), direction, springs, total).unknowns()


class _Builder:
    def __init__(
        self,
        robot: Robot,
        names: Sequence[str],
        base: FloatArray,
        outer: Outer,
        direction: bool,
        springs: Sequence[AttachedSpring],
        total: Total | None,
    ) -> None:
        self.total, self.heavier = total, 1.0
        if total is not None and (mass := sum(base[robot.alpha.index(name)] for name in total.entries)):
            self.heavier = float((total.value - total.rest) / mass)  # a start that has the total
        self.robot, self.names, self.base, self.outer, self.springs = robot, tuple(names), base, outer, springs
        self.tilted = [f"gravity.{a}" for a in AXES] if direction else []
        self.pairs = directions.pairs(names)
        directed = {name for pair in self.pairs for name in pair}
        self.apart = {*self.tilted, *directed, *(name for name in names if name.startswith(tuple(SENSOR)))}
        self.labels: list[str] = []
        self.start: list[float] = []
        self.lower: list[float] = []
        self.upper: list[float] = []

    def add(self, label: str, start: float, lower: float = -np.inf, upper: float = np.inf) -> int:
        self.labels.append(label)
        self.start.append(start)
        self.lower.append(lower)
        self.upper.append(upper)
        return len(self.labels) - 1

    def bodies(self) -> list[Body]:
        """Bodies with a wanted moment of inertia, their unknowns added."""
        found = []
        for body in physical_bodies(self.robot, self.names, self.base, len(self.labels)):
            heavier = 0.5 * np.log(self.heavier) if body.name in self.robot.links else 0.0
            for k, end in enumerate(inertials.ENDS):
                self.add(f"inertial.{body.name}.{k}", heavier if k in inertials.SIZES else 0.0, -end, end)
            found.append(Body(**vars(body), columns=self.block(body.name)))
        return found

    def block(self, body: str) -> slice:
        """Columns of φ that the body acts through."""
        if body == PAYLOAD:
            effect = self.robot.casadi("torque_coefficients").factory("J", ["alpha"], ["jac:phi:alpha"])(self.base)
            touched = np.flatnonzero(np.array(effect.full())[:, self.robot.alpha.index("payload.mass")])
            link = int(touched[0]) // LINK_COLUMNS
        else:
            link = self.robot.links.index(body)
        return slice(LINK_COLUMNS * link, LINK_COLUMNS * (link + 1))

    def plain(self, inside: Collection[str]) -> tuple[list[tuple[int, int]], list[tuple[int, str]]]:
        """Entries outside bodies added: unknowns with their positions in alpha, and those of springs' torques at zero with
        their joints."""
        alpha = self.robot.alpha
        plain: list[tuple[int, int]] = []
        rests: list[tuple[int, str]] = []
        for name in self.names:
            if name in inside or name in self.apart:
                continue
            position = alpha.index(name)
            joint = name.removeprefix(REST)
            if joint != name and STIFFNESS + joint in self.names:
                stiffness = self.base[alpha.index(STIFFNESS + joint)]
                rests.append((self.add(name, -stiffness * self.base[position]), joint))
                continue
            start = self.base[position]
            if name == "payload.mass" and start == 0.0:
                start = PAYLOAD_MASS
            start = started(self.robot, name, start)
            plain.append((self.add(name, start, *directions.span(alpha, name, self.base)), position))
        return plain, rests

    def both_directions(self, mean: str, half: str) -> int:
        """The first of two unknowns added: friction in the positive direction, then in the negative one."""
        c, delta = (float(self.base[self.robot.alpha.index(name)]) for name in (mean, half))
        first = self.add(mean, c + delta, 0.0)
        self.add(half, c - delta, 0.0)
        return first

    def sensors(self) -> list[tuple[int, str]]:
        """Unknowns of the sensors added."""
        found = []
        for name in (n for n in self.names if n.startswith(tuple(SENSOR))):
            first, low, high, _ = SENSOR[name.rpartition(".")[0]]
            found.append((self.add(name, first, low, high), name))
        return found

    def unknowns(self) -> Unknowns:
        alpha, bodies = self.robot.alpha, self.bodies()
        plain, rests = self.plain({entry for body in bodies for entry in body.entries})
        both = [self.both_directions(*pair) for pair in self.pairs]
        sensors = self.sensors()
        tilts = [self.add(f"gravity.tilt.{k}", 0.0) for k in (1, 2)] if self.tilted else []
        x = casadi.SX.sym("x", len(self.labels))
        values = casadi.SX(casadi.DM(self.base))
        for k, position in plain:
            values[position] = x[k]
        for pair, k in zip(self.pairs, both, strict=True):
            directions.put(values, alpha, pair, x[k], x[k + 1])
        equal = self.set_bodies(values, x, bodies)
        if self.total is not None:
            masses = sum((values[alpha.index(name)] for name in self.total.entries), self.total.rest)
            equal.append(masses / self.total.value - 1.0)
        if tilts:
            positions = [alpha.index(name) for name in self.tilted]
            values[positions] = tilted(self.base[positions], x[tilts])
        phi = self.robot.casadi("torque_coefficients")(values)
        at_zero = columns_of_joint_kind(self.robot, "spring.rest")
        for k, joint in rests:
            values[alpha.index(REST + joint)] = -x[k] / x[self.labels.index(STIFFNESS + joint)]
            phi[at_zero[every_joint(self.robot).index(joint)]] = x[k]
        extended = casadi.vertcat(values, *(x[k] for k, _ in sensors))
        places = {name: len(alpha) + k for k, (_, name) in enumerate(sensors)}
        where = {name: places[name] if name in places else alpha.index(name) for name in self.names}
        moved = [extended[where[n]] - v for n, v in zip(self.outer.names, self.outer.values, strict=True)]
        phi = casadi.vertcat(phi, *(spring.coefficients(self.robot, values) for spring in self.springs), *moved)

        def function(name: str, value: Any) -> Any:
            return casadi.Function(name, [x], [casadi.SX(value)], ["x"], ["y"])

        def total(described: bool) -> Any:
            parts = [inertials.divergence(x[b.span]) for b in bodies if b.described is described]
            return sum(parts, casadi.SX(0))

        return Unknowns(
            labels=tuple(self.labels),
            names=self.names,
            positions=tuple(where.values()),
            start=np.array(self.start),
            lower=np.array(self.lower),
            upper=np.array(self.upper),
            bodies=tuple(bodies),
            alpha=function("alpha", extended),
            phi=function("phi", phi),
            prior=function("prior", total(True)),
            barrier=function("barrier", total(False)),
            coefficients=self.robot.casadi("torque_coefficients"),
            geometry=geometry_of(self.robot),
            scales=scales_of(self.robot),
            total=self.total,
            equal=function("equal", casadi.vertcat(*equal) if equal else casadi.SX(0, 1)),
        )

    def set_bodies(self, values: Any, x: Any, bodies: Sequence[Body]) -> list[Any]:
        """Fitted entries of bodies put in `values`; what the others are off their given values."""
        equal = []
        for body in bodies:
            expressions = inertials.alpha_of(x[body.span], body.reference)
            for entry, expression in zip(body.entries, expressions, strict=True):
                position = self.robot.alpha.index(entry)
                if entry in self.names:
                    values[position] = expression
                else:
                    equal.append(expression - self.base[position])
        return equal
