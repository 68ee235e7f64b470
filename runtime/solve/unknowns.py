"""The unknowns of the torque form: which numbers the solver moves, and how they make alpha and φ.

Most unknowns are entries of alpha. Two kinds are not. Where both stiffness k and rest r of a spring are wanted, the unknowns
are k and the spring's torque at zero, b = −k r: the measured torque is linear in them and k = 0 is an ordinary point. Where a
moment of inertia of a body is wanted, the unknowns are the ten log-Cholesky coordinates of the body (`inertials`), with its
entries that are not wanted as equality constraints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi
import numpy as np
import numpy.typing as npt

from diffpbd.runtime.robot import Robot
from diffpbd.runtime.solve import inertials
from diffpbd.runtime.solve.design import LINK_COLUMNS, columns_of_joint_kind, every_joint
from diffpbd.runtime.solve.outer import SENSOR, Outer

__all__ = ["Body", "Unknowns", "make_unknowns"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

REST = "spring.rest."
STIFFNESS = "spring.stiffness."
AXES = ("x", "y", "z")
MOMENTS = ("xx", "xy", "xz", "yy", "yz", "zz")
PAYLOAD = "payload"
PAYLOAD_MASS = 0.5
"""[kg] Where the search for a payload starts that alpha has no mass for: what a hand carries."""
PAYLOAD_RADIUS = 0.1
"""[m] Radius of gyration of that start."""


@dataclass(frozen=True)
class Body:
    """A body in log-Cholesky coordinates: its entries of alpha, the span of its unknowns, the reference factor L₀."""

    name: str
    entries: tuple[str, ...]
    positions: tuple[int, ...]
    columns: slice
    """Its block of φ; a payload's is that of the link that carries the tip."""
    span: slice
    reference: FloatArray
    described: bool
    """Whether the reference is the description's, to which a prior may pull; a payload's is only a start."""

    def least_eigenvalue(self, x: FloatArray) -> float:
        """Smallest eigenvalue of the pseudo-inertia in units of the reference: L₀⁻¹ J L₀⁻ᵀ = U Uᵀ."""
        U = np.array(inertials.factor_of(casadi.DM(x[self.span])).full())
        return float(np.linalg.svd(U, compute_uv=False)[-1] ** 2)

    def curvature(self, x: FloatArray) -> FloatArray:
        """Second derivatives (10, 10) of the divergence by the body's ten coefficients."""
        root = self.reference @ np.array(inertials.factor_of(casadi.DM(x[self.span])).full())
        return inertials.curvature(root @ root.T)


@dataclass(frozen=True)
class Unknowns:
    """`labels` name the unknowns x, `names` the fitted entries of alpha in its order.

    `alpha`, `phi`, `prior` (the sum of divergences of described bodies), `barrier` (of the others) and `equal` (zero at a
    solution) are casadi functions of x. Bounds and `start` belong to x.
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

    def alpha_at(self, x: FloatArray) -> FloatArray:
        """alpha [units of the manifest], then the sensors'; not finite where a spring has no stiffness and so no rest."""
        return np.array(self.alpha(x), dtype=np.float64).reshape(-1)

    def phi_at(self, x: FloatArray) -> FloatArray:
        """Coefficients of `torque_terms`."""
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

    def springs(self) -> Iterator[tuple[int, int]]:
        """Unknowns (stiffness, torque at zero) of the springs that have both."""
        for k, label in enumerate(self.labels):
            joint = label.removeprefix(REST)
            if joint != label and STIFFNESS + joint in self.labels:
                yield self.labels.index(STIFFNESS + joint), k


def _jacobian(function: Any, x: FloatArray) -> FloatArray:
    return np.array(function.factory("J", ["x"], ["jac:y:x"])(x).full(), dtype=np.float64)


def make_unknowns(
    robot: Robot, names: Sequence[str], base: FloatArray, outer: Outer | None = None, *, direction: bool = False
) -> Unknowns:
    """Unknowns for these entries of alpha; the others keep `base`, which is also the start.

    `outer` are those of the names that have columns of their own, and where these were made; with `direction` gravity
    keeps its magnitude.
    """
    return _Builder(robot, names, base, outer or Outer((), np.zeros(0)), direction).unknowns()


class _Builder:
    def __init__(self, robot: Robot, names: Sequence[str], base: FloatArray, outer: Outer, direction: bool) -> None:
        self.robot, self.names, self.base, self.outer = robot, tuple(names), base, outer
        self.tilted = [f"gravity.{a}" for a in AXES] if direction else []
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

    def body_names(self, body: str) -> list[str]:
        """The ten entries of alpha of a link, or of the payload."""
        if body == PAYLOAD:
            return ["payload.mass", *(f"payload.com.{a}" for a in AXES), *(f"payload.inertia.{m}" for m in MOMENTS)]
        return [f"mass.{body}", *(f"com.{body}.{a}" for a in AXES), *(f"inertia.{body}.{m}" for m in MOMENTS)]

    def bodies(self) -> list[Body]:
        """Bodies with a wanted moment of inertia, their unknowns added."""
        found = []
        for name in (*self.robot.links, PAYLOAD):
            entries = self.body_names(name)
            if not any(entry in self.names for entry in entries[4:]):
                continue
            values = [self.base[self.robot.alpha.index(entry)] for entry in entries]
            described = bool(values[0] > 0.0)
            if not described:
                moment = 2.0 / 3.0 * PAYLOAD_MASS * PAYLOAD_RADIUS**2
                values = [PAYLOAD_MASS, 0.0, 0.0, 0.0, moment, 0.0, 0.0, moment, 0.0, moment]
            J = inertials.pseudo_inertia(values[0], values[1:4], values[4:])
            first = len(self.labels)
            for k in range(inertials.COORDINATES):
                self.add(f"inertial.{name}.{k}", 0.0)
            span = slice(first, len(self.labels))
            positions = tuple(self.robot.alpha.index(entry) for entry in entries)
            found.append(
                Body(name, tuple(entries), positions, self.block(name), span, inertials.factor(J), described)
            )
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

    def unknowns(self) -> Unknowns:
        alpha = self.robot.alpha
        bodies = self.bodies()
        inside = {entry for body in bodies for entry in body.entries}
        plain: list[tuple[int, int]] = []
        rests: list[tuple[int, str]] = []
        for name in self.names:
            if name in inside or name in self.tilted or name.startswith(tuple(SENSOR)):
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
            plain.append((self.add(name, start, alpha.lower[position], alpha.upper[position]), position))
        sensors = []
        for name in (n for n in self.names if n.startswith(tuple(SENSOR))):
            first, low, high, _ = SENSOR[name.rpartition(".")[0]]
            sensors.append((self.add(name, first, low, high), name))
        tilts = [self.add(f"gravity.tilt.{k}", 0.0) for k in (1, 2)] if self.tilted else []
        x = casadi.SX.sym("x", len(self.labels))
        values = casadi.SX(casadi.DM(self.base))
        equal = []
        for k, position in plain:
            values[position] = x[k]
        for body in bodies:
            expressions = inertials.alpha_of(x[body.span], body.reference)
            for entry, expression in zip(body.entries, expressions, strict=True):
                position = alpha.index(entry)
                if entry in self.names:
                    values[position] = expression
                else:
                    equal.append(expression - self.base[position])
        if tilts:
            positions = [alpha.index(name) for name in self.tilted]
            values[positions] = _tilted(self.base[positions], x[tilts])
        phi = self.robot.casadi("torque_coefficients")(values)
        at_zero = columns_of_joint_kind(self.robot, "spring.rest")
        for k, joint in rests:
            values[alpha.index(REST + joint)] = -x[k] / x[self.labels.index(STIFFNESS + joint)]
            phi[at_zero[every_joint(self.robot).index(joint)]] = x[k]

        extended = casadi.vertcat(values, *(x[k] for k, _ in sensors))
        places = {name: len(alpha) + k for k, (_, name) in enumerate(sensors)}
        where = [places[name] if name in places else alpha.index(name) for name in self.names]
        by_name = dict(zip(self.names, where, strict=True))
        moved = [extended[by_name[n]] - v for n, v in zip(self.outer.names, self.outer.values, strict=True)]
        phi = casadi.vertcat(phi, *moved)

        def function(name: str, value: Any) -> Any:
            return casadi.Function(name, [x], [casadi.SX(value)], ["x"], ["y"])

        def total(described: bool) -> Any:
            parts = [inertials.divergence(x[b.span]) for b in bodies if b.described is described]
            return sum(parts, casadi.SX(0))

        return Unknowns(
            labels=tuple(self.labels),
            names=self.names,
            positions=tuple(where),
            start=np.array(self.start),
            lower=np.array(self.lower),
            upper=np.array(self.upper),
            bodies=tuple(bodies),
            alpha=function("alpha", extended),
            phi=function("phi", phi),
            prior=function("prior", total(True)),
            barrier=function("barrier", total(False)),
            coefficients=self.robot.casadi("torque_coefficients"),
            equal=function("equal", casadi.vertcat(*equal) if equal else casadi.SX(0, 1)),
        )


def _tilted(gravity: FloatArray, tilt: Any) -> Any:
    """Gravity turned by two slopes normal to it, with its magnitude."""
    size = float(np.linalg.norm(gravity))
    normal = np.linalg.svd(gravity.reshape(1, 3))[2][1:].T
    along = casadi.DM(gravity / size) + casadi.mtimes(casadi.DM(normal), tilt)
    return size * along / casadi.norm_2(along)
