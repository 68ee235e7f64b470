"""The reference back end: the whole nonlinear program in IPOPT, with the exact derivatives of the serialized graphs.

For a robot with contacts the equations of the steps are constraints and the impulses unknowns (`transcription`).
"""

from __future__ import annotations

import time as clock
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, SolverError
from diffpbd.runtime.base.ipopt import OPTIONS
from diffpbd.runtime.base.quaternions import difference
from diffpbd.runtime.model.closed import driven
from diffpbd.runtime.mpc.problem import NONE, Plan, Problem, Status, Task
from diffpbd.runtime.mpc.transcription import transcribed

__all__ = ["Ipopt"]

TOLERANCE = 1e-8
"""[1] IPOPT's own, for a cost of order one."""
LIMITS = ("Maximum_Iterations_Exceeded", "Maximum_WallTime_Exceeded", "Maximum_CpuTime_Exceeded")
MAX_ITERATIONS = 300


class Ipopt:
    """Multiple shooting over `robot.casadi("joint_step")`, or the equations of contact with the slip lowered solve by solve;
    slow to build and to solve; the reference for the others."""

    name = "ipopt"

    def __init__(self, problem: Problem) -> None:
        """Builds the program once; the data of a tick are its parameters."""
        self.problem = problem
        robot, n, n_p, N = problem.robot, problem.robot.n, problem.robot.n_p, problem.horizon
        floating = problem.floating
        self._with_tip = bool(problem.tip_weights.any())
        sym = casadi.MX.sym
        U, P, PD = sym("U", n, N), sym("P", n_p, N), sym("PD", n, N)
        slack_p, slack_pd = sym("slack_p", n, N), sym("slack_pd", n, N)
        data = {
            "p": sym("p", n_p), "pd": sym("pd", n), "u_last": sym("u_last", n), "P": sym("P_ref", n_p, N),
            "PD": sym("PD_ref", n, N), "U": sym("U_ref", n, N), "tip": sym("tip_ref", 3, N),
        }  # fmt: skip
        self._motion = transcribed(problem)
        equations = self._motion.equations(U, casadi.horzcat(data["p"], P), casadi.horzcat(data["pd"], PD))
        self._equations = equations.size1()
        changes = U - casadi.horzcat(data["u_last"], U[:, :-1])
        w = problem.weights
        node_p, node_pd = np.repeat(w[0][:, None], N, axis=1), np.repeat(w[1][:, None], N, axis=1)
        node_p[:, -1], node_pd[:, -1] = w[4], w[5]
        cost = casadi.sumsqr(np.sqrt(node_p) * _away(floating, P, data["P"])) + casadi.sumsqr(
            np.sqrt(node_pd) * (PD - data["PD"])
        )
        cost += casadi.sumsqr(np.sqrt(w[2])[:, None].repeat(N, axis=1) * (U - data["U"]))
        cost += casadi.sumsqr(np.sqrt(w[3])[:, None].repeat(N, axis=1) * changes)
        if self._with_tip:
            tip = np.repeat(problem.tip_weights[:1].T, N, axis=1)
            tip[:, -1] = problem.tip_weights[1]
            found = robot.casadi("tip_pose").map(N)(P, casadi.DM(problem.alpha))[0]
            cost += casadi.sumsqr(np.sqrt(tip) * (found - data["tip"]))
        excess = [casadi.sum1(casadi.vec(slack)) for slack in (slack_p, slack_pd)]
        cost = 0.5 * cost + problem.price[0] * excess[0] + problem.price[1] * excess[1]
        self._parts = (n * N, n_p * N, *(n * N,) * 3)
        slack, rows, self._obstacles = _distances(problem, P)
        self._rows = slack.numel()
        prices = casadi.MX.sym("prices", self._rows)
        cost += casadi.dot(prices, slack)
        places = _places(floating, P)
        x = casadi.vertcat(*[casadi.vec(v) for v in (U, P, PD, slack_p, slack_pd)], slack, self._motion.unknowns)
        g = casadi.vertcat(*[
            casadi.vec(v)
            for v in (equations, changes, places - slack_p, places + slack_p, PD - slack_pd, PD + slack_pd, rows)
        ])  # fmt: skip
        parameters = casadi.vertcat(
            *[casadi.vec(v) for v in data.values()], self._obstacles, prices, self._motion.parameter
        )
        options = {**OPTIONS, "ipopt": {**OPTIONS["ipopt"], "tol": TOLERANCE, "max_iter": MAX_ITERATIONS}}
        self._solver: Any = casadi.nlpsol("mpc", "ipopt", {"x": x, "f": cost, "g": g, "p": parameters}, options)

    def solve(
        self, task: Task, guess: Plan | None = None, *, shifted: bool = False, programs: int = 0,
        seconds: float = float("inf"),
    ) -> Plan:  # fmt: skip
        """The optimum; `programs` is ignored, `seconds` is checked when IPOPT returns."""
        problem, N = self.problem, self.problem.horizon
        bounds = np.where(abs(problem.bounds) < NONE, problem.bounds, np.sign(problem.bounds) * np.inf)
        lower, upper, change, p_lower, p_upper, speed = bounds
        motors = driven(problem.robot)
        lower, upper = np.where(motors, lower, 0.0), np.where(motors, upper, 0.0)
        U, P, PD = problem.first_guess(task, guess, shifted)
        free = np.full(N * (problem.robot.n_p + problem.robot.n), np.inf)
        rows = np.ones((N, 1))
        zeros = np.zeros((2 * N, problem.robot.n))
        free_slacks = np.full(zeros.shape, np.inf)
        side = np.full((N, problem.robot.n), np.inf)
        none, count = np.zeros(self._equations), 0
        near = np.zeros(self._rows)
        obstacles = () if problem.apart is None or not self._rows else tuple(problem.apart.obstacles.values())
        least, prices = (
            (near, near) if problem.apart is None or not self._rows else problem.apart.asked(task.p, N, problem.h)
        )
        first = self._motion.values(guess is None)
        own = self._motion.first(U, P, PD, first[0])
        unbound = np.full_like(own, np.inf)
        x0, end = _flat(U, P[1:], PD[1:], zeros, near, own), clock.perf_counter() + seconds
        for value in first:
            try:
                result = self._solver(
                    x0=x0, lbx=_flat(rows * lower, -free, zeros, near, -unbound),
                    ubx=_flat(rows * upper, free, free_slacks, near + np.inf, unbound),
                    lbg=_flat(none, rows * -change, -side, rows * p_lower, -side, rows * -speed, least),
                    ubg=_flat(none, rows * change, rows * p_upper, side, rows * speed, side, near + np.inf),
                    p=_flat(
                        task.p, task.pd, task.u_last, task.P[1:], task.PD[1:], task.U, task.tip[1:], *obstacles, prices, value
                    ),
                )  # fmt: skip
            except RuntimeError as error:  # a function of the problem could not be evaluated
                return Plan(Status.NOT_SOLVED, U, P, PD, iterations=count, detail=str(error).strip().splitlines()[-1])
            stats = self._solver.stats()
            word, x0, count = str(stats["return_status"]), result["x"], count + int(stats["iter_count"])
        values = np.split(np.array(x0, dtype=np.float64).reshape(-1), np.cumsum(self._parts))
        U, P, PD = (v.reshape(N, -1) for v in values[:3])
        P, PD = np.vstack([task.p, P]), np.vstack([task.pd, PD])
        finite = all(np.isfinite(a).all() for a in (U, P, PD))
        status = Status.SOLVED if word == "Solve_Succeeded" else Status.LIMITED if word in LIMITS else Status.NOT_SOLVED
        if not finite or clock.perf_counter() > end:
            status = Status.NOT_SOLVED
        return Plan(
            status, U, P, PD, cost=problem.cost(task, U, P, PD) if finite else float("nan"),
            defect=self._defect(U, P, PD), violation=problem.violation(P, PD), iterations=count, detail=word,
        )  # fmt: skip

    def _defect(self, U: FloatArray, P: FloatArray, PD: FloatArray) -> float:
        """The largest difference between a step's end and the next state; NaN where a step fails."""
        try:
            ends = self.problem.robot.joint_step(P[:-1], PD[:-1], U, h=self.problem.h, alpha=self.problem.alpha)
        except (SolverError, InputError):
            return float("nan")
        return float(max(abs(difference(self.problem.floating, ends[0], P[1:])).max(), abs(ends[1] - PD[1:]).max()))


def _away(floating: bool, P: Any, P_ref: Any) -> Any:
    """Tangents (n, N) from references to positions, columns."""
    if not floating:
        return P - P_ref
    q, r = P[3:7, :], P_ref[3:7, :]
    w = casadi.sum1(q * r)
    sign = casadi.if_else(w < 0, -1, 1)
    rows = []
    for i, j, k in ((1, 2, 3), (2, 3, 1), (3, 1, 2)):
        rows.append(q[i, :] * r[0, :] - q[0, :] * r[i, :] - q[j, :] * r[k, :] + q[k, :] * r[j, :])
    turns = [2 * sign * row for row in rows]
    return casadi.vertcat(P[:3, :] - P_ref[:3, :], *turns, P[7:, :] - P_ref[7:, :])


def _places(floating: bool, P: Any) -> Any:
    """Coordinates with bounds (n, N)."""
    return casadi.vertcat(P[:3, :], casadi.MX.zeros(3, P.size2()), P[7:, :]) if floating else P


def _distances(problem: Problem, P: Any) -> tuple[Any, Any, Any]:
    """Slacks, distances of the nodes of P (n_p, N) with them, and the obstacles; all empty where no distance is kept."""
    apart, N = problem.apart, problem.horizon
    if apart is None or not apart.numbers[1]:
        return (casadi.MX(0, 1),) * 3
    every = {kind: casadi.MX.sym(kind, *x.T.shape) for kind, x in apart.obstacles.items()}
    given = {kind: casadi.repmat(x, 1, N) for kind, x in every.items()}
    alpha = casadi.repmat(casadi.DM(problem.alpha), 1, N)
    found = problem.robot.casadi("clearance").map(N)(p=P, **given, alpha=alpha)["distance"]
    slack = casadi.MX.sym("slack_near", found.numel())
    return slack, casadi.vec(found) + slack, casadi.vertcat(*[casadi.vec(x) for x in every.values()])


def _flat(*blocks: FloatArray) -> FloatArray:
    return np.concatenate([np.ravel(block) for block in blocks])
