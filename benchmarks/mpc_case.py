"""One tick of predictive control that several solvers are given: its data, its cost, and what is timed of a solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.standalone import H
from diffpbd.runtime import Robot
from diffpbd.runtime.mpc.problem import Weights

WEIGHTS = Weights(u=2e-7, du=0.0)
"""Tracking as published, 1 and 0.02; the small third weight is on the torque about the holding torque, since a change of torque
is no quantity of crocoddyl's."""
AMPLITUDE, PERIOD = 0.15, 1.5
"""[rad, s] Of the reference, a sine on every joint: within the limits of torque and speed."""
CENTRE = np.array([0.2, -0.5, -0.3, 1.2, 0.2, 0.8, 0.1])
BEFORE = 0.05
"""[s] Time on the sine at the tick."""
Call = Callable[[], None]


@dataclass(frozen=True)
class Case:
    """A tick's data: state x (n,), (n,), references P, PD (N + 1, n), U (N, n), torque bounds (n,)."""

    horizon: int
    p: np.ndarray
    pd: np.ndarray
    P: np.ndarray
    PD: np.ndarray
    U: np.ndarray
    effort: np.ndarray

    @staticmethod
    def of(robot: Robot, horizon: int, offset: float) -> Case:
        time = BEFORE + H * np.arange(horizon + 1)[:, None]
        phase = 2.0 * np.pi / PERIOD * time + np.arange(robot.n)
        P = CENTRE + AMPLITUDE * np.sin(phase)
        PD = AMPLITUDE * 2.0 * np.pi / PERIOD * np.cos(phase)
        effort = robot.limits.effort
        p = P[0] + offset
        return Case(horizon, p, PD[0], P, PD, np.tile(robot.gravity(p), (horizon, 1)), effort)


@dataclass
class Tick:
    """Times of one solver: an iteration from the cold start and one from the converged plan, and what converged."""

    cold: Call
    warm: Call
    iterations: int
    cost: float
