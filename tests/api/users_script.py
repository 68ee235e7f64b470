"""A user's script as editors and type checkers see it: run by nobody, checked by test_types.py. `# found` ends a line with a
mistake that is to be found; `# type of` one whose type is to be known."""

from pathlib import Path

import numpy as np

import diffpbd

robot = diffpbd.load("arm")
p, pd = np.zeros(robot.n), np.zeros(robot.n)
u = robot.gravity({"elbow": 0.3})
step = robot.joint_step(p, pd, u, h=0.01, alpha={"payload.mass": 0.5})
print(step.p_next.shape, step.nonsense)  # found
robot.no_such_function(p)  # found
robot.joint_step(p, pd, torque=u)  # found
robot.joint_step(p, pd, u, h=0.01, alfa=None)  # found

slope = robot.jac_joint_step(p, pd, u)
P, PD = robot.rollout(p, pd, np.tile(u, (100, 1)))
back = robot.vjp_rollout(p, pd, np.tile(u, (100, 1)), P_bar=P - P[0])
pulled = robot.vjp_joint_step(p, pd, u, None, None, step.p_next, step.pd_next)
print(back.alpha_bar[robot.alpha.index("payload.mass")], slope.dp_next_du.T, pulled.u_bar)

energy = robot.energy(P, PD)
total = energy.kinetic + energy.potential
print(float(total), total.max(), total[-1], energy.heat)  # found
torque = robot.inverse_dynamics(p, pd, pd)
print(torque[0], torque.unbalanced, robot.tip_pose(p).rotation @ np.eye(3))
print(robot.alpha["payload.mass"], list(robot.alpha), robot.alpha.mass)  # found

controller = diffpbd.Mpc(robot, horizon=20, weights={"u": 1e-4}, bounds={"u": 30.0}, disturbance=0.3)
diffpbd.Mpc(robot, horizn=3)  # found
run = controller.run_to({"elbow": 0.3}, duration=2.0)
run.plot("run.png").save(Path("again.png"))
print(run.tau.max(), run.seconds.mean(), run.torque)  # found

simulated = diffpbd.simulate(robot, "gravity", duration=1.0, q0={"elbow": 0.3}, order=4)
diffpbd.simulate(robot, "gravity", seconds=1.0)  # found
recording = diffpbd.read_log("log.csv", robot)
found = diffpbd.identify(robot, recording, "friction,spring", validate=simulated, cutoff=5.0)
better = found.robot
print(found.params["friction.viscous.elbow"], found.rmse, better.alpha.defaults, found.params.no_such)  # found
motion = diffpbd.excite(better, 10.0, harmonics=5)
estimate = diffpbd.estimate_torque(better, simulated, cutoff=None, horizon=3)
print(motion.motion.tau, estimate.u, diffpbd.no_such_name)  # found

graph = robot.casadi("joint_step")
for name, function in robot.functions.items():
    print(name, function.facts.doc, function.name)
try:
    diffpbd.generate("arm.urdf", functions="joint_step", h=0.005, limits=True)
except diffpbd.DescriptionError as error:
    print(error.report.faults[0].message)
