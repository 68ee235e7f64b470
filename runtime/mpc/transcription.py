"""Equality constraints between states in the whole nonlinear program: the step, or its equations with impulses as unknowns."""

from __future__ import annotations

import math
from typing import Any, Protocol

import casadi
import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.mpc.problem import Problem

__all__ = ["Rows", "Steps", "Transcription", "transcribed"]

SLIP = "contact.slip"
SOFTEST = 0.1
"""[m/s] Slip of the first solve: a sticking contact has no gradient that shows how it would move."""
FALL, ROUNDING = 10.0, 1e-6
"""[1] Largest ratio of the slips of consecutive solves; and rounding tolerance of their number."""
STATE = 7
"""Inputs of `contact_residual` before the impulses."""


class Transcription(Protocol):
    """Equations between columns of U (n, N), P, PD (n, N + 1), with unknowns of their own and a parameter."""

    unknowns: Any
    parameter: Any

    def equations(self, U: Any, P: Any, PD: Any) -> Any:
        """Residuals, zero along the robot's motion."""

    def first(self, U: FloatArray, P: FloatArray, PD: FloatArray, value: FloatArray) -> FloatArray:
        """A guess of the unknowns for rows of U (N, n), P, PD (N + 1, n)."""

    def values(self, cold: bool) -> list[FloatArray]:
        """The parameter of each of the successive solves."""


class Steps:
    """Defects of `joint_step`."""

    def __init__(self, problem: Problem) -> None:
        """No unknowns but torques and states."""
        self._problem = problem
        self.unknowns = self.parameter = casadi.MX(0, 1)

    def equations(self, U: Any, P: Any, PD: Any) -> Any:
        """Differences of the steps' ends and the next states."""
        problem = self._problem
        step = problem.robot.casadi("joint_step").map(problem.horizon)
        ends = step(P[:, :-1], PD[:, :-1], U, casadi.DM(problem.h), casadi.DM(problem.alpha))
        return casadi.vertcat(casadi.vec(ends[0] - P[:, 1:]), casadi.vec(ends[1] - PD[:, 1:]))

    def first(self, U: FloatArray, P: FloatArray, PD: FloatArray, value: FloatArray) -> FloatArray:
        """Nothing."""
        return np.zeros(0)

    def values(self, cold: bool) -> list[FloatArray]:
        """One solve without a parameter."""
        return [np.zeros(0)]


class Rows:
    """`contact_residual` with the impulses as unknowns, without inner iterations; in a cold start `contact.slip` falls from
    solve to solve from SOFTEST to the problem's."""

    def __init__(self, problem: Problem) -> None:
        """For a robot with contacts."""
        self._problem, self._rows = problem, problem.robot.casadi("contact_residual")
        self._alpha, self._slip = problem.alpha.copy(), problem.robot.alpha.index(SLIP)
        self._sizes = [self._rows.size1_in(k) for k in range(STATE, self._rows.n_in())]
        self.unknowns = casadi.MX.sym("impulses", sum(self._sizes) * problem.horizon)
        self.parameter = casadi.MX.sym("slip")
        given = [casadi.MX.sym(self._rows.name_in(k), *self._rows.size_in(k)) for k in range(self._rows.n_in())]
        n, impulses = problem.robot.n, casadi.vertcat(*given[STATE:])
        momenta = casadi.vertcat(*[rows[:n] for rows in self._rows(*given)])
        self._linear = casadi.Function("linear", given, [momenta, casadi.jacobian(momenta, impulses)])

    def equations(self, U: Any, P: Any, PD: Any) -> Any:
        """Both stages of every step; momenta as forces."""
        problem, N, n = self._problem, self._problem.horizon, self._problem.robot.n
        alpha = casadi.MX(self._alpha)
        alpha[self._slip] = self.parameter
        parts = casadi.vertsplit(
            casadi.reshape(self.unknowns, sum(self._sizes), N), [0, *np.cumsum(self._sizes).tolist()]
        )
        h, every = casadi.repmat(casadi.DM(problem.h), 1, N), casadi.repmat(alpha, 1, N)
        stages = self._rows.map(N)(P[:, :-1], PD[:, :-1], U, h, every, P[:, 1:], PD[:, 1:], *parts)
        scaled = [casadi.vertcat(stage[:n, :] / problem.h, stage[n:, :]) for stage in stages]
        return casadi.vertcat(*[casadi.vec(stage) for stage in scaled])

    def first(self, U: FloatArray, P: FloatArray, PD: FloatArray, value: FloatArray) -> FloatArray:
        """The impulses that balance the momenta of every step."""
        alpha, still, found = self._alpha.copy(), [np.zeros(size) for size in self._sizes], []
        alpha[self._slip] = value[0]
        for k in range(self._problem.horizon):
            at = (P[k], PD[k], U[k], self._problem.h, alpha, P[k + 1], PD[k + 1])
            left, slope = (np.array(x) for x in self._linear(*at, *still))
            found.append(np.linalg.lstsq(slope, -left.ravel(), rcond=None)[0])
        return np.concatenate(found)

    def values(self, cold: bool) -> list[FloatArray]:
        """Slips [m/s]."""
        last = float(self._problem.alpha[self._slip])
        falls = math.ceil(math.log(SOFTEST / last) / math.log(FALL) - ROUNDING) if cold and last < SOFTEST else 0
        return [np.array([slip]) for slip in np.geomspace(SOFTEST if falls else last, last, falls + 1)]


def transcribed(problem: Problem) -> Transcription:
    """`Rows` for a robot with contacts and without joint limits, else `Steps`."""
    robot = problem.robot
    rows = "contact_residual" in robot.functions and "limit.slip" not in robot.alpha.names
    return Rows(problem) if rows else Steps(problem)
