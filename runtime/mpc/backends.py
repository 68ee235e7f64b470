"""Interface of the solver back ends."""

from __future__ import annotations

from typing import Protocol

from diffpbd.runtime.mpc.options import Backend
from diffpbd.runtime.mpc.problem import Plan, Problem, Task

__all__ = ["Solver", "solver_of"]


class Solver(Protocol):
    """A solver back end."""

    name: str
    problem: Problem

    def solve(
        self, task: Task, guess: Plan | None = None, *, shifted: bool = False, programs: int = 1, seconds: float = ...
    ) -> Plan:
        """A plan from a first guess (None: cold start; `shifted`: by one step)."""


def solver_of(problem: Problem, backend: Backend, iterations: int) -> Solver:
    """The back end of that name for a problem, with so many iterations of a tick's program at most; CasADi only if needed."""
    if backend == "embedded":
        from diffpbd.runtime.mpc.embedded import Embedded

        return Embedded(problem, iterations)
    from diffpbd.runtime.mpc.ipopt import Ipopt

    return Ipopt(problem)
