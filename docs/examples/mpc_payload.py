"""Predictive control with a payload that the plan does not know, with and without the observer of disturbances.

Before: diffpbd generate double_pendulum
"""

# %% A robot, and a plant that carries more than the plan knows
import numpy as np

import diffpbd

robot = diffpbd.load("double_pendulum")
goal, payload = {"shoulder": 0.6, "elbow": -0.3}, {"payload.mass": 0.8}

# %% Without an observer the arm sags, with one it does not
for name, observer in (("plan alone", None), ("with observer", 0.1)):
    mpc = diffpbd.Mpc(robot, horizon=15, disturbance=observer)
    run = mpc.run_to(goal, plant=payload, duration=2.5, within=None)
    away = np.abs(run.q[-1] - run.reference[-1]).max()
    print(f"{name}: {1e3 * away:.2f} mrad from the goal, median tick {1e3 * np.median(run.seconds):.2f} ms")
run.plot("mpc_payload.png")

# %% Noise and another start
noisy = diffpbd.Mpc(robot, horizon=15, disturbance=0.1).run_to(
    goal, q0=[-0.5, 0.5], plant=diffpbd.Plant(robot.alpha.vector(payload), noise=1e-3, rate_noise=5e-3)
)
print(noisy)
