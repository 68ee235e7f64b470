"""Synthetic recordings: motions with exact rates, torques from the generated inverse dynamics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from diffpbd.runtime import Robot
from diffpbd.runtime.logs.csv import Log
from diffpbd.runtime.logs.processing import Processing, Samples, process

EXACT = Processing(cutoff=None)


def motion(
    robot: Robot,
    truth: Mapping[str, float],
    *,
    seed: int = 0,
    seconds: float = 8.0,
    rate: float = 100.0,
    noise: float = 0.0,
    still: Sequence[str] = (),
) -> Log:
    """Sums of sines in every joint but the still ones."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * rate)) / rate
    n = robot.n
    q, dq, ddq = np.zeros((3, len(t), n))
    for j in range(n):
        for _ in range(0 if robot.joints[j] in still else 4):
            amplitude, omega, phase = rng.uniform(0.1, 0.5), 2.0 * np.pi * rng.uniform(0.1, 1.0), rng.uniform(0.0, 6.0)
            q[:, j] += amplitude * np.sin(omega * t + phase)
            dq[:, j] += amplitude * omega * np.cos(omega * t + phase)
            ddq[:, j] -= amplitude * omega**2 * np.sin(omega * t + phase)
    tau = robot.inverse_dynamics(q, dq, ddq, robot.alpha.vector(truth))
    return Log(t, robot.joints, q, dq, ddq, tau + noise * rng.normal(size=tau.shape))


def samples(robot: Robot, truth: Mapping[str, float], name: str = "run", **options: object) -> list[Samples]:
    """The log as samples, without a filter."""
    return process(name, motion(robot, truth, **options), EXACT)
