"""A UR5 from its published description: generated, moved to a point by predictive control, its torques held against the limits.

Before: pip install example-robot-data
"""

# %% The description, its doubts, and the robot
from importlib.metadata import files

import numpy as np

import diffpbd

urdf = next(str(f.locate()) for f in files("example-robot-data") if f.name == "ur5_robot.urdf")
for doubt in diffpbd.check(urdf, tip=["ee_link"]).doubts:
    print(doubt.message)
robot = diffpbd.generate(
    urdf, tip=["ee_link"], functions="joint_step,mpc,tip_pose", out="generated/ur5", progress=print
)
print(robot)

# %% The tip to a point 15 cm higher
q0 = np.array([0.0, -1.2, 1.4, -0.6, -1.5, 0.0])
tip = robot.tip_pose(q0).position + [0.0, 0.0, 0.15]
run = diffpbd.Mpc(robot, horizon=20).run_to(tip=tip, q0=q0, speed=0.6)
print(run, "tip off by", 1e3 * np.linalg.norm(robot.tip_pose(run.q[-1]).position - tip), "mm")
print("largest share of an effort limit:", (np.abs(run.tau) / robot.limits.effort).max())
run.plot("ur5.png")
