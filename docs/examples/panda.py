"""A Franka Panda from its published description: friction and payload identified from a recording, and told from what was true.

Before: pip install example-robot-data
"""

# %% The arm with a closed hand; only what identification needs is generated, in seconds
import sys
from importlib.metadata import files

import numpy as np

import diffpbd

urdf = next(str(f.locate()) for f in files("example-robot-data") if f.name == "panda.urdf")
fingers = ["panda_finger_joint1", "panda_finger_joint2"]
robot = diffpbd.generate(urdf, hold=fingers, functions="torque_terms", out="generated/panda", progress=print)
print(robot)

# %% A recording of 12 s: harmonics within the limits, a payload in the hand, friction, and 0.05 N·m of noise
rng = np.random.default_rng(0)
t = np.arange(0.0, 12.0, 0.004)
low, high = robot.limits.lower, robot.limits.upper
w = 2 * np.pi / 6.0 * np.arange(1, 4)[:, None, None]
a, b = 0.12 * (high - low) * rng.uniform(-1, 1, (2, 3, 1, robot.n))
q = (low + high) / 2 + (a * np.sin(w * t[:, None]) + b * np.cos(w * t[:, None])).sum(axis=0)
dq = (w * (a * np.cos(w * t[:, None]) - b * np.sin(w * t[:, None]))).sum(axis=0)
ddq = (-(w**2) * (a * np.sin(w * t[:, None]) + b * np.cos(w * t[:, None]))).sum(axis=0)
truth = {"payload.mass": 1.2, "payload.com.z": 0.08}
truth |= {f"friction.viscous.{joint}": 0.5 + 0.1 * k for k, joint in enumerate(robot.joints)}
truth |= {f"friction.coulomb.{joint}": 0.8 - 0.05 * k for k, joint in enumerate(robot.joints)}
tau = robot.inverse_dynamics(q, dq, ddq, alpha=truth) + rng.normal(scale=0.05, size=q.shape)
columns = {"time": t}
for name, values in (("q", q), ("dq", dq), ("tau", tau)):
    columns |= {f"{name}_{joint}": values[:, k] for k, joint in enumerate(robot.joints)}
np.savetxt("panda.csv", np.column_stack(list(columns.values())), delimiter=",", header=",".join(columns), comments="")

# %% What the recording says, tested on its last third
found = diffpbd.identify(robot, "panda.csv", ["friction", "payload.mass", "payload.com.z"], split=0.67, cutoff=20.0)
print(found)
off = max(abs(found.params[name] / value - 1) for name, value in truth.items())
print(f"farthest from the truth: {100 * off:.2f} %; RMSE at most {max(found.rmse.values()):.3f} N·m")
found.plot("panda.png")
found.save("panda.json")

# %% A recording of your own, with these joints: python panda.py LOG
if len(sys.argv) > 1:
    print(diffpbd.identify(robot, sys.argv[1], "friction", split=0.7))
