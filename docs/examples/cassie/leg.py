"""A leg of Cassie with its rods: two closed loops, two leaf springs, five motors, from MuJoCo Menagerie's file.

The pelvis is held, the left leg squats: knee and hip follow a sine by a PD law, the others hold. The same law moves the same
leg in MuJoCo, whose `connect` gives way where `joint_step` closes. Run: python docs/examples/cassie/leg.py [PICTURE.png
[cassie.xml]]; without a file the package mujoco-menagerie fetches it.
"""

import sys
from pathlib import Path

import mujoco
import numpy as np

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.generate import generate
from diffpbd.runtime import load

RECIPE = Path("cassie_leg.toml")
MOTORS = ("left-hip-roll", "left-hip-yaw", "left-hip-pitch", "left-knee", "left-foot")
GAIN, DAMPING = np.array([400.0, 200.0, 400.0, 500.0, 100.0]), np.array([8.0, 4.0, 8.0, 10.0, 2.0])
H, SECONDS = 0.001, 2.0
FLOOR = 1e-10  # m; below it is rounding


def made(file):
    """The leg's description and its generated robot."""
    ends = ["left-foot", "left-plantar-rod", "left-heel-spring", "left-achilles-rod"]
    RECIPE.write_text(f'urdf = "{file}"\nhold = ["cassie-pelvis_joint"]\ntip = {ends}\n'.replace("'", '"'))
    folder = generate(str(RECIPE), functions=("joint_step", "rollout")).folder
    return resolve(str(RECIPE))[1], load(folder)


def plant(file):
    """MuJoCo's Cassie on a held pelvis, without contact and limits, which the leg does not have."""
    spec = mujoco.MjSpec.from_file(str(file))
    start = np.array(list(spec.keys[0].qpos)[7:])
    for element in (*spec.keys, *(j for j in list(spec.joints) if j.type == mujoco.mjtJoint.mjJNT_FREE)):
        spec.delete(element)
    spec.option.timestep = H
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = start
    return model, data


def three_angles(quaternion):
    """Angles of the hinges x, y, z that stand for a ball."""
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, quaternion)
    R = R.reshape(3, 3)
    return np.array([np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])])


def start_of(robot, model, data):
    """The file's pose by joint, closed to rounding."""
    p = np.zeros(robot.n)
    for k, joint in enumerate(robot.joints):
        name, _, letter = joint.partition(".")
        at = model.joint(name).qposadr[0]
        p[k] = three_angles(data.qpos[at : at + 4])["xyz".index(letter)] if letter else data.qpos[at]
    return robot.close_loops(p, np.zeros(robot.n))


def wanted(start, t):
    """Angles of the motors: down and up again."""
    down = 0.3 * (1.0 - np.cos(2.0 * np.pi * t / SECONDS))
    return start + down * np.array([0.0, 0.0, 1.0, -1.6, 0.6])


def simulated(robot, p, motors):
    """Poses of the leg and the loops' gaps [m] by joint_step."""
    start, pd, poses, gaps = p[motors], np.zeros(robot.n), [p], []
    for k in range(round(SECONDS / H)):
        u = np.zeros(robot.n)
        u[motors] = GAIN * (wanted(start, k * H) - p[motors]) - DAMPING * pd[motors]
        p, pd = robot.joint_step(p, pd, u, H)
        poses.append(p)
        gaps.append(np.abs(robot.loop_residual(p, pd).rows).max())
    return np.array(poses), np.array(gaps)


def simulated_there(model, data):
    """Angles of motors, shin and tarsus, and the loops' gaps by MuJoCo."""
    named = [*MOTORS, "left-shin", "left-tarsus"]
    q, v = ([int(getattr(model.joint(name), adr)[0]) for name in named] for adr in ("qposadr", "dofadr"))
    start, angles, gaps = data.qpos[q[: len(MOTORS)]].copy(), [data.qpos[q].copy()], []
    left = [k for k in range(model.neq) if "left" in model.body(model.eq_obj1id[k]).name]
    for k in range(round(SECONDS / H)):
        error = wanted(start, k * H) - data.qpos[q[: len(MOTORS)]]
        data.qfrc_applied[v[: len(MOTORS)]] = GAIN * error - DAMPING * data.qvel[v[: len(MOTORS)]]
        mujoco.mj_step(model, data)
        angles.append(data.qpos[q].copy())
        gaps.append(max(np.linalg.norm(data.efc_pos[3 * k : 3 * k + 3]) for k in left))
    return np.array(angles), np.array(gaps)


def bars(described, robot, p):
    """Lines [m] from every link's frame to those that it carries and to the loops' anchors, with its name."""
    xi = robot.fk(p, np.zeros(robot.n)).reshape(-1, 13)
    frames = []
    for link, state in zip(described.links, xi, strict=True):
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, state[6:10])
        R = R.reshape(3, 3)
        frames.append((state[:3] - R @ link.inertial.com, R))
    lines = [
        (described.links[joint.parent].name, frames[joint.parent][0], place)
        for joint, (place, _) in zip(described.joints, frames, strict=True)
        if joint.parent >= 0
    ]
    for loop in described.loops:
        for link, place in ((loop.parent, loop.parent_translation), (loop.child, loop.child_translation)):
            x, R = frames[link]
            lines.append((described.links[link].name, x, x + R @ place))
    return lines


def picture(path, described, robot, poses, gaps, angles, others):
    """The leg at three instants, its angles beside MuJoCo's, and both gaps."""
    import matplotlib.pyplot as plt

    figure, (leg, turn, gap) = plt.subplots(1, 3, figsize=(12, 4.2))
    for k, shade in ((0, 0.25), (len(poses) // 4, 0.5), (len(poses) // 2, 1.0)):
        for name, a, b in bars(described, robot, poses[k]):
            rod = "rod" in name
            leg.plot([a[0], b[0]], [a[2], b[2]], color="tab:red" if rod else "k", alpha=shade, lw=1.5 if rod else 3)
    leg.set(title="from the side; rods red", xlabel="x [m]", ylabel="z [m]", aspect="equal")
    t = H * np.arange(len(poses))
    for name, column in (("left-knee", 3), ("left-tarsus", 6), ("left-shin", 5)):
        own = poses[:, robot.joints.index(name)]
        (line,) = turn.plot(t, own, label=name)
        turn.plot(t, angles[:, column], "--", color=line.get_color())
    turn.set(title="dashed: MuJoCo", xlabel="t [s]", ylabel="angle [rad]")
    turn.legend(loc="upper left", bbox_to_anchor=(0.0, 0.72), frameon=False)  # between the curves
    gap.semilogy(t[1:], np.maximum(gaps, FLOOR), label="joint_step")
    gap.semilogy(t[1:], others, label="MuJoCo's connect")
    gap.set(title="largest gap of the loops", xlabel="t [s]", ylabel=f"gap [m] (at {FLOOR:g}: less)")
    gap.set_ylim(bottom=FLOOR)
    gap.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    """Both simulations, and what is between them."""
    if len(sys.argv) > 2:
        file = Path(sys.argv[2]).resolve()
    else:
        import mujoco_menagerie

        file = mujoco_menagerie.get("agility_cassie").xml("cassie")
    described, robot = made(file)
    model, data = plant(file)
    motors = [robot.joints.index(name) for name in MOTORS]
    poses, gaps = simulated(robot, start_of(robot, model, data), motors)
    angles, others = simulated_there(model, data)
    compared = [robot.joints.index(name) for name in (*MOTORS, "left-shin", "left-tarsus")]
    apart = np.abs(poses[:, compared] - angles).max(axis=0)
    print(f"largest gap of the loops: {gaps.max():.1e} m by joint_step, {others.max():.1e} m by MuJoCo's connect")
    told = ", ".join(f"{name} {x:.4f}" for name, x in zip((*MOTORS, "left-shin", "left-tarsus"), apart, strict=True))
    print(f"largest difference of angles [rad]: {told}")
    if len(sys.argv) > 1:
        picture(sys.argv[1], described, robot, poses, gaps, angles, others)


if __name__ == "__main__":
    main()
