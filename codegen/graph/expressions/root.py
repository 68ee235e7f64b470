"""A root of a step's equations as a CasADi function that can be differentiated any number of times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import casadi as ca

TOLERANCES: Final = {True: {"abstol": 1e-12}, False: {"abstol": 1e-16, "abstolStep": 1e-13}}
"""[kg·m² and kg·m²/s, scaled; rad and rad/s] Where the CasADi root finder stops, by whether a tree is deep: residual or step. A
light wrist's residual is below 1e-12 before its pose is exact; in world axes, of deep trees, rounding allows no more. The
emitted C has its own test (see the manifest)."""

FOUND: Final = 1e-9
"""[rad or m, 1/s of these] Error of a root, by the diagonal of its Jacobian, from which it is none: far above what a step that
converged leaves, far below one that did not."""

FAR_TURN: Final = 2.0
"""[rad] Turn beside the first guess that no search of a pose may end in."""
FALLING: Final = tuple(10.0**-k for k in range(-1, 8))
"""[rad/s, m/s] Slips along which a step is looked for where Newton's method fails at its own: at wide ones it does not."""


class Root:
    """A stage of a step: equations of momentum, loops and unilateral constraints, what is known (state with parameters, and
    what is fixed while it is solved), and a first guess, off which `turning` unknowns end by no more than `FAR_TURN`. `deep`:
    it is the stage of a deep tree, which nothing constrains.

    CasADi's own error fills pages with every input of every failed evaluation, and a solver around it makes hundreds. NaN is no
    less an error: to IPOPT it is one, and no result that depends on it is a number.
    """

    def __init__(
        self,
        name: str,
        unknown: Any,
        known: tuple[Any, Any],
        equations: tuple[Any, Any, Any],
        guess: Any,
        turning: Sequence[int] = (),
        deep: bool = False,
    ) -> None:
        self.name, self.size = name, unknown.numel()
        state, fixed = known
        momentum, loops, unilateral = equations
        parameters, every = ca.vertcat(*known), ca.vertcat(*equations)
        options = {**TOLERANCES[deep], "max_iter": 50, "line_search": not loops.numel() or bool(unilateral.numel())}
        quiet = {"error_on_fail": False, "show_eval_warnings": False}
        self.solve = ca.rootfinder(name, "newton", {"x": unknown, "p": parameters, "g": every}, {**options, **quiet})
        self.guess = ca.Function(f"{name}_guess", [state, fixed], [guess], {"cse": True})
        slope = ca.diag(ca.jacobian(momentum, unknown[: momentum.numel()]))
        stiffness = ca.mmin(ca.fabs(slope)) if unilateral.numel() else ca.SX(1)
        error = ca.norm_1(momentum / slope) + ca.norm_1(loops) + ca.norm_1(unilateral) / stiffness
        if turning:
            n = len(turning)
            far = ca.mmax(ca.DM(turning) * ca.fabs(unknown[:n] - guess[:n])) > FAR_TURN
            error = ca.if_else(far, ca.inf, error)
        self.left = ca.Function(f"{name}_left", [unknown, state, fixed], [error], {"cse": True})

    def root(self, state: Any, fixed: Any, slips: Sequence[int] = ()) -> Any:
        """The root, from the guess or, where that fails, along falling `slips` (their places in the state); NaN without one."""
        start = self.guess(state, fixed)
        if slips:
            start = self._started(slips)(start, state, fixed)
        found = self.solve(x0=start, p=ca.vertcat(state, fixed))["x"]
        return ca.if_else(self.left(found, state, fixed) <= FOUND, found, ca.DM.nan(self.size, 1))

    def _started(self, slips: Sequence[int]) -> ca.Function:
        """A start from which Newton's method finds the root: a root itself where the guess has led to one. Not
        differentiated: a root does not depend on where its search began."""
        guess, state, fixed = (
            ca.MX.sym(name, size)
            for name, size in (("guess", self.size), ("state", self.left.numel_in(1)), ("fixed", self.left.numel_in(2)))
        )
        along, wide = guess, ca.MX(state)
        for slip in FALLING:
            wide = ca.MX(state)
            for i in slips:
                wide[i] = ca.fmax(state[i], slip)
            if slip == FALLING[0]:
                along = self.guess(wide, fixed)
            along = self.solve(x0=along, p=ca.vertcat(wide, fixed))["x"]
        given = [guess, state, fixed]
        search = ca.Function(f"{self.name}_search", given, [along])
        keep = ca.Function(f"{self.name}_keep", given, [guess])
        choose = ca.Function.if_else(f"{self.name}_start", keep, search)
        tried = self.solve(x0=guess, p=ca.vertcat(state, fixed))["x"]
        good = self.left(tried, state, fixed) <= FOUND
        rest = {"is_diff_in": [False] * 3, "is_diff_out": [False]}
        return ca.Function(f"{self.name}_from", given, [choose(good, tried, state, fixed)], rest)
