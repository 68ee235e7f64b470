"""IPOPT through CasADi: scaled unknowns in, a named status out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import SolverError

__all__ = ["SOLVED", "Solution", "solve"]

SOLVED = "Solve_Succeeded"
ACCEPTABLE = "Solved_To_Acceptable_Level"
TOLERANCE = 1e-10
"""[1] Optimality of the scaled problem, whose unknowns and objective are of order one: six digits more than the parameters
need, so that the statistics after it are those of the optimum."""
MAX_ITERATIONS = 500

OPTIONS: Mapping[str, Any] = {
    "print_time": False,
    "error_on_fail": False,
    "ipopt": {
        "print_level": 0,
        "sb": "yes",
        "tol": TOLERANCE,
        "max_iter": MAX_ITERATIONS,
        "acceptable_iter": 0,  # a point that is only acceptable is a failure here
        "bound_relax_factor": 0.0,
        "honor_original_bounds": "yes",
    },
}


@dataclass(frozen=True)
class Solution:
    """The optimum: unknowns, objective, IPOPT's status and number of iterations, multipliers of the bounds."""

    x: FloatArray
    objective: float
    status: str
    iterations: int
    bound_multipliers: FloatArray


def solve(
    what: str,
    problem: Mapping[str, Any],
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    *,
    options: Mapping[str, Any] | None = None,
    derivatives: Mapping[str, Any] | None = None,
) -> Solution:
    """Minimise `f` over `x` within bounds, subject to `g` = 0 (`problem` as for casadi.nlpsol).

    Anything but success raises SolverError with the status; an acceptable point counts where `options` say what that is.
    `derivatives` (`grad_f`, `jac_g`, `hess_lag`, as nlpsol takes them) replace CasADi's.
    """
    chosen = {**OPTIONS, **(derivatives or {}), "ipopt": {**OPTIONS["ipopt"], **(options or {})}}
    try:
        solver = casadi.nlpsol("solver", "ipopt", dict(problem), chosen)
        bounds: dict[str, Any] = {"lbx": lower, "ubx": upper}
        if "g" in problem:
            bounds |= {"lbg": 0.0, "ubg": 0.0}
        result = solver(x0=start, **bounds)
    except RuntimeError as error:
        raise SolverError(f"{what}: the solver stopped: {str(error).strip().splitlines()[-1]}") from None
    stats = solver.stats()
    status = str(stats["return_status"])
    if status not in (SOLVED, *([ACCEPTABLE] if options and "acceptable_tol" in options else [])):
        raise SolverError(
            f"{what}: IPOPT ended with {status} after {stats['iter_count']} iterations; nothing was written."
        )
    return Solution(
        x=np.array(result["x"], dtype=np.float64).reshape(-1),
        objective=float(result["f"]),
        status=status,
        iterations=int(stats["iter_count"]),
        bound_multipliers=np.array(result["lam_x"], dtype=np.float64).reshape(-1),
    )
