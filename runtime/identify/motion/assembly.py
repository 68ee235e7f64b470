"""The simultaneous problem of whole recordings: pieces mapped over steps and states, and their assembled derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import casadi
import numpy as np
import numpy.typing as npt
from scipy import sparse

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.identify.motion.pieces import ROWS, STATE, Pieces
from diffpbd.runtime.identify.motion.trajectory import Motion

__all__ = ["Assembly"]

IntArray: TypeAlias = npt.NDArray[np.intp]


class Assembly:
    """x = (θ, then state by state: xi; after it, for the step that leaves it: u, impulse, impulse_next).

    `at_step` (steps, local) and `at_state` (states, local) are the places in x of the pieces' local unknowns; equations are
    those of all steps, then of all states.
    """

    def __init__(self, pieces: Pieces, motions: Sequence[Motion]) -> None:
        self.pieces, self.motions = pieces, motions
        n, m = pieces.n, pieces.m
        free = pieces.sizes[2]
        step_size = free + 2 * ROWS * n
        at_step, at_state, place = [], [], m
        theta = np.arange(m)
        for motion in motions:
            for k in range(motion.steps + 1):
                xi = np.arange(place, place + STATE * n)
                at_state.append(np.concatenate([theta, xi]))
                place += STATE * n
                if k < motion.steps:
                    own = np.arange(place, place + step_size)
                    place += step_size
                    following = np.arange(place, place + STATE * n)
                    at_step.append(np.concatenate([theta, xi, own[:free], following, own[free:]]))
        self.at_step, self.at_state = np.array(at_step), np.array(at_state)
        self.unknowns = place
        self.given_step = np.vstack(
            [np.column_stack([np.full(motion.steps, motion.h), motion.tau, motion.q[:-1]]) for motion in motions]
        )
        self.given_state = np.vstack([np.hstack([motion.q, motion.dq]) for motion in motions])
        self.step_rows, self.state_rows = pieces.step.size1_out(0), pieces.state.size1_out(0)
        self.motion_rows = len(self.at_step) * self.step_rows + len(self.at_state) * self.state_rows
        self.rows = self.motion_rows + pieces.own.size1_out(0)
        self.residuals = self.given_state.size + len(self.at_step) * len(pieces.weighed)
        self.pull = 0.0
        """Weight of the prior."""
        self._patterns()

    def start(self) -> FloatArray:
        """States from the recorded positions and rates, readings for torques, the impulses that balance momenta best."""
        pieces, robot = self.pieces, self.pieces.robot
        theta = pieces.coordinates.entries(pieces.start)
        alpha = pieces.parameters.alpha(theta)
        x = np.zeros(self.unknowns)
        x[: pieces.m] = pieces.start / pieces.scale
        states = np.asarray(robot.fk(self.given_state[:, : pieces.n], self.given_state[:, pieces.n :], alpha))
        x[self.at_state[:, pieces.m :]] = states
        at = np.cumsum(pieces.sizes)
        readings = pieces.parameters.torque(self.given_step[:, 1 : 1 + pieces.n], theta)
        x[self.at_step[:, at[1] : at[2]]] = readings[:, pieces.free]
        impulses = slice(at[3], at[5])
        rows = np.array(pieces.step.map(len(self.at_step))(x[self.at_step].T, self.given_step.T)[0]).T
        dense = pieces.step_jacobian
        for k, local in enumerate(self.at_step):
            J = np.array(dense(x[local], self.given_step[k]).full())[:, impulses]
            x[local[impulses]] = np.linalg.lstsq(J, -rows[k], rcond=None)[0]
        return x

    def _patterns(self) -> None:
        """Indices of the mapped pieces' nonzeros in the whole Jacobian and Hessian."""
        pieces = self.pieces
        step_base = np.arange(len(self.at_step)) * self.step_rows
        state_base = len(self.at_step) * self.step_rows + np.arange(len(self.at_state)) * self.state_rows
        rows, columns = [], []
        for f, at, base in (
            (pieces.step_jacobian, self.at_step, step_base),
            (pieces.state_jacobian, self.at_state, state_base),
        ):
            r, c = (np.array(v) for v in f.sparsity_out(0).get_triplet())
            rows.append((base[:, None] + r).ravel())
            columns.append(at[:, c].ravel())
        r, c = (np.array(v, dtype=np.intp) for v in pieces.own_jacobian.sparsity_out(0).get_triplet())
        rows.append(self.motion_rows + r)
        columns.append(c)
        self.jacobian_pattern = _scatter(np.concatenate(rows), np.concatenate(columns), (self.rows, self.unknowns))
        rows, columns = [], []
        for f, at in ((pieces.step_hessian, self.at_step), (pieces.state_hessian, self.at_state)):
            r, c = (np.array(v) for v in f.sparsity_out(0).get_triplet())
            first, second = at[:, r].ravel(), at[:, c].ravel()
            rows.append(np.minimum(first, second))
            columns.append(np.maximum(first, second))
        r, c = (np.array(v, dtype=np.intp) for v in pieces.own_hessian.sparsity_out(0).get_triplet())
        rows.append(r)
        columns.append(c)
        self.hessian_pattern = _scatter(np.concatenate(rows), np.concatenate(columns), (self.unknowns, self.unknowns))

    def _local(self, x: Any) -> tuple[Any, Any]:
        """Local unknowns of all steps and of all states, a column each."""
        return tuple(
            casadi.reshape(x[at.ravel().tolist()], at.shape[1], at.shape[0]) for at in (self.at_step, self.at_state)
        )

    def _mapped(self, kind: str) -> tuple[Any, Any]:
        names = ("step", "state") if not kind else (f"step_{kind}", f"state_{kind}")
        counts = (len(self.at_step), len(self.at_state))
        return tuple(getattr(self.pieces, name).map(count) for name, count in zip(names, counts, strict=True))

    def problem(self) -> Mapping[str, Any]:
        """x, f (mean square deviation, halved) and g as nlpsol takes them."""
        x = casadi.MX.sym("x", self.unknowns)
        step, state = self._mapped("")
        w_step, w_state = self._local(x)
        rows_step, part_step = step(w_step, self.given_step.T)
        rows_state, part_state = state(w_state, self.given_state.T)
        rows_own, part_own = self.pieces.own(x[: self.pieces.m], self.pull)
        value = (casadi.sum2(part_step) + casadi.sum2(part_state)) / self.residuals + part_own
        return {"x": x, "f": value, "g": casadi.vertcat(casadi.vec(rows_step), casadi.vec(rows_state), rows_own)}

    def derivatives(self, *, exact: bool = True) -> dict[str, Any]:
        """`grad_f`, `jac_g`, `hess_lag` as nlpsol takes them; not `exact`: curvature of the objective alone (Gauss-Newton)."""
        x, p = casadi.MX.sym("x", self.unknowns), casadi.MX.sym("p", 0)
        lam_f, lam_g = casadi.MX.sym("lam_f"), casadi.MX.sym("lam_g", self.rows)
        problem = casadi.Function("fg", *_in_out(self.problem()))
        f, g = problem(x)
        w_step, w_state = self._local(x)
        given = self.given_step.T, self.given_state.T
        step, state = self._mapped("gradient")
        values = casadi.vertcat(casadi.vec(step(w_step, given[0])), casadi.vec(state(w_state, given[1])))
        where = np.concatenate([self.at_step.ravel(), self.at_state.ravel()])
        gather = sparse.csc_matrix(
            (np.full(where.size, 1.0 / self.residuals), (where, np.arange(where.size))), (self.unknowns, where.size)
        )
        gradient = casadi.mtimes(_dm(gather), values)
        theta, pieces = x[: self.pieces.m], self.pieces
        by_theta = pieces.own_gradient(theta, self.pull)
        gradient += casadi.vertcat(by_theta, casadi.MX.zeros(self.unknowns - pieces.m, 1))
        step, state = self._mapped("jacobian")
        entries = casadi.vertcat(
            _nonzeros(step(w_step, given[0])),
            _nonzeros(state(w_state, given[1])),
            _nonzeros(pieces.own_jacobian(theta, self.pull)),
        )
        jacobian = self.jacobian_pattern.matrix(entries)
        split = len(self.at_step) * self.step_rows
        pull = lam_g if exact else casadi.MX.zeros(self.rows, 1)
        lam_step = casadi.reshape(pull[:split], self.step_rows, len(self.at_step))
        lam_state = casadi.reshape(pull[split : self.motion_rows], self.state_rows, len(self.at_state))
        step, state = self._mapped("hessian")
        weight = lam_f / self.residuals
        entries = casadi.vertcat(
            _nonzeros(step(w_step, given[0], lam_step, weight)),
            _nonzeros(state(w_state, given[1], lam_state, weight)),
            _nonzeros(pieces.own_hessian(theta, self.pull, pull[self.motion_rows :], lam_f)),
        )
        hessian = self.hessian_pattern.matrix(entries)
        return {
            "grad_f": casadi.Function("grad_f", [x, p], [f, gradient], ["x", "p"], ["f", "grad_f_x"]),
            "jac_g": casadi.Function("jac_g", [x, p], [g, jacobian], ["x", "p"], ["g", "jac_g_x"]),
            "hess_lag": casadi.Function(
                "hess_lag", [x, p, lam_f, lam_g], [hessian], ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
            ),
        }

    def mean_square(self, x: FloatArray) -> float:
        """Mean square of all weighted deviations, without the prior."""
        f = casadi.Function("f", *_in_out(self.problem()))(x)[0]
        return 2.0 * float(f - self.pieces.own(x[: self.pieces.m], self.pull)[1])

    def paths(self, x: FloatArray) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """Of every recording: joint positions and rates of the states, and true torques."""
        pieces, robot = self.pieces, self.pieces.robot
        theta = pieces.coordinates.entries(x[: pieces.m] * pieces.scale)
        states = x[self.at_state[:, pieces.m :]]
        p, pd = robot.joint_state(states, pieces.parameters.alpha(theta), self.given_state[:, : pieces.n])
        at = np.cumsum(pieces.sizes)
        u = pieces.parameters.torque(self.given_step[:, 1 : 1 + pieces.n], theta)
        u[:, pieces.free] = x[self.at_step[:, at[1] : at[2]]]
        found, first, step = [], 0, 0
        for motion in self.motions:
            nodes, steps = slice(first, first + motion.steps + 1), slice(step, step + motion.steps)
            found.append((p[nodes], pd[nodes], u[steps]))
            first, step = nodes.stop, steps.stop
        return found


class _Scatter:
    """Assembles a sparse matrix from entries in a given order, summing duplicates."""

    def __init__(self, sparsity: Any, gather: Any) -> None:
        self.sparsity, self.gather = sparsity, gather

    def matrix(self, entries: Any) -> Any:
        """The matrix (MX) of these entries."""
        return casadi.MX(self.sparsity, casadi.mtimes(self.gather, entries))


def _scatter(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> _Scatter:
    key, place = np.unique(columns.astype(np.int64) * shape[0] + rows, return_inverse=True)
    gather = sparse.csc_matrix((np.ones(len(place)), (place.ravel(), np.arange(len(place)))), (len(key), len(place)))
    sparsity = casadi.Sparsity.triplet(*shape, (key % shape[0]).tolist(), (key // shape[0]).tolist())
    return _Scatter(sparsity, _dm(gather))


def _dm(matrix: Any) -> Any:
    return casadi.DM(matrix)


def _nonzeros(mapped: Any) -> Any:
    """Nonzeros of a mapped piece, one call after the other."""
    return casadi.reshape(mapped.nz[:], mapped.nnz(), 1)


def _in_out(problem: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    return [problem["x"]], [problem["f"], problem["g"]]
