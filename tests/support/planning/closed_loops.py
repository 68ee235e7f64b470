"""Predictive control of a mechanism with closed loops: its goal, weights and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.mechanisms import MECHANISMS
from support.small.closed_robots import case

from diffpbd.runtime import Robot
from diffpbd.runtime.model import closed
from diffpbd.runtime.mpc.problem import Bounds, Weights

TIGHT = Weights(p=10.0, pd=0.1, u=1e-4, du=1e-4)


def five_bar() -> tuple[Robot, Any, Any]:
    """The robot, a closed pose and a goal that the loops allow."""
    c = case("five_bar")
    guess = MECHANISMS["five_bar"]().guess
    p = c.robot.close_loops([guess[j] for j in c.robot.joints], np.zeros(4))
    return c.robot, p, c.robot.close_loops(p + [0.4, 0.0, -0.3, 0.0], np.array([1.0, 0.0, 1.0, 0.0]))


def bounds(robot: Robot, effort: float) -> Bounds:
    own = np.where(closed.driven(robot), effort, np.inf)
    free = np.full(robot.n, np.inf)
    return Bounds(-own, own, 0.5 * own, -free, free, np.full(robot.n, 6.0))
