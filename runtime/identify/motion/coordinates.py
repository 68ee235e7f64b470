"""Unknowns of the trajectory forms: fitted entries of alpha, inertias in physically consistent coordinates.

Plain entries are unknowns themselves. A body with a wanted moment of inertia has ten log-Cholesky coordinates instead, so that
every iterate is physical; its fixed entries are equality constraints. A prior pulls bodies to the description.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.identify.columns import inertials
from diffpbd.runtime.identify.columns.bodies import BARRIER, PRIOR, check_prior, physical_bodies
from diffpbd.runtime.identify.motion.trajectory import Parameters
from diffpbd.runtime.identify.result.statistics import by_information
from diffpbd.runtime.model.robot import Robot

__all__ = ["QUIET", "UNFELT", "Coordinates"]

UNFELT = 1e-6
"""[deviations per SI unit] RMS effect on the motion that counts as none: viscous friction of an arm at rest."""

QUIET = 1e-4
"""[1] Mean square of deviations (positions within 1e-5 rad) below which recordings are simulated: a prior must not hide
the true values, and only holds undetermined directions."""
APPROACH = 10.0
"""[1] Factor by which the prior is weakened from solve to solve: unknowns that only it determines follow a curved valley,
in short steps."""
SAME = 0.1
"""[1] Negligible relative change of the prior's weight."""
WEAKEST = 1e-3
"""[1] Coordinates of a body are scaled as if they had at least this part of the strongest one's effect on the motion."""


class Coordinates:
    """x = (plain entries, ten coordinates of each body); `weight` is that of the prior as in the torque form.

    There residuals are scaled by each joint's own RMS, here by deviations given beforehand; `pull` keeps the ratio of prior and
    data.
    """

    def __init__(self, robot: Robot, parameters: Parameters, weight: float = PRIOR) -> None:
        check_prior(weight)
        self.parameters, self.weight, self.joints = parameters, weight, robot.n
        names, base = parameters.names, parameters.base
        inside = {entry for body in physical_bodies(robot, names, base, 0) for entry in body.entries}
        self.plain = np.array([k for k, name in enumerate(names) if name not in inside], dtype=np.intp)
        count = len(self.plain)
        self.bodies = physical_bodies(robot, names, base, count)
        self.size = count + inertials.COORDINATES * len(self.bodies)
        self.start, self.lower, self.upper = (
            np.zeros(self.size),
            np.full(self.size, -np.inf),
            np.full(self.size, np.inf),
        )
        for own, values in (
            (self.start, parameters.start),
            (self.lower, parameters.lower),
            (self.upper, parameters.upper),
        ):
            own[:count] = values[self.plain]
        self._functions()

    def _functions(self) -> None:
        x = casadi.SX.sym("x", self.size)
        values = self.alpha(x)
        entries = values[self.parameters.positions.tolist()]
        equal = self.given(x)
        by_entries, by_equal = casadi.SX.sym("e", entries.numel()), casadi.SX.sym("g", equal.numel())
        prior = self.divergence(x)
        bent = casadi.dot(by_entries, entries) + casadi.dot(by_equal, equal)
        self._alpha = casadi.Function("alpha", [x], [values])
        self._slopes = casadi.Function("slopes", [x], [casadi.jacobian(entries, x)])
        self._prior = casadi.Function("prior", [x], [prior, casadi.gradient(prior, x)])
        second = [casadi.hessian(value, x)[0] for value in (bent, prior)]
        self._bent = casadi.Function("bent", [x, by_entries, by_equal], second, {"cse": True})
        self._equal = casadi.Function("equal", [x], [equal, casadi.densify(casadi.jacobian(equal, x))])
        self.equations = equal.numel()

    def alpha(self, x: Any) -> Any:
        """alpha (SX) of the unknowns (SX)."""
        values = casadi.SX(casadi.DM(self.parameters.base))
        for k, place in enumerate(self.plain):
            values[int(self.parameters.positions[place])] = x[k]
        for body in self.bodies:
            for entry, position, value in self._of(body, x):
                if entry in self.parameters.names:
                    values[position] = value
        return values

    def given(self, x: Any) -> Any:
        """Fixed entries (SX) of the bodies minus their given values."""
        parts = []
        for body in self.bodies:
            for entry, position, value in self._of(body, x):
                if entry not in self.parameters.names:
                    parts.append(value - float(self.parameters.base[position]))
        return casadi.vertcat(*parts) if parts else casadi.SX(0, 1)

    def divergence(self, x: Any) -> Any:
        """Sum (SX) of the bodies' divergences, those without a described reference at `BARRIER` of the weight."""
        parts = [(1.0 if b.described else BARRIER) * inertials.divergence(x[b.span]) for b in self.bodies]
        return sum(parts, casadi.SX(0))

    @staticmethod
    def _of(body: Any, x: Any) -> Any:
        return zip(body.entries, body.positions, inertials.alpha_of(x[body.span], body.reference), strict=True)

    def entries(self, x: FloatArray) -> FloatArray:
        """The fitted entries of alpha; SolverError on overflow."""
        found = np.array(self._alpha(x), dtype=np.float64).reshape(-1)[self.parameters.positions]
        if not np.isfinite(found).all():
            raise SolverError("An inertia is beyond all numbers.")
        return found

    def slopes(self, x: FloatArray) -> FloatArray:
        """Derivatives of the fitted entries (entries, unknowns)."""
        return np.array(self._slopes(x).full(), dtype=np.float64)

    def prior(self, x: FloatArray) -> tuple[float, FloatArray]:
        """The divergence and its gradient."""
        value, gradient = self._prior(x)
        return float(value), np.array(gradient.full(), dtype=np.float64).reshape(-1)

    def equal(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Residuals of the fixed entries' equality constraints, and their Jacobian."""
        value, jacobian = self._equal(x)
        return np.array(value.full(), dtype=np.float64).reshape(-1), np.array(jacobian.full(), dtype=np.float64)

    def curvature(self, x: FloatArray, by_entries: FloatArray, by_equal: FloatArray, pull: float) -> FloatArray:
        """Curvature (unknowns, unknowns) of the prior, and of the coordinates under these gradients by what they make; of the
        latter what is positive. Near the physical limit Gauss-Newton's alone is far too small."""
        bent, prior = (np.array(part.full(), dtype=np.float64) for part in self._bent(x, by_entries, by_equal))
        result = pull * prior
        for body in self.bodies:
            values, vectors = np.linalg.eigh(bent[body.span, body.span])
            result[body.span, body.span] += (vectors * np.maximum(values, 0.0)) @ vectors.T
        return result

    def pull(self, mean_square: float) -> float:
        """Weight of the divergence beside half the mean square of deviations whose value is about this; zero where that is
        `QUIET`, and what recordings do not determine then has to be held."""
        return self.weight * mean_square / self.joints if self.bodies and mean_square > QUIET else 0.0

    def weaker(self, pull: float, asked: float) -> float:
        """The next weight of the prior on the way to `asked`."""
        least = self.weight * QUIET / self.joints
        return max(asked, pull / APPROACH) if max(asked, pull / APPROACH) > least else 0.0

    def renewed(self, pull: float, mean_square: float) -> float:
        """The weight for the present residual; a prior that only held directions stays."""
        return max(self.pull(mean_square), self.weight * QUIET / self.joints) if pull else 0.0

    def same(self, pull: float, other: float) -> bool:
        """Whether two weights of the prior are practically equal."""
        return abs(pull - other) <= SAME * other

    def scales(self, information: FloatArray, x: FloatArray, pull: float) -> tuple[FloatArray, FloatArray]:
        """Scale of every unknown, and the directions (unknowns, k) of the scaled ones that have no `information`, which is that
        of the entries, for the mean square; where there is a prior it holds the bodies, and only plain ones count."""
        scale = np.ones(self.size)
        undetermined = np.zeros((self.size, 0))
        count, slopes = len(self.plain), self.slopes(x)
        by_unknowns = slopes.T @ information @ slopes
        rows = self.equal(x)[1]
        if len(rows):  # entries in equality constraints are determined too
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            by_unknowns += rows.T @ rows * max(float(np.diag(by_unknowns).max()), 1.0)
        held = self.size if pull == 0.0 else count
        if held:
            scale[:held], found = by_information(by_unknowns[:held, :held], UNFELT)
            undetermined = np.zeros((self.size, found.undetermined.shape[1]))
            undetermined[:held] = found.undetermined
        if held < self.size:
            strength = np.diag(by_unknowns)[count:]
            scale[count:] = 1.0 / np.sqrt(strength + max(pull, WEAKEST**2 * float(strength.max())))
        return scale, undetermined

    def back(self, information: FloatArray, x: FloatArray) -> FloatArray:
        """Unknowns after a solve whose result is a start: back to theirs in plain directions that the motion found does not
        depend on, though the motions on the way may have."""
        scale, lost = self.scales(information, x, 1.0)
        found = x - scale * (lost @ (lost.T @ ((x - self.start) / scale)))
        return np.asarray(np.clip(found, self.lower, self.upper), dtype=np.float64)

    def prior_by_entries(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient and second derivatives of the divergence by the fitted entries; without bodies at their physical limit,
        which holds them more than the prior does."""
        names, alpha = self.parameters.names, np.array(self._alpha(x), dtype=np.float64).reshape(-1)
        gradient, curvature = np.zeros(len(names)), np.zeros((len(names),) * 2)
        for body in (body for body in self.bodies if not body.limited(x)):
            weight = 1.0 if body.described else BARRIER
            own = [k for k, entry in enumerate(body.entries) if entry in names]
            where = [names.index(body.entries[k]) for k in own]
            root = body.reference @ body.root(x)
            J, moves = root @ root.T, inertials.moves_of(alpha[list(body.positions)])[own]
            slope = np.linalg.inv(body.reference @ body.reference.T) - np.linalg.inv(J)
            gradient[where] = weight * np.einsum("ij,aji->a", slope, moves)
            curvature[np.ix_(where, where)] = weight * inertials.metric(J, moves)
        return gradient, curvature
