"""A gripper whose second finger mimics the first: one coordinate, the inertia of both fingers."""

# %% The description
from pathlib import Path

import numpy as np

import diffpbd

FINGER = """
<link name="{name}"><inertial><mass value="0.1"/><origin xyz="0 0 0.03"/>
  <inertia ixx="2e-5" iyy="2e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{name}_slide" type="prismatic"><parent link="palm"/><child link="{name}"/><axis xyz="0 {sign} 0"/>
  <limit lower="0" upper="0.05" effort="40" velocity="0.3"/>{mimic}</joint>"""
mimic = '<mimic joint="left_slide" multiplier="1"/>'
fingers = FINGER.format(name="left", sign=1, mimic="") + FINGER.format(name="right", sign=-1, mimic=mimic)
Path("gripper.urdf").write_text(f'<robot name="gripper"><link name="palm"/>{fingers}</robot>')

# %% The robot: `right_slide` is no coordinate, but its finger has mass
robot = diffpbd.generate("gripper.urdf", tip=["left", "right"], functions="joint_step")
print(robot.joints, "mass that one slide moves:", robot.mass_matrix([0.0]))


# %% Closing with a force, against a spring-like object at 1 cm
def grasp(time, q, dq):
    return -4.0 - 20.0 * dq + 3000.0 * np.maximum(0.01 - q, 0.0)


run = diffpbd.simulate(robot, grasp, duration=0.6, q0=[0.04], h=0.002)
print(f"the fingers rest at {1e3 * run.q[-1, 0]:.2f} mm")
run.save("gripper.csv")
