"""Baxter's arm wipes a table at a wanted force: predictive control that foresees the contact beside impedance, in MuJoCo.

The hand comes down, presses with 10 N and draws an eight. Its sponge is a contact of the planned robot (`wiper.toml`): weights
ask for the place of the tip along the table and, across it, for the torque that presses; the plan foresees that the drag of
friction turns where the motion does. No law measures the force; all take the table's height from the hand that rests on it.
The plant is another arm than the planned one: its table lies 2 mm higher and rubs more, its hand is 50 g heavier, its contact
is MuJoCo's; encoders have steps, torques are cut off at the motors' limits and act a tick of 10 ms late.
Run: python docs/examples/contact/wipe.py [PICTURE.png [SECONDS]]
"""

import sys
from pathlib import Path
from time import thread_time

import mujoco
import numpy as np

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load
from diffpbd.runtime.control.laws.cartesian import TaskImpedance, rotation_error
from diffpbd.runtime.mpc import Bounds, Mpc, MpcOptions, Weights
from diffpbd.runtime.simulate.plant import BAXTER_COULOMB, BAXTER_VISCOUS, ENCODER_STEP

HERE = Path(__file__).resolve().parent
H, PHYSICS, HORIZON = 0.01, 0.0001, 15  # [s], [s], steps
FORCE, RADIUS, DOWN, PRESSED, SECONDS, LAP = 10.0, 0.03, 0.5, 1.0, 7.5, 3.0  # [N], [m], then [s]
TABLE, HIGHER, FRICTION, OTHER, HEAVIER = 0.0, 2e-3, 0.3, 0.35, 0.05  # [m], [m], [1], [1], [kg]
CENTRE, START = np.array([0.65, 0.4]), np.array([0.0, -0.6, 0.0, 1.5, 0.0, 0.7, 0.0])  # [m], [rad]
IMPEDANCE = np.array([1000.0, 1000.0, 1000.0])  # [N/m]
POSTURE = 12.0  # [1/s] of what the joints can do without moving the tip
ALONG = 1e4  # weight of the tip
GIVES = 2e-4  # [m/N] of the sponge
LARGER, MEAN = 5, 10  # in the picture: of errors, ticks of a mean
SMOOTH = 0.02  # [m/s] over which friction that is fed forward turns round


def path(t):
    """Where the tip should be [m] and its velocity [m/s] (times, 3): down from 3 cm above the table, then an eight."""
    t = np.asarray(t, dtype=float)
    s = np.clip(t / DOWN, 0.0, 1.0)
    height, sinking = 0.03 * (1 - s) ** 2 * (1 + 2 * s), -0.18 * s * (1 - s) / DOWN
    run = np.maximum(t - PRESSED, 0.0)
    a = 2 * np.pi / LAP * (run - 0.5 * (1 - np.exp(-2 * run)))  # from rest
    rate = 2 * np.pi / LAP * (1 - np.exp(-2 * run))
    place = np.stack([CENTRE[0] + 0.06 * np.sin(2 * a), CENTRE[1] + 0.12 * np.sin(a), TABLE + RADIUS + height], axis=-1)
    return place, np.stack([0.12 * np.cos(2 * a) * rate, 0.12 * np.cos(a) * rate, sinking], axis=-1)


def wanted(t):
    """[N] Force on the table."""
    return FORCE * np.clip((np.asarray(t, dtype=float) - DOWN) / 0.3, 0.0, 1.0)


class Plant:
    """The arm and its table in MuJoCo."""

    def __init__(self, robot):
        spec = mujoco.MjSpec.from_file(str(HERE.parents[2] / "codegen" / "robots" / "baxter.urdf"))
        spec.option.timestep, spec.option.cone = PHYSICS, mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 10.0
        surface = {"friction": [OTHER, 0.0, 0.0], "solref": [0.02, 1.0], "condim": 3}
        for geom in list(spec.geoms):
            geom.contype = geom.conaffinity = 0
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2, 2, 0.1], pos=[0, 0, TABLE + HIGHER], **surface
        )
        hand = spec.body(robot.manifest.robot.tips[0])
        hand.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0], **surface)
        hand.add_body(name="load", mass=HEAVIER, inertia=[1e-6] * 3, explicitinertial=True)
        hand.add_site(name="tip")
        self.model = spec.compile()
        for k, joint in enumerate(robot.joints):
            end = joint.split("_")[-1]
            self.model.dof_frictionloss[k], self.model.dof_damping[k] = BAXTER_COULOMB[end], BAXTER_VISCOUS[end]
        self.model.dof_solref[:], self.model.dof_solimp[:, :2] = (2 * PHYSICS, 1.0), 0.9999
        self.effort = robot.limits.effort
        self.data = mujoco.MjData(self.model)

    def step(self, torque):
        """One tick; the mean force on the table (3,) [N]."""
        self.data.qfrc_applied[:] = np.clip(torque, -self.effort, self.effort)
        force, one, count = np.zeros(3), np.zeros(6), round(H / PHYSICS)
        for _ in range(count):
            mujoco.mj_step(self.model, self.data)
            for k in range(self.data.ncon):
                mujoco.mj_contactForce(self.model, self.data, k, one)
                force += self.data.contact[k].frame.reshape(3, 3).T @ one[:3] / count
        return force

    @property
    def state(self):
        """Positions by the steps of the encoders, rates."""
        return ENCODER_STEP * np.round(self.data.qpos / ENCODER_STEP), self.data.qvel.copy()

    @property
    def tip(self):
        """Where it is [m]."""
        return self.data.site("tip").xpos.copy()


def make(folder=None):
    """The robot, and alpha of what the laws know."""
    robot = load(generate(str(HERE / "wiper.toml"), functions=("mpc",), out=folder).folder)
    known = {"contact.friction.sponge": FRICTION, "contact.radius.sponge": RADIUS, "plane.height.table": TABLE}
    for joint in robot.joints:
        end = joint.split("_")[-1]
        known |= {f"friction.coulomb.{joint}": BAXTER_COULOMB[end], f"friction.viscous.{joint}": BAXTER_VISCOUS[end]}
    return robot, robot.alpha.vector({**known, "contact.slip": 1e-3, "contact.compliance.sponge": GIVES})


def followed(robot, time):
    """Joint positions and rates along the path (times, n), the hand turned never."""
    P, PD = np.empty((len(time), robot.n)), np.empty((len(time), robot.n))
    p = START
    level = robot.tip_pose(START).rotation
    for k, (place, velocity) in enumerate(zip(*path(time), strict=True)):
        for _ in range(100):
            at, turned = robot.tip_pose(p)
            error = np.concatenate([place - at, rotation_error(level, turned)])
            if np.abs(error).max() < 1e-10:
                break
            step = np.linalg.lstsq(robot.tip_jacobian(p), error, rcond=None)[0]
            p = p + step * min(1.0, 0.3 / np.abs(step).max())
        P[k] = p
        PD[k] = np.linalg.lstsq(robot.tip_jacobian(p), np.r_[velocity, 0.0, 0.0, 0.0], rcond=None)[0]
    return P, PD


def fed_forward(robot, alpha, P, PD, time, drag=True):
    """Torques along the path, forces of the table in them (its drag and the joints' friction only with `drag`)."""
    PDD, (_, velocity) = np.gradient(PD, H, axis=0), path(time)
    own = alpha if drag else robot.alpha.vector()
    U = robot.inverse_dynamics(P, PD, PDD, own)
    speed = np.sqrt((velocity[:, :2] ** 2).sum(axis=1) + SMOOTH**2)
    push = np.zeros((len(time), 3))
    push[:, 2] = -wanted(time)
    if drag:
        push[:, :2] = FRICTION * (wanted(time) / speed)[:, None] * velocity[:, :2]
    return U + np.einsum("kij,ki->kj", robot.tip_jacobian(P)[:, :3], push)


class Predictive:
    """Plans torques: along the table by the place of the tip, across it by the torque that presses."""

    def __init__(self, robot, alpha, P, PD, U, sees=True):
        weights = Weights(p=1e-2, pd=1.0, u=1e-3, du=1e-3, tip=ALONG)
        bounds = Bounds.of(robot, H)
        self.mpc = Mpc(robot, HORIZON, h=H, alpha=alpha, weights=weights, bounds=bounds,
                       options=MpcOptions(delay=1, transition=0.05))  # fmt: skip
        self.P, self.PD, self.U, self.sees, self.seconds = P, PD, U, sees, []

    def start(self, hold):
        """From rest under the torque that holds the arm."""
        self.mpc.start(hold)

    def __call__(self, k, p, pd):
        """The torque of tick k."""
        problem = self.mpc.problem
        problem.tip_weights[:, 2] = ALONG if k * H < DOWN else 0.0
        if self.sees and k == round(PRESSED / H):
            height = problem.robot.alpha.index("plane.height.table")
            problem.alpha[height] = problem.robot.tip_pose(p).position[2] - RADIUS + GIVES * FORCE
        ahead = k + 1 + np.arange(HORIZON + 1)
        place, _ = path(H * ahead)
        begin = thread_time()
        tick = self.mpc.tick(k * H, p, pd, self.P[ahead], self.PD[ahead], self.U[ahead[:-1]], place)
        self.seconds.append(thread_time() - begin)
        return tick.torque


class Impedance:
    """Springs of the tip to the path, sunk by force over stiffness; torques along the path fed forward."""

    def __init__(self, robot, P, PD, U):
        self.robot, self.P, self.PD, self.U = robot, P, PD, U
        self.height = 0.0  # of the table [m]
        self.moved = TaskImpedance(IMPEDANCE, 0.7, robot.limits.effort)

    def start(self, hold):
        """Remembers nothing."""

    def __call__(self, k, p, pd):
        """The torque of tick k."""
        robot, J, M = self.robot, self.robot.tip_jacobian(p)[:3], self.robot.mass_matrix(p)
        (place, velocity), at = path(k * H), robot.tip_pose(p).position
        if k == round(PRESSED / H):
            self.height = at[2] - place[2]
        place[2] += self.height
        task = self.moved.torque(J, M, place - at, velocity - J @ pd, np.zeros(3))
        rest = M @ (POSTURE**2 * (self.P[k] - p) + 2 * POSTURE * (self.PD[k] - pd))
        back = np.linalg.solve(J @ np.linalg.solve(M, J.T), J @ np.linalg.solve(M, rest))
        torque = self.U[k + 1] + task + rest - J.T @ back
        return np.clip(torque, -robot.limits.effort, robot.limits.effort)


def wipe(robot, law, hold, p, seconds):
    """A run: time [s], force on the table, place of the tip, torques that acted."""
    plant = Plant(robot)
    plant.data.qpos[:] = p
    mujoco.mj_forward(plant.model, plant.data)
    law.start(hold)
    waiting, rows = hold, []
    for k in range(round(seconds / H)):
        q, dq = plant.state
        torque, tip = law(k, q, dq), plant.tip
        rows.append(np.r_[k * H, plant.step(waiting), tip, waiting])
        waiting = torque
    return np.array(rows)


def main():
    """The runs under every law, and their figures."""
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    robot, alpha = make()
    time = H * np.arange(round(seconds / H) + HORIZON + 3)
    P, PD = followed(robot, time)
    hold = robot.inverse_dynamics(P[0], 0 * P[0], 0 * P[0])
    full, plain = (fed_forward(robot, alpha, P, PD, time, drag) for drag in (True, False))
    blind = alpha.copy()
    blind[robot.alpha.index("plane.height.table")] = -1.0
    laws = {
        "predictive": Predictive(robot, alpha, P, PD, full),
        "impedance": Impedance(robot, P, PD, plain),
        "impedance, all friction fed forward": Impedance(robot, P, PD, full),
        "predictive, no table in the plan": Predictive(robot, blind, P, PD, full, sees=False),
    }
    runs = {name: wipe(robot, law, hold, P[0], seconds) for name, law in laws.items()}
    for name, rows in runs.items():
        moving = rows[rows[:, 0] >= PRESSED]
        force, off = moving[:, 3], 1e3 * np.linalg.norm((moving[:, 4:7] - path(moving[:, 0])[0])[:, :2], axis=1)
        print(
            f"{name}: force {force.mean():.2f} N, {force.min():.1f} to {force.max():.1f}, "
            f"error {rms(force - FORCE):.2f} N RMS; "
            f"off the path {rms(off):.2f} mm RMS, most {off.max():.2f} mm; "
            f"{100 * np.abs(rows[:, 7:] / robot.limits.effort).max():.0f} % of the torque limits"
        )
    law = laws["predictive"]
    counts = ", ".join(f"{count} {source.value}" for source, count in law.mpc.counts.items())
    own = f"median {1e3 * np.median(law.seconds):.2f} ms, longest {1e3 * max(law.seconds):.2f} ms of a core"
    print(f"ticks of predictive control: {counts}; {own}")
    if len(sys.argv) > 1:
        draw(runs, sys.argv[1])


def rms(values):
    """Root mean square."""
    return np.sqrt(np.mean(values**2))


def draw(runs, file):
    """The path on the table, force, and distance from the path, of the first three laws."""
    import matplotlib.pyplot as plt

    figure, (above, force, away) = plt.subplots(1, 3, figsize=(12, 3.8), width_ratios=(2, 3, 3), layout="constrained")
    track = path(next(iter(runs.values()))[:, 0])[0]
    above.plot(track[:, 1], track[:, 0], "k--", lw=1)
    for k, (name, rows) in reversed(list(enumerate(list(runs.items())[:3]))):
        time, off = rows[:, 0], (rows[:, 4:7] - track)[:, :2]
        larger = track[:, :2] + LARGER * off
        smooth = np.convolve(rows[:, 3], np.ones(MEAN) / MEAN, "same")
        above.plot(larger[:, 1], larger[:, 0], f"C{k}", lw=1)
        force.plot(time, rows[:, 3], f"C{k}", lw=0.4, alpha=0.4)
        force.plot(time[MEAN:-MEAN], smooth[MEAN:-MEAN], f"C{k}", lw=1.2, label=name)
        away.plot(time, 1e3 * np.linalg.norm(off, axis=1), f"C{k}", lw=1)
    force.plot(time, wanted(time), "k--", lw=1, label="wanted")
    above.set(xlabel="y [m]", ylabel="x [m]", aspect="equal", title=f"errors × {LARGER}")
    force.set(ylim=(0, 20), xlabel="time [s]", ylabel="force on the table [N]")
    away.set(xlabel="time [s]", ylabel="off the path [mm]")
    force.legend(frameon=False, fontsize=8)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main()
