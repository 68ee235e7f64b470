"""One step and one state of the simultaneous form as CasADi functions of scaled unknowns, with exact sparse derivatives."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.motion.coordinates import Coordinates
from diffpbd.runtime.identify.motion.trajectory import POSITION, RATE
from diffpbd.runtime.model.robot import Robot

__all__ = ["Pieces"]

STATE = 13
ROWS = 5
"""Constraint rows, and impulses, a joint."""


class Pieces:
    """Functions of local unknowns w, each with what it is given besides.

    step:  w = (θ, xi, u, xi_next, impulse, impulse_next), given (h, reading, recorded p) → rows (12 n) [N, N·m], part of
           the objective (½ the square of the torque's deviation); u has the joints whose torques are unknown
    state: w = (θ, xi), given (recorded p, pd) → rows (11 n), part of the objective (½ the square of weighted deviations)
    own:   w = θ, given the weight of the prior → rows that are zero where entries of bodies have their given values, part of
           the objective (the prior, and what keeps undetermined directions at the start)
    θ are the unknowns of the parameters (`Coordinates`), scaled, everything else in SI units. The Hessians take (w, given,
    multipliers, weight of the objective) and give the upper triangle; the Jacobians are of the rows, the gradients of the
    objective.
    """

    def __init__(
        self,
        robot: Robot,
        coordinates: Coordinates,
        start: FloatArray,
        scale: FloatArray,
        undetermined: FloatArray,
        torque: FloatArray,
    ) -> None:
        """`torque` (n,) are the deviations of the readings: zero where the torque is known, infinite where it has none."""
        self.robot, self.coordinates, self.parameters = robot, coordinates, coordinates.parameters
        self.start, self.scale, self.torque = start, scale, torque
        self.n, self.m = robot.n, coordinates.size
        self.undetermined = undetermined
        self.free = np.flatnonzero(torque > 0.0)
        self.weighed = np.flatnonzero((torque > 0.0) & np.isfinite(torque))
        self.sizes = (self.m, STATE * self.n, len(self.free), STATE * self.n, ROWS * self.n, ROWS * self.n)
        self._step()
        self._state()
        self._own()

    def alpha(self, theta: Any) -> Any:
        """alpha (SX) of scaled unknowns."""
        return self.coordinates.alpha(theta * casadi.DM(self.scale))

    def _own(self) -> None:
        theta, pull = casadi.SX.sym("theta", self.m), casadi.SX.sym("pull")
        x = theta * casadi.DM(self.scale)
        away = casadi.mtimes(casadi.DM(self.undetermined.T), theta - casadi.DM(self.start / self.scale))
        objective = pull * self.coordinates.divergence(x) + casadi.sumsqr(away) / 2
        self.own, self.own_gradient, self.own_jacobian, self.own_hessian = _derived(
            "own", theta, pull, self.coordinates.given(x), objective
        )

    def _step(self) -> None:
        names = ("theta", "xi", "u", "xi_next", "impulse", "impulse_next")
        parts = [casadi.SX.sym(name, size) for name, size in zip(names, self.sizes, strict=True)]
        theta, xi, u, xi_next, impulse, impulse_next = parts
        h, reading, p_ref = casadi.SX.sym("h"), casadi.SX.sym("reading", self.n), casadi.SX.sym("p_ref", self.n)
        alpha = self.alpha(theta)
        offset = alpha[self.parameters.offset_of.tolist()]
        true = reading - offset
        for k, joint in enumerate(self.free.tolist()):
            true[joint] = u[k]
        off = (true + offset - reading)[self.weighed.tolist()] / casadi.DM(self.torque[self.weighed])
        objective = casadi.sumsqr(off) / 2
        rows = self.robot.casadi("momentum_residual")(xi, true, h, alpha, xi_next, impulse, impulse_next, p_ref) / h
        self.step, self.step_gradient, self.step_jacobian, self.step_hessian = _derived(
            "step", casadi.vertcat(*parts), casadi.vertcat(h, reading, p_ref), rows, objective
        )

    def _state(self) -> None:
        theta, xi = casadi.SX.sym("theta", self.m), casadi.SX.sym("xi", STATE * self.n)
        recorded = casadi.SX.sym("recorded", 2 * self.n)
        alpha = self.alpha(theta)
        rows = self.robot.casadi("state_residual")(xi, alpha)
        p, pd = self.robot.casadi("joint_state")(xi, alpha, recorded[: self.n])
        off = casadi.vertcat((p - recorded[: self.n]) / POSITION, (pd - recorded[self.n :]) / RATE)
        self.state, self.state_gradient, self.state_jacobian, self.state_hessian = _derived(
            "state", casadi.vertcat(theta, xi), recorded, rows, casadi.sumsqr(off) / 2
        )


def _derived(name: str, w: Any, given: Any, rows: Any, objective: Any) -> tuple[Any, Any, Any, Any]:
    rows, objective = casadi.SX(rows), casadi.SX(objective)
    multipliers, weight = casadi.SX.sym("multipliers", rows.numel()), casadi.SX.sym("weight")
    lagrangian = weight * objective + casadi.dot(multipliers, rows)
    hessian = casadi.triu(casadi.hessian(lagrangian, w)[0])
    options = {"cse": True}
    return (
        casadi.Function(name, [w, given], [rows, objective], options),
        casadi.Function(f"{name}_gradient", [w, given], [casadi.densify(casadi.gradient(objective, w))], options),
        casadi.Function(f"{name}_jacobian", [w, given], [casadi.jacobian(rows, w)], options),
        casadi.Function(f"{name}_hessian", [w, given, multipliers, weight], [hessian], options),
    )
