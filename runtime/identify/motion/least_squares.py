"""Least squares by IPOPT: residuals with exact Jacobians from compiled code, Gauss-Newton curvature, bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base import ipopt
from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.callback import Callback
from diffpbd.runtime.base.errors import SolverError

__all__ = ["Condensation", "Fit", "Structure", "minimise"]


@dataclass(frozen=True)
class Condensation:
    """Of residuals r with Jacobian J at a point: half the square of r, Jᵀ r and Jᵀ J.

    `curvature` is the whole matrix, or the nonzeros of its upper triangle in the order of a sparsity pattern; or what gives
    these for the weight of the objective and the equations' multipliers. `equations` and the nonzeros of their Jacobian are
    those of a problem that has some.
    """

    value: float
    gradient: FloatArray
    curvature: FloatArray | Callable[[float, FloatArray], FloatArray]
    equations: FloatArray = field(default_factory=lambda: np.zeros(0))
    equation_slopes: FloatArray = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def of(residual: FloatArray, jacobian: FloatArray) -> Condensation:
        """From residuals (rows,) and Jacobian (rows, unknowns)."""
        return Condensation(float(residual @ residual) / 2, jacobian.T @ residual, jacobian.T @ jacobian)


@dataclass(frozen=True)
class Fit:
    """The optimum, what IPOPT says, and the objective at every point that it tried."""

    solution: ipopt.Solution
    history: tuple[float, ...]


@dataclass(frozen=True)
class Structure:
    """Sparsity (casadi) of the curvature's upper triangle, and of the Jacobian of what has to be zero; None: dense, nothing."""

    curvature: Any = None
    equations: Any = None


class _Evaluation:
    """The condensation at the last point asked for, computed once for gradient and curvature; values alone by `value`."""

    def __init__(
        self,
        condense: Callable[[FloatArray], Condensation],
        value: Callable[[FloatArray], float] | None,
        unknowns: int,
        nonzeros: int,
        equations: Any,
    ) -> None:
        self._condense, self._value = condense, value
        rows, entries = (np.full(count, np.nan) for count in (equations.size1(), equations.nnz()))
        self._failed = Condensation(np.nan, np.full(unknowns, np.nan), np.full(nonzeros, np.nan), rows, entries)
        self._x: FloatArray | None = None
        self._found = self._failed
        self.history: list[float] = []

    def __call__(self, x: Any) -> Condensation:
        at = np.array(x, dtype=np.float64).reshape(-1)
        if self._x is None or not np.array_equal(at, self._x):
            try:
                self._found = self._condense(at)
            except SolverError:  # a step that does not converge: IPOPT shortens its trial
                self._found = self._failed
            self._x = at
        return self._found

    def value(self, x: Any) -> float:
        """The objective, with as little work as possible: line searches ask for no more."""
        at = np.array(x, dtype=np.float64).reshape(-1)
        if self._value is None or (self._x is not None and np.array_equal(at, self._x)):
            found = self(at).value
        else:
            try:
                found = self._value(at)
            except SolverError:
                found = np.nan
        self.history.append(found)
        return found


def minimise(
    what: str,
    condense: Callable[[FloatArray], Condensation],
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    options: Mapping[str, Any] | None = None,
    structure: Structure | None = None,
    value: Callable[[FloatArray], float] | None = None,
) -> Fit:
    """Half the square of residuals, least within bounds; unknowns and objective should be of order one.

    `value` is the objective alone. Raises SolverError with IPOPT's status if it does not succeed.
    """
    n = len(start)
    structure = structure or Structure()
    pattern = casadi.Sparsity.upper(n) if structure.curvature is None else structure.curvature
    slopes = casadi.Sparsity(0, n) if structure.equations is None else structure.equations
    rows = slopes.size1()
    evaluation = _Evaluation(condense, value, n, pattern.nnz(), slopes)
    one, column = casadi.Sparsity.dense(1, 1), casadi.Sparsity.dense(n, 1)
    point = {"x": column, "p": casadi.Sparsity.dense(0, 1)}

    def curvature(x: Any, _p: Any, weight: Any, multipliers: Any) -> list[Any]:
        found = evaluation(x).curvature
        if callable(found):
            return [casadi.DM(pattern, found(float(weight), np.array(multipliers, dtype=np.float64).reshape(-1)))]
        if found.ndim == 1:
            return [casadi.DM(pattern, float(weight) * found)]
        return [casadi.project(casadi.DM(float(weight) * found), pattern)]

    objective = Callback("value", {"x": column}, {"f": one}, lambda x: [evaluation.value(x)])
    gradient = Callback(
        "gradient", point, {"f": one, "g": column}, lambda x, _p: [evaluation(x).value, evaluation(x).gradient]
    )
    hessian = Callback(
        "hessian",
        {**point, "lam_f": one, "lam_g": casadi.Sparsity.dense(rows, 1)},
        {"triu_hess_gamma_x_x": pattern},
        curvature,
    )
    x = casadi.MX.sym("x", n)
    problem = {"x": x, "f": objective(x)}
    derivatives = {"grad_f": gradient, "hess_lag": hessian, "no_nlp_grad": True, "show_eval_warnings": False}
    if rows:
        left = casadi.Sparsity.dense(rows, 1)
        equal = Callback("equal", {"x": column}, {"g": left}, lambda x: [evaluation(x).equations])
        derivatives["jac_g"] = Callback(
            "jacobian", point, {"g": left, "jac_g_x": slopes},
            lambda x, _p: [evaluation(x).equations, casadi.DM(slopes, evaluation(x).equation_slopes)],
        )  # fmt: skip
        problem["g"] = equal(x)
    solution = ipopt.solve(what, problem, start, lower, upper, options=options, derivatives=derivatives)
    return Fit(solution, tuple(evaluation.history))
