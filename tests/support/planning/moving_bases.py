"""Predictive control of a robot whose base moves: weights, bounds and a turn to follow."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.free_flyer import moved, position

from diffpbd.runtime import Robot
from diffpbd.runtime.model.closed import driven
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Bounds, Weights

WEIGHTLESS = {f"gravity.{axis}": 0.0 for axis in "xyz"}


def weights(robot: Robot) -> Weights:
    """Weights of the base's turn, small ones of the joints."""
    base = len(robot.manifest.robot.base_freedoms)
    p, pd = np.full(robot.n, 1e-4), np.full(robot.n, 1e-2)
    p[:base] = [0, 0, 0, 10, 10, 10] if base == 6 else [0, 0, 10]
    pd[:base] = [0, 0, 0, 0.1, 0.1, 0.1] if base == 6 else [0, 0, 0.1]
    return Weights(p=p, pd=pd, u=1e-3, du=1e-3)


def bounds(robot: Robot, effort: float) -> Bounds:
    own, free = np.where(driven(robot), effort, np.inf), np.full(robot.n, np.inf)
    return Bounds(-own, own, 0.5 * own, -free, free, np.where(driven(robot), 4.0, np.inf))


def mpc_of(robot: Robot, steps: int = 10, backend: str = "embedded", effort: float = 1.5) -> Mpc:
    return Mpc(
        robot, steps, h=0.02, weights=weights(robot), bounds=bounds(robot, effort), alpha=WEIGHTLESS,
        options=MpcOptions(backend=backend),
    )  # fmt: skip


def tumbling() -> tuple[Any, Any, Any]:
    """A position, rates, and a position whose base is turned by half a radian more."""
    p = position(np.random.default_rng(4), 1)
    p[7] = 0.1
    return p, np.array([0.1, -0.1, 0.05, 0.2, -0.3, 0.1, 0.4]), moved(p, np.array([0, 0, 0, 0.1, -0.5, 0.2, 0]))
