"""Dampers for a double pendulum: the friction with which a swing dies out soonest, by exact gradients of a rollout.

Before: diffpbd generate double_pendulum
"""

# %% The robot, and a swing of three seconds
import numpy as np
from scipy.optimize import minimize

import diffpbd

robot = diffpbd.load("double_pendulum")
q0, dq0, U = np.array([1.0, 0.4]), np.zeros(2), np.zeros((300, 2))
names = ["friction.viscous.shoulder", "friction.viscous.elbow"]
places = [robot.alpha.index(name) for name in names]


# %% What is to be small, and its gradient by the two coefficients
def restlessness(x):
    """Mean square of the joint angles, and its gradient, exact, in the time of a few rollouts."""
    alpha = robot.alpha.vector(dict(zip(names, x, strict=True)))
    P, _ = robot.rollout(q0, dq0, U, alpha=alpha)
    back = robot.vjp_rollout(q0, dq0, U, alpha=alpha, P_bar=2.0 * P / len(P))
    return (P**2).sum() / len(P), back.alpha_bar[places]


# %% The best dampers
start = np.array([0.5, 0.5])
found = minimize(restlessness, start, jac=True, bounds=[(0.0, 100.0)] * 2)
print(
    f"without choice {restlessness(start)[0]:.4f}, best {found.fun:.4f} rad² with",
    dict(zip(names, found.x, strict=True)),
)

# %% How it swings now
run = diffpbd.simulate(robot, duration=3.0, q0=q0, alpha=dict(zip(names, found.x, strict=True)))
run.plot("pendulum_design.png")
