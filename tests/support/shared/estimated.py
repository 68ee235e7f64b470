"""A motion whose torques are estimated."""

from __future__ import annotations

import numpy as np

from diffpbd.runtime import Robot

H, STEPS = 0.01, 8


def motion(
    robot: Robot, alpha: np.ndarray, seed: int = 0, steps: int = STEPS
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A rollout of joint_step from a moving state: torques (steps, n), P and PD (steps + 1, n)."""
    rng = np.random.default_rng(seed)
    p0, pd0 = 0.4 * rng.normal(size=robot.n), 0.5 * rng.normal(size=robot.n)
    hold = robot.gravity(p0, alpha) - robot.spring_torque(p0, alpha)
    inertia = np.diag(np.reshape(robot.mass_matrix(p0), (robot.n, robot.n)))
    U = hold + 3.0 * inertia * rng.normal(size=(steps, robot.n))
    P, PD = robot.rollout(p0, pd0, U, H, alpha)
    return U, P, PD
