"""Simulated recordings for the forms that follow a trajectory: `joint_step` under a controller, without noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from diffpbd.runtime import Robot
from diffpbd.runtime.logs.csv import Log

PENDULUM = ["friction", "spring.shoulder"]
PENDULUM_TRUTH = {
    "friction.coulomb.shoulder": 0.4,
    "friction.coulomb.elbow": 0.15,
    "friction.viscous.shoulder": 0.3,
    "friction.viscous.elbow": 0.05,
    "torque_offset.elbow": -0.6,
    "spring.stiffness.shoulder": 7.0,
    "spring.rest.shoulder": -0.8,
}
STIFFNESS, DAMPING = 100.0, 20.0  # 1/s², 1/s


def arm_truth(robot: Robot, seed: int = 1) -> dict[str, float]:
    """Friction, offsets and the shoulder's spring of a Baxter arm; no offset where the spring is."""
    rng = np.random.default_rng(seed)
    truth = {}
    for joint in robot.joints:
        truth[f"friction.coulomb.{joint}"] = float(rng.uniform(0.05, 0.3))
        truth[f"friction.viscous.{joint}"] = float(rng.uniform(0.05, 0.3))
        truth[f"torque_offset.{joint}"] = float(rng.uniform(-0.5, 0.5))
    shoulder = robot.manifest.recipe.springs[0]
    del truth[f"torque_offset.{shoulder}"]
    return truth | {f"spring.stiffness.{shoulder}": 24.0, f"spring.rest.{shoulder}": -1.5}


def followed(robot: Robot, truth: Mapping[str, float] | np.ndarray, steps: int, h: float = 0.01, seed: int = 1) -> Log:
    """An arm that follows sines by computed torque, held during each step; readings include the sensors' offsets."""
    rng = np.random.default_rng(seed)
    alpha, n = truth if isinstance(truth, np.ndarray) else robot.alpha.vector(truth), robot.n
    q, dq, tau = np.zeros((3, steps + 1, n))
    q[0] = rng.uniform(-0.5, 0.5, n)
    amplitude, omega, phase = rng.uniform(0.2, 0.6, n), rng.uniform(2.0, 6.0, n), rng.uniform(0.0, 6.0, n)
    time = np.arange(steps + 1) * h
    for k in range(steps):
        angle = omega * time[k] + phase
        rate = amplitude * omega * np.cos(angle)
        sine = amplitude * np.sin(angle)
        wanted = DAMPING * (rate - dq[k]) + STIFFNESS * (sine - q[k]) - omega**2 * sine
        tau[k] = robot.inverse_dynamics(q[k], dq[k], wanted, alpha) + robot.friction_torque(dq[k], alpha)
        tau[k] -= robot.friction_torque(rate, alpha)
        tau[k] -= alpha[list(robot.alpha.indices("torque_offset"))]
        q[k + 1], dq[k + 1] = robot.joint_step(q[k], dq[k], tau[k], h, alpha)
    tau[-1] = tau[-2]
    return Log(time, robot.joints, q, dq, None, tau + alpha[list(robot.alpha.indices("torque_offset"))])
