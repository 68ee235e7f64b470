"""The embedded back end: the generated robot's own C solver, `<robot>_mpc`, through the loaded library."""

from __future__ import annotations

import time as clock

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.functions.rollout import Rollout
from diffpbd.runtime.mpc.options import TICK_ITERATIONS
from diffpbd.runtime.mpc.problem import NONE, Plan, Problem, Status, Task

__all__ = ["Embedded"]

GUESS, SHIFTED, COLD = 0.0, 1.0, 2.0
PROGRAM_ITERATIONS = 30
"""Iterations per program of a sequence: 2 or 3 rounds of the active-set method, else 5 to 30 of the interior point."""
GAP, TICK_GAP = 1e-8, 1e-6
"""[1] Duality gap over the cost at which a program is solved: in a sequence, and in a tick with one program."""
STEP = 1e-8
"""[1] Relative change of the torques at which the sequence of programs has converged."""
INFO_SIZE, WITH_DISTANCES = 8, 9


class Embedded:
    """Fixed arrays around the C function: nothing is allocated in a call. One object for one thread."""

    name = "embedded"

    def __init__(self, problem: Problem, iterations: int = TICK_ITERATIONS) -> None:
        """For a robot that was generated with `mpc`; at most `iterations` where a tick has one program."""
        robot, n, n_p, N = problem.robot, problem.robot.n, problem.robot.n_p, problem.horizon
        if "mpc" not in robot.functions:
            why = robot.manifest.why_not("mpc") or f"Generate it again: {robot.manifest.again()}."
            raise InputError(f"{robot.name} has no function mpc. {why}")
        function = robot.function("mpc")
        assert isinstance(function, Rollout)
        self.problem, self.iterations = problem, iterations
        self._options = np.array([COLD, 1, PROGRAM_ITERATIONS, GAP, STEP, *problem.price])
        self._given: dict[str, FloatArray] = {
            "p": np.zeros(n_p), "pd": np.zeros(n), "u_last": np.zeros(n),
            "P_ref": np.zeros((N + 1, n_p)), "PD_ref": np.zeros((N + 1, n)), "U_ref": np.zeros((N, n)),
            "tip_ref": np.zeros((N + 1, 3)),
            "P_guess": np.zeros((N + 1, n_p)), "PD_guess": np.zeros((N + 1, n)), "U_guess": np.zeros((N, n)),
        }  # fmt: skip
        # The problem's own arrays, so that changed bounds take effect here.
        own = {
            "weights": problem.weights, "tip_weights": problem.tip_weights, "bounds": problem.bounds,
            "options": self._options, "h": np.array([problem.h]), "alpha": problem.alpha,
        }  # fmt: skip
        apart = problem.apart
        distances = {} if apart is None else {"keep_apart": apart.numbers, **apart.obstacles}
        self._out: dict[str, FloatArray] = {
            "U": np.zeros((N, n)), "P": np.zeros((N + 1, n_p)), "PD": np.zeros((N + 1, n)),
            "info": np.zeros(INFO_SIZE if apart is None else WITH_DISTANCES),
        }  # fmt: skip
        self._call = function.fixed(N, {**self._given, **own, **distances}, self._out)

    def solve(
        self, task: Task, guess: Plan | None = None, *, shifted: bool = False, programs: int = 1,
        seconds: float = float("inf"),
    ) -> Plan:  # fmt: skip
        """At most `programs` quadratic programs within `seconds`, from a first guess (`shifted`: by one step; None: cold).

        With a limit of seconds the programs are called one at a time, and none begins after it.
        """
        self._take(
            p=task.p, pd=task.pd, u_last=task.u_last, P_ref=task.P, PD_ref=task.PD, U_ref=task.U, tip_ref=task.tip
        )
        self._options[0] = COLD if guess is None else SHIFTED if shifted else GUESS
        if guess is not None:
            self._begin_at(guess)
        self._options[2:4] = (self.iterations, TICK_GAP) if programs == 1 else (PROGRAM_ITERATIONS, GAP)
        if not np.isfinite(seconds):
            self._options[1] = programs
            return self._plan(0, 0, 0.0)
        end = clock.perf_counter() + seconds
        self._options[1] = 1
        done, inner, spent = 0, 0, 0.0
        while True:
            plan = self._plan(done, inner, spent)
            done, inner, spent = plan.iterations, plan.inner_iterations, plan.seconds
            last_change = self._out["info"][2]
            if not plan.status.usable or done >= programs or last_change <= STEP or clock.perf_counter() >= end:
                return plan
            self._options[0] = GUESS
            self._begin_at(plan)

    def _begin_at(self, plan: Plan) -> None:
        self._take(P_guess=plan.P, PD_guess=plan.PD, U_guess=plan.U)

    def _take(self, **given: FloatArray) -> None:
        for name, value in given.items():
            self._given[name][:] = value

    def _plan(self, programs: int, inner: int, spent: float) -> Plan:
        """Call the solver and add its counts to the earlier ones."""
        begin = clock.perf_counter()
        status = self._call()
        spent += clock.perf_counter() - begin
        U, P, PD, info = (self._out[name].copy() for name in ("U", "P", "PD", "info"))
        return Plan(
            Status(status), U, P, PD, cost=float(info[0]), defect=float(info[1]), violation=float(info[5]),
            clearance=float(info[8]) if len(info) > INFO_SIZE and info[8] < NONE else float("inf"),
            iterations=programs + int(info[3]), inner_iterations=inner + int(info[4]),
            seconds=spent,
        )  # fmt: skip
