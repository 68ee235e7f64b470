"""crocoddyl with the same arm, cost and knots as the emitted predictive controller."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mpc_case import WEIGHTS, Case, Tick
from benchmarks.standalone import H, Skipped, installed
from diffpbd.runtime import Robot

NEWEST_PINOCCHIO = (4, 1)
"""crocoddyl 3.2's compiled bindings load with none from here on."""
MOST_ITERATIONS = 100
SETTLED = 1e-9
"""Crocoddyl's stopping measure at which it has converged."""
AGREEMENT = 1e-9
"""[rad/s²] Joint accelerations of both models at random states must agree this well, relative to their size."""


class Crocoddyl:
    """The arm in crocoddyl; refuses one that moves otherwise than the generated robot."""

    def __init__(self, urdf: Path, robot: Robot) -> None:
        self.versions = installed("crocoddyl", "pin")
        if tuple(int(part) for part in self.versions["pin"].split(".")[:2]) >= NEWEST_PINOCCHIO:
            raise Skipped(f'its pinocchio must be below 4.1, found {self.versions["pin"]} (pip install "pin<4.1")')
        try:
            import crocoddyl
            import pinocchio
        except ImportError as error:
            raise Skipped(f"cannot be imported: {error}") from None
        self.crocoddyl, self.pinocchio = crocoddyl, pinocchio
        self.model = pinocchio.buildModelFromUrdf(str(urdf))
        self.model.gravity.linear = np.array([robot.alpha.defaults[robot.alpha.index(f"gravity.{k}")] for k in "xyz"])
        data, random = self.model.createData(), np.random.default_rng(0)
        for _ in range(5):
            p, pd, u = random.uniform(-1.0, 1.0, (3, robot.n))
            ours, theirs = robot.forward_dynamics(p, pd, u), pinocchio.aba(self.model, data, p, pd, u)
            if np.abs(ours - theirs).max() > AGREEMENT * np.abs(ours).max():
                raise SystemExit(f"{urdf} is another arm for pinocchio than {robot.name}.")

    def ticks(self, case: Case) -> dict[str, Tick]:
        """Boxed FDDP (torque bounds) and FDDP (none)."""
        solvers = {"crocoddyl, boxed FDDP": self.crocoddyl.SolverBoxFDDP, "crocoddyl, FDDP": self.crocoddyl.SolverFDDP}
        return {name: self._tick(case, solver) for name, solver in solvers.items()}

    def _tick(self, case: Case, solver: Callable[[Any], Any]) -> Tick:
        problem = self._problem(case)
        rest = [np.concatenate([case.p, case.pd])] + [np.concatenate([case.p, 0.0 * case.pd])] * case.horizon
        held = list(case.U)
        converging = solver(problem)
        converging.th_stop = SETTLED
        converging.solve(rest, held, MOST_ITERATIONS, False)
        xs, us = list(converging.xs), list(converging.us)
        one = solver(problem)

        def from_guess(states: list[np.ndarray], torques: list[np.ndarray]) -> Callable[[], None]:
            return lambda: one.solve(states, torques, 1, False)

        cost = float(converging.cost - self._first_cost(case))
        return Tick(from_guess(rest, held), from_guess(xs, us), int(converging.iter), cost)

    def _problem(self, case: Case) -> Any:
        """Multiple shooting over Euler steps; costs of the nodes 1 … N, that of node 0 is a constant.

        Crocoddyl multiplies running costs by the step, so weights are divided by it.
        """
        c = self.crocoddyl
        state = c.StateMultibody(self.model)
        actuation = c.ActuationModelFull(state)
        n = len(case.p)
        x_weights = np.concatenate([np.full(n, WEIGHTS.p), np.full(n, WEIGHTS.pd)])
        u_weights = np.full(n, WEIGHTS.u)

        def model(k: int, h: float) -> Any:
            costs = c.CostModelSum(state, n)
            scale = 1.0 / h if h else 1.0
            aim = c.ResidualModelState(state, np.concatenate([case.P[k], case.PD[k]]), n)
            costs.addCost("x", c.CostModelResidual(state, c.ActivationModelWeightedQuad(x_weights), aim), scale)
            if h:
                torque = c.ResidualModelControl(state, case.U[k])
                costs.addCost("u", c.CostModelResidual(state, c.ActivationModelWeightedQuad(u_weights), torque), scale)
            step = c.IntegratedActionModelEuler(c.DifferentialActionModelFreeFwdDynamics(state, actuation, costs), h)
            step.u_lb, step.u_ub = -case.effort, case.effort
            return step

        start = np.concatenate([case.p, case.pd])
        problem = c.ShootingProblem(start, [model(k, H) for k in range(case.horizon)], model(case.horizon, 0.0))
        problem.nthreads = 1
        return problem

    def _first_cost(self, case: Case) -> float:
        """The cost that node 0 adds, which ours leaves out."""
        position, rate = (case.p - case.P[0]) ** 2, (case.pd - case.PD[0]) ** 2
        return 0.5 * float((WEIGHTS.p * position + WEIGHTS.pd * rate).sum())
