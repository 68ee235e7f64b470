"""Masses of all four bars and friction of all four joints of a five-bar, from what its two motors are read with.

A plant with other masses and friction than the description's follows motions of five harmonics for 12 s each: four to fit, one
to test on. Its logs have angle, rate and torque of both motors, with the noise of encoders and of torque sensors; the elbows
have neither motor nor encoder. Run: python docs/examples/five_bar/identify.py [PICTURE.png]; it writes train_1.csv … test.csv.
"""

import sys
from pathlib import Path

import numpy as np

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load
from diffpbd.runtime.identify import Settings, Wanted, identify, read_recordings
from diffpbd.runtime.logs.csv import Log, write_log
from diffpbd.runtime.logs.processing import Processing
from diffpbd.runtime.logs.recording import Reading

HERE = Path(__file__).resolve().parent
MOTORS, ELBOWS = ("left", "right"), {"left_elbow": -1.5, "right_elbow": 1.5}
H, STEPS = 0.002, 6000
TRUE = {
    "mass.upper_left": 0.75, "mass.lower_left": 0.35, "mass.upper_right": 0.5, "mass.lower_right": 0.5,
    "friction.coulomb.left": 0.15, "friction.coulomb.right": 0.12, "friction.viscous.left": 0.1, "friction.viscous.right": 0.12,
    "friction.coulomb.left_elbow": 0.04, "friction.coulomb.right_elbow": 0.06, "friction.viscous.left_elbow": 0.03,
    "friction.viscous.right_elbow": 0.02,
}  # fmt: skip
ENCODER, RATE, SENSOR = 5e-5, 2e-3, 0.02  # deviations of the noise [rad, rad/s, N·m]


def recorded(robot, seed):
    """Readings of the plant's motors along a motion."""
    rng, alpha, zero = np.random.default_rng(seed), robot.alpha.vector(TRUE), np.zeros(4)
    motors = [robot.joints.index(joint) for joint in MOTORS]
    p = robot.close_loops([2.0, -1.5, 1.1, 1.5], zero)
    start, pd, last, rows = p[motors], zero, zero, []
    size, phase = rng.uniform(0.05, 0.15, (5, 2)), rng.uniform(0, 2 * np.pi, (5, 2))
    for k in range(STEPS):
        angle = 2 * np.pi * (0.2 + 0.25 * np.arange(5))[:, None] * k * H + phase
        wanted = start + (size * (np.sin(angle) - np.sin(phase))).sum(axis=0)
        u = np.zeros(4)
        u[motors] = robot.inverse_dynamics(p, zero, zero).u[motors] + 40 * (wanted - p[motors]) - 1.5 * pd[motors]
        rows.append((k * H, *p[motors], *pd[motors], *((last + u) / 2)[motors]))
        last, (p, pd) = u, robot.joint_step(p, pd, u, H, alpha)
    time, q, dq, tau = np.split(np.array(rows)[1:], [1, 3, 5], axis=1)
    q, dq, tau = (x + d * rng.standard_normal(x.shape) for x, d in ((q, ENCODER), (dq, RATE), (tau, SENSOR)))
    return Log(time[:, 0], MOTORS, q, dq, None, tau)


def main():
    """Both logs, the fit, and what it is worth."""
    robot = load(generate(str(HERE / "five_bar.toml")).folder)
    names = [*(f"train_{k}.csv" for k in range(1, 5)), "test.csv"]
    for seed, name in enumerate(names):
        write_log(name, recorded(robot, seed))
    wanted = Wanted(Reading(), Processing(20.0, trim=0.5), pose=ELBOWS)
    train, test = (read_recordings(robot, group, wanted)[0] for group in (names[:-1], names[-1:]))
    settings = Settings(standstill="auto")
    found = identify(robot, train, ["mass", "friction.coulomb", "friction.viscous"], validate=test, settings=settings)
    print(f"rank {found.rank} of {found.unknowns}, condition {found.condition:.3g}")
    estimates = [e for e in found.estimates if e.name in TRUE]
    for e in estimates:
        print(f"{e.name:28} {e.value:8.4f} ± {e.std:.4f} {e.unit:10} plant {TRUE[e.name]}")
    errors = ", ".join(f"{joint} {1e3 * found.validate.rmse[joint]:.1f}" for joint in MOTORS)
    print(f"torques of test.csv, RMSE after the filter: {errors} mN·m")
    if len(sys.argv) > 1:
        picture(sys.argv[1], robot, found, estimates)


def picture(path, robot, found, estimates):
    """Torques of the log that was not fitted, and the parameters beside the plant's."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), width_ratios=(5, 2, 3), layout="constrained")
    trace = found.validate.traces[0]
    for joint, colour in zip(MOTORS, ("C0", "C1"), strict=True):
        j = robot.joints.index(joint)
        axes[0].plot(trace.time, trace.measured[:, j], color="0.7", lw=3)
        axes[0].plot(trace.time, trace.predicted[:, j], color=colour, lw=1, label=joint)
    axes[0].set(xlim=(2, 9), xlabel="time [s]", ylabel="torque [N·m], read (grey) and predicted")
    axes[0].legend(frameon=False)
    for ax, kind, unit in ((axes[1], "mass", "kg"), (axes[2], "friction", "N·m, N·m·s/rad")):
        own = [e for e in estimates if e.name.startswith(kind)]
        names = [e.name.removeprefix(f"{kind}.").replace("coulomb.", "c ").replace("viscous.", "v ") for e in own]
        ax.errorbar(
            range(len(own)), [e.value for e in own], [2 * e.std for e in own], fmt="o", ms=4, capsize=3, label="found"
        )
        ax.plot(range(len(own)), [TRUE[e.name] for e in own], "k_", ms=12, label="plant")
        ax.set_xticks(range(len(own)), names, rotation=60, ha="right", fontsize=8)
        ax.set(ylabel=f"{kind} [{unit}]")
    axes[2].legend(frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
