"""A quadruped (Solo of example-robot-data) keeps its stance by predictive control through the contacts of its feet.

It is pushed and shoved. The plan moves a floating base with four feet on the ground by eight motors: 12 steps of 10 ms at a
slip of 1e-3 m/s, one program a tick; its torques act a tick later. No foothold, force or gait is given, only the pose to stay
at. The plant is our own step at 2.5 ms and the default slip, on ground that lies 3 mm lower and holds less than the plan's.
Needs `pip install example-robot-data`. Run: python docs/examples/contact/balance.py [PICTURE.png]
"""

import sys
import tempfile
from pathlib import Path
from time import thread_time

import numpy as np
from stand import DATA, FEET, FOOT, FRICTION, RADIUS, RECIPE, pushed

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load
from diffpbd.runtime.mpc import Bounds, Mpc, MpcOptions, Weights

H, HORIZON, SECONDS, FINER = 0.01, 12, 5.0, 4  # [s], steps, [s], steps of the plant a tick
EFFORT, LOWER, HOLDS = 3.0, -3e-3, 0.5  # [N m] of a motor, [m] of the ground, [1] its friction


def make(folder, out=None):
    """The robot, from a recipe that is written for it."""
    text = RECIPE.format(urdf=DATA / "solo_description" / "robots" / "solo.urdf")
    text += "".join(FOOT.format(foot=foot, radius=RADIUS, friction=FRICTION) for foot in FEET)
    path = Path(folder) / "solo_mpc.toml"
    path.write_text(text.replace('"solo"', '"solo_mpc"', 1))
    return load(generate(str(path), functions=("mpc",), out=out).folder)


def balance(robot, seconds=SECONDS):
    """Time [s], positions, torques that acted and forces on the feet by tick, and the controller with its ticks' seconds."""
    joints = robot.joints[6:]
    rest = [(-1.4 if "K" in name else 0.7) * (1.0 if name.startswith("F") else -1.0) for name in joints]
    own = {f"contact.load.{foot}": 9.81 * robot.manifest.robot.total_mass / 4 for foot in FEET}
    own |= {f"friction.viscous.{name}": 0.02 for name in joints}
    less = {f"contact.friction.{foot}": HOLDS for foot in FEET}
    known, real = ({**own, "contact.slip": 1e-3}, robot.alpha.vector({**own, **less, "plane.height.ground": LOWER}))
    p, pd = np.array([0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0, *rest]), np.zeros(robot.n)
    p[2] -= robot.contact_gap(p, alpha=known).min()
    motors, free = np.r_[np.zeros(6), np.ones(8)], np.full(robot.n, np.inf)
    weights, effort = np.r_[10.0, 10.0, 50.0, 10.0, 10.0, 10.0, np.full(8, 0.1)], np.where(motors, EFFORT, np.inf)
    mpc = Mpc(
        robot, HORIZON, h=H, alpha=known, options=MpcOptions(delay=1),
        weights=Weights(p=weights, pd=0.01 * weights + 1e-3, u=1e-3 * motors, du=1e-3 * motors),
        bounds=Bounds(-effort, effort, 0.5 * effort, -free, free, free),
    )  # fmt: skip
    goal, waiting, rows, spent = p.copy(), np.zeros(robot.n), [], []
    mpc.start(waiting)
    for k in range(round(seconds / H)):
        begin = thread_time()
        tick = mpc.tick(k * H, p, pd, goal)
        spent.append(thread_time() - begin)
        acting = waiting.copy()
        acting[:3] = pushed(k * H)
        force = robot.contact_force(p, pd, acting, h=H / FINER, alpha=real).contact_force.sum(axis=1)
        rows.append(np.r_[k * H, p, waiting, force])
        for _ in range(FINER):
            p, pd = robot.joint_step(p, pd, acting, h=H / FINER, alpha=real)
        waiting = tick.torque
    return np.array(rows), mpc, spent


def main():
    """The run and its figures."""
    with tempfile.TemporaryDirectory() as folder:
        robot = make(folder)
    rows, mpc, spent = balance(robot)
    place, torque = 1e3 * (rows[:, 1:4] - rows[0, 1:4]), rows[:, 8 + 8 + 6 : -3]
    for name, t in (("stands", 0.95), ("pushed by 5.4 N", 2.35), ("shoved by 25 N", 3.1), ("stays", 4.99)):
        k = round(t / H)
        print(f"t {t:.2f} s, {name}: base {place[k].round(1)} mm from its start, feet {rows[k, -3:].round(1)} N")
    print(f"base at most {np.linalg.norm(place, axis=1).max():.0f} mm from its start")
    turned = np.degrees(2 * np.abs(rows[:, 5:8])).max()
    print(f"base turned by {turned:.1f} deg at most; torques at most {np.abs(torque).max():.2f} N m of {EFFORT:g}")
    counts = ", ".join(f"{count} {source.value}" for source, count in mpc.counts.items())
    print(f"ticks: {counts}; median {1e3 * np.median(spent):.2f} ms, longest {1e3 * max(spent):.2f} ms of a core")
    if len(sys.argv) > 1:
        draw(rows[:, 0], place, torque, rows[:, -3:], sys.argv[1])


def draw(time, place, torque, force, file):
    """Place of the base, forces on the feet, torques of the motors."""
    import matplotlib.pyplot as plt

    figure, (where, feet, motors) = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    for k, name in enumerate("xyz"):
        where.plot(time, place[:, k], label=name)
        feet.plot(time, force[:, k], label=name, lw=1)
    motors.plot(time, torque, lw=1)
    where.set(xlabel="t [s]", ylabel="base from its start [mm]")
    feet.set(xlabel="t [s]", ylabel="sum of the feet's forces [N]")
    motors.set(xlabel="t [s]", ylabel="torques [N m]")
    where.legend()
    feet.legend()
    figure.savefig(file, dpi=110)
    print(file)


if __name__ == "__main__":
    main()
