"""Predictive control of a delta whose plate draws a trefoil: MuJoCo is the plant, the generated robot plans.

Three motors move thirteen joints in two closed loops. The plant is another one than the planned: MuJoCo closes the loops with
soft constraints, its plate is a tenth heavier, its motors rub with 0.05 N·m, and what is planned acts a tick of 10 ms later.
The plan follows the tool alone, by weights of the tip. Run: python docs/examples/delta/follow.py [PICTURE.png]
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

HERE = Path(__file__).resolve().parent
H, SECONDS, HORIZON, TURN = 0.01, 4.0, 15, 1.6  # step [s], of a run, steps planned ahead, time of a turn [s]
FRICTION, HEAVIER, PHYSICS, ENCODER = 0.05, 1.1, 0.0005, 1e-4  # N·m, 1, s, rad
HEIGHT = -0.42  # m


def wanted(t):
    """Where the tool should be (times, 3) [m]: at rest over the middle, then a trefoil 24 cm wide."""
    t = np.maximum(np.asarray(t), 0.0)
    a, size = 2 * np.pi * t / TURN, 0.04 * (1 - np.cos(np.pi * np.minimum(t / 0.4, 1.0))) / 2
    x, y = np.sin(a) + 2 * np.sin(2 * a), np.cos(a) - 2 * np.cos(2 * a)
    return np.stack([size * x, size * y, np.full_like(a, HEIGHT)], axis=-1)


class Plant:
    """The delta in MuJoCo, its cut joints closed by two pins each."""

    def __init__(self, robot):
        spec = mujoco.MjSpec.from_file(str(HERE / "delta.urdf"))
        for loop, place, turn in (
            ("1", (-0.09, 0.06 * np.sin(2 * np.pi / 3)), 120),
            ("2", (-0.09, -0.06 * np.sin(2 * np.pi / 3)), 240),
        ):
            axis = np.array([-np.sin(np.radians(turn)), np.cos(np.radians(turn)), 0.0])
            for side in (-0.03, 0.03):
                one, other = (f"{name}_{loop}_{side}" for name in ("end", "plate"))
                spec.body(f"end_{loop}").add_site(name=one, pos=[0.0, side, 0.0])
                spec.body("plate").add_site(name=other, pos=[*place, 0.0] + side * axis)
                pin = spec.add_equality(
                    type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE, name1=one, name2=other
                )
                pin.solref, pin.solimp = [2 * PHYSICS, 1.0], [0.99, 0.9999, 1e-4, 0.5, 2.0]
        spec.body("plate").add_site(name="tool", pos=[-0.06, 0.0, 0.0])
        self.model = spec.compile()
        self.model.opt.timestep = PHYSICS
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        plate = self.model.body("plate").id
        self.model.body_mass[plate] *= HEAVIER
        self.model.body_inertia[plate] *= HEAVIER
        joints = [self.model.joint(name) for name in robot.joints]
        self.q, self.v = np.array([j.qposadr[0] for j in joints]), np.array([j.dofadr[0] for j in joints])
        for k in range(3):
            self.model.dof_frictionloss[self.model.joint(f"motor_{k}").dofadr[0]] = FRICTION
        self.data = mujoco.MjData(self.model)

    def step(self, torque):
        """One tick."""
        self.data.qfrc_applied[self.v] = torque
        for _ in range(round(H / PHYSICS)):
            mujoco.mj_step(self.model, self.data)

    @property
    def state(self):
        """Positions by the steps of the encoders, rates."""
        return ENCODER * np.round(self.data.qpos[self.q] / ENCODER), self.data.qvel[self.v].copy()

    @property
    def tool(self):
        """Where it is [m]."""
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.site("tool").xpos.copy()


def reached(robot, place):
    """The closed pose at which the tool is at a place: Newton on the motors, the loops closed after every step."""
    motors = np.array([name.startswith("motor") for name in robot.joints])
    p = robot.close_loops([{"m": 0.5, "e": -0.5}.get(j[0], 0.0) for j in robot.joints], np.zeros(robot.n))
    for _ in range(20):
        error = place - robot.tip_pose(p).position
        A, J = robot.jac_loop_residual(p, np.zeros(robot.n)).drows_dp, robot.tip_jacobian(p)[:3]
        N = np.linalg.svd(A)[2][10:].T
        p = robot.close_loops(p + N @ np.linalg.solve(J @ N, error), motors.astype(float))
        if np.abs(error).max() < 1e-10:
            break
    return p


def main():
    """The run and its figures."""
    robot = load(generate(str(HERE / "delta.toml"), functions=("mpc",)).folder)
    p = reached(robot, wanted(0.0))
    plant = Plant(robot)
    plant.data.qpos[plant.q] = p
    motors = np.array([name.startswith("motor") for name in robot.joints])
    weights = Weights(p=0.0, pd=1e-4, u=0.0, du=1e-6, tip=1e3)
    effort = np.where(motors, 12.0, np.inf)
    bounds = Bounds(-effort, effort, 0.4 * effort, robot.limits.lower, robot.limits.upper, robot.limits.speed)
    mpc = Mpc(robot, HORIZON, h=H, weights=weights, bounds=bounds, options=MpcOptions(delay=1))
    nodes, hold = H * (1 + np.arange(HORIZON + 1)), mpc.task(p, np.zeros(robot.n), p).u_last
    mpc.start(hold)
    waiting, tools, torques, seconds, gaps = hold, [], [], [], []
    for k in range(round(SECONDS / H)):
        q, dq = plant.state
        tick = mpc.tick(k * H, q, dq, p, tip=wanted(k * H + nodes))
        tools.append(plant.tool)
        torques.append(waiting[motors])
        seconds.append(tick.plan.seconds if tick.plan else np.nan)
        gaps.append(np.abs(robot.loop_residual(q, dq).rows).max())
        plant.step(waiting)
        waiting = tick.torque
    time, tools, torques = H * np.arange(len(tools)), np.array(tools), np.array(torques)
    off = np.linalg.norm(tools - wanted(time), axis=1)
    speed = np.linalg.norm(np.diff(tools, axis=0), axis=1).max() / H
    counts = ", ".join(f"{count} {source.value}" for source, count in mpc.counts.items())
    print(
        f"{len(tools)} ticks: {counts}; solver median {1e3 * np.median(seconds):.2f} ms, longest {1e3 * max(seconds):.2f} ms"
    )
    rms, most = 1e3 * np.sqrt((off**2).mean()), 1e3 * off.max()
    print(f"tool: fastest {speed:.2f} m/s; off the path {rms:.2f} mm RMS, most {most:.2f} mm")
    print(f"loops of the plant open by up to {1e6 * max(gaps):.0f} µm; largest torque {np.abs(torques).max():.2f} N·m")
    if len(sys.argv) > 1:
        picture(sys.argv[1], time, tools, off, torques)


def picture(path, time, tools, off, torques):
    """The path of the tool, how far off it is, torques."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), width_ratios=(3, 3, 3), layout="constrained")
    track = wanted(time)
    axes[0].plot(track[:, 0], track[:, 1], "k--", lw=1, label="wanted")
    axes[0].plot(tools[:, 0], tools[:, 1], "C0", lw=1, label="tool")
    axes[0].set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes[0].legend(
        frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2, fontsize=8
    )  # below the path
    axes[1].plot(time, 1e3 * off)
    axes[1].set(xlabel="time [s]", ylabel="off the path [mm]")
    axes[2].plot(time, torques, lw=1, label=[f"motor {k + 1}" for k in range(3)])
    axes[2].legend(frameon=False, loc="lower right", ncols=3, fontsize=8)
    axes[2].margins(y=0.12)
    axes[2].set(xlabel="time [s]", ylabel="torque of the motors [N·m]")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
