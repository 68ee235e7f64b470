"""The structured back end: sequential quadratic programs, each solved stage by stage by HPIPM, which CasADi ships.

The model and its Jacobian are the compiled ones (`jac_joint_step`), the Hessian is Gauss–Newton's, as in the emitted solver.
Stage k holds z = (p, pd, torque before) and v = (torque, excess over the bounds of the next p and pd).
"""

from __future__ import annotations

import time as clock
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.arrays import FloatArray
from diffpbd.runtime.errors import InputError, SolverError
from diffpbd.runtime.mpc.problem import NONE, Plan, Problem, Status, Task

__all__ = ["Structured"]

SOLVER = "hpipm"
"""Of the structured solvers of CasADi 3.8 the other, fatrop, prints debugging output from its conic interface, stops on an
assertion of its own at some of these programs, and takes 30 times as long; docs/mpc.md has the figures."""
STEP = 1e-6
"""[1] Relative change of the torques at which the sequence of programs has converged."""
MAX_ITERATIONS = 100
"""Of one program."""
REGULARISATION = 1e-10
"""[cost] Added to the diagonal of what has no cost (torque before, excess, state 0), which the solvers do not accept flat."""
HUGE = 1e4
"""[SI] Bound in place of none: HPIPM takes every bound into its barrier, and loses digits to numbers far beyond the others."""


class Structured:
    """One casadi `conic` of a fixed structure, filled anew for every program."""

    name = "structured"

    def __init__(self, problem: Problem) -> None:
        """Refused where CasADi was built without HPIPM."""
        if not casadi.has_conic(SOLVER):
            raise InputError(
                f"MPC: casadi {casadi.CasadiMeta.version()} has no {SOLVER}, which the structured back end needs. Take the "
                "back end embedded or ipopt."
            )
        self.problem = problem
        n, N = problem.robot.n, problem.horizon
        self._n, self._N = n, N
        nz, rows = 3 * n, 8 * n
        total = N * 2 * nz + nz
        mask = np.zeros((rows, 9 * n), dtype=bool)
        mask[:nz] = True
        mask[nz:] = True
        mask[nz:, 2 * nz :] = False
        mask[: 2 * n, 4 * n : 6 * n] = False  # dynamics do not see the excess
        mask[:nz, 2 * nz :] = np.eye(nz, dtype=bool)
        mask[2 * n : nz, : 2 * nz] = False
        mask[2 * n : nz, nz : 4 * n] = np.eye(n, dtype=bool)
        self._mask = np.repeat(mask[None], N, axis=0)
        k, i, j = np.nonzero(self._mask)
        self._order, self._A = _pattern(N * rows, total, k * rows + i, k * 2 * nz + j)
        hess = np.zeros((2 * nz, 2 * nz), dtype=bool)
        hess[:n, :n] = True
        hess |= np.eye(2 * nz, dtype=bool)
        for a, b in ((2 * n, nz), (nz, 2 * n)):
            hess[a : a + n, b : b + n] = np.eye(n, dtype=bool)
        self._hess_mask = np.repeat(hess[None], N + 1, axis=0)
        self._hess_mask[-1, nz:] = self._hess_mask[-1, :, nz:] = False
        k, i, j = np.nonzero(self._hess_mask)
        self._hess_order, self._H = _pattern(total, total, k * 2 * nz + i, k * 2 * nz + j)
        options: dict[str, Any] = {
            "print_time": False, "error_on_fail": False, "N": N, "nx": [nz] * (N + 1), "nu": [nz] * N + [0],
            "ng": [5 * n] * N + [0], SOLVER: {"iter_max": MAX_ITERATIONS},
        }  # fmt: skip
        self._conic: Any = casadi.conic("mpc", SOLVER, {"h": self._H, "a": self._A}, options)

    def solve(
        self, task: Task, guess: Plan | None = None, *, shifted: bool = False, programs: int = 1,
        seconds: float = float("inf"),
    ) -> Plan:  # fmt: skip
        """At most `programs` programs from the guess, each taken whole; none begins after `seconds`."""
        N, end = self._N, clock.perf_counter() + seconds
        U, P, PD = self.problem.first_guess(task, guess, shifted)
        for done in range(1, programs + 1):
            try:
                new, defect = self._program(task, U, P, PD)
            except SolverError as error:
                return Plan(Status.STEP_FAILED, U, P, PD, iterations=done, detail=str(error))
            if not np.isfinite(new).all() or not self._conic.stats()["success"]:
                word = str(self._conic.stats()["return_status"])
                return Plan(Status.NOT_SOLVED, U, P, PD, iterations=done, detail=word)
            stages = np.vstack([new[: -3 * self._n].reshape(N, -1)[:, : 2 * self._n], new[-3 * self._n : -self._n]])
            before = U
            U = new[: -3 * self._n].reshape(N, -1)[:, 3 * self._n : 4 * self._n].copy()
            P, PD = stages[:, : self._n].copy(), stages[:, self._n :].copy()
            if (abs(U - before) / (1.0 + abs(U))).max() <= STEP or clock.perf_counter() >= end:
                break
        return Plan(
            Status.SOLVED, U, P, PD, cost=self.problem.cost(task, U, P, PD), defect=defect,
            violation=self.problem.violation(P, PD), iterations=done,
        )  # fmt: skip

    def _program(self, task: Task, U: FloatArray, P: FloatArray, PD: FloatArray) -> tuple[FloatArray, float]:
        """The solution of the program about a trajectory, and the trajectory's largest defect."""
        problem, n, N = self.problem, self._n, self._N
        w, price = problem.weights, problem.price
        nz = 3 * n
        s = problem.robot.jac_joint_step(P[:-1], PD[:-1], U, problem.h, problem.alpha)
        Ax = np.block([[s.dp_next_dp, s.dp_next_dpd], [s.dpd_next_dp, s.dpd_next_dpd]])
        B = np.concatenate([s.dp_next_du, s.dpd_next_du], 1)
        ends = np.concatenate([s.p_next, s.pd_next], 1)
        x = np.concatenate([P, PD], 1)
        c = ends - np.einsum("kij,kj->ki", Ax, x[:-1]) - np.einsum("kij,kj->ki", B, U)
        eye, eye2 = np.eye(n), np.eye(2 * n)
        A = np.zeros((N, 8 * n, 9 * n))
        A[:, : 2 * n, : 2 * n], A[:, : 2 * n, nz : 4 * n] = Ax, B
        A[:, 2 * n : nz, nz : 4 * n] = eye
        A[:, :nz, 2 * nz :] = -np.eye(nz)
        A[:, nz : 4 * n, 2 * n : nz], A[:, nz : 4 * n, nz : 4 * n] = -eye, eye
        for at, sign in ((4 * n, -1.0), (6 * n, 1.0)):
            A[:, at : at + 2 * n, : 2 * n], A[:, at : at + 2 * n, nz : 4 * n] = Ax, B
            A[:, at : at + 2 * n, 4 * n :][:, :, : 2 * n] = sign * eye2
        b = np.where(abs(problem.bounds) < NONE, problem.bounds, np.sign(problem.bounds) * HUGE)
        lower, upper = np.full((N, 8 * n), -HUGE), np.full((N, 8 * n), HUGE)
        lower[:, : 2 * n] = upper[:, : 2 * n] = -c
        lower[:, 2 * n : nz] = upper[:, 2 * n : nz] = 0.0
        lower[:, nz : 4 * n], upper[:, nz : 4 * n] = -b[2], b[2]
        upper[:, 4 * n : 6 * n] = np.concatenate([b[4], b[5]]) - c
        lower[:, 6 * n :] = np.concatenate([b[3], -b[5]]) - c
        H, g = np.zeros((N + 1, 2 * nz, 2 * nz)), np.zeros((N + 1, 2 * nz))
        every = np.arange(2 * nz)
        H[:, every, every] = REGULARISATION
        self._node_costs(task, P, H, g)
        i = np.arange(n)
        H[:, 2 * n + i, 2 * n + i] += w[3]
        H[:, nz + i, nz + i] += w[2] + w[3]
        H[:, 2 * n + i, nz + i] = H[:, nz + i, 2 * n + i] = -w[3]
        H[-1, 2 * n + i, 2 * n + i] = REGULARISATION
        g[:-1, nz : 4 * n] = -w[2] * task.U
        g[:-1, 4 * n : 5 * n], g[:-1, 5 * n :] = price
        low, high = np.full((N, 2 * nz), -HUGE), np.full((N, 2 * nz), HUGE)
        low[:, nz : 4 * n], high[:, nz : 4 * n] = b[0], b[1]
        low[:, 4 * n :] = 0.0
        low[0, :nz] = high[0, :nz] = np.concatenate([task.p, task.pd, np.clip(task.u_last, b[0], b[1])])
        free = np.full(nz, HUGE)
        result = self._conic(
            h=casadi.DM(self._H, H[self._hess_mask][self._hess_order]), g=np.concatenate([g[:-1].ravel(), g[-1, :nz]]),
            a=casadi.DM(self._A, A[self._mask][self._order]), lba=lower.ravel(), uba=upper.ravel(),
            lbx=np.concatenate([low.ravel(), -free]), ubx=np.concatenate([high.ravel(), free]),
            x0=self._point(task, U, x),
        )  # fmt: skip
        return np.array(result["x"], dtype=np.float64).reshape(-1), float(abs(ends - x[1:]).max())

    def _node_costs(self, task: Task, P: FloatArray, H: FloatArray, g: FloatArray) -> None:
        problem, n, N = self.problem, self._n, self._N
        for k in range(1, N + 1):
            w = problem.weights[[4, 5]] if k == N else problem.weights[[0, 1]]
            i = np.arange(2 * n)
            H[k, i, i] += w.ravel()
            g[k, : 2 * n] = -(w * np.array([task.P[k], task.PD[k]])).ravel()
            tip = problem.tip_weights[int(k == N)]
            if tip.any():
                J = problem.robot.tip_jacobian(P[k], problem.alpha)[:3]
                rest = problem.robot.tip_pose(P[k], problem.alpha).position - task.tip[k] - J @ P[k]
                H[k, :n, :n] += J.T @ (tip[:, None] * J)
                g[k, :n] += J.T @ (tip * rest)

    def _point(self, task: Task, U: FloatArray, x: FloatArray) -> FloatArray:
        before = np.vstack([task.u_last, U])
        stages = np.concatenate([x[:-1], before[:-1], U, np.zeros((self._N, 2 * self._n))], 1)
        return np.concatenate([stages.ravel(), x[-1], before[-1]])


def _pattern(rows: int, columns: int, i: Any, j: Any) -> tuple[Any, Any]:
    """The order that puts entries column by column, and their casadi sparsity."""
    order = np.lexsort((i, j))
    return order, casadi.Sparsity.triplet(rows, columns, i.tolist(), j.tolist())
