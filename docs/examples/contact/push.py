"""A finger pushes a block to a goal: forces found by the exact gradient of the rollout, through touching, sticking and sliding.

The finger starts off the side of the block, pushes, turns it by the friction of its tip and draws back; the block slides on
its four corners until the table stops it. Unknown are the finger's force at eight knots; the loss is where the block comes to
rest, by `vjp_rollout`. From rest a small slip tells the gradient nothing (what sticks does not move): the smoothing starts at
0.1 m/s and falls to the simulation's 1e-5 (`contact.slip`). Run: python docs/examples/contact/push.py [PICTURE.png]
"""

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load

HERE = Path(__file__).resolve().parent
robot = load(generate(str(HERE / "pusher.toml"), functions=("joint_step",)).folder)
H, STEPS, KNOTS = 0.01, 90, 8
PUSHING = 0.5  # [s] after which the finger is drawn back
GOAL = np.array([0.25, 0.06, 0.5])  # [m, m, rad] x, y, yaw of the block
START = np.array([0.0, 0.0, 1e-7, 0.0, -0.125, -0.02])  # the finger 5 mm off the side
FACTOR = np.array([1.0, 1.0, 0.2])  # a radian counts as 0.2 m
SLIPS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)  # [m/s] the last is the default
X, Y, YAW, FX, FY = 0, 1, 3, 4, 5

t = np.arange(STEPS) * H
knots = np.linspace(0.0, PUSHING, KNOTS)
SHAPE = np.array([np.interp(t, knots, row, right=0.0) for row in np.eye(KNOTS)])  # knots × steps
BACK = np.where((t > PUSHING) & (t < PUSHING + 0.2), -3.0, 0.0)  # [N] draws the finger back
DAMPED = {"friction.viscous.finger_x": 5.0, "friction.viscous.finger_y": 5.0}  # [N s/m]
DAMPED |= {f"contact.load.corner_{k}": 0.98 for k in (1, 2, 3, 4)} | {
    "contact.load.tip": 3.0
}  # [N] about what they carry


def forces(x):
    """Torques of every step from the force at the knots."""
    U = np.zeros((STEPS, robot.n))
    U[:, FX], U[:, FY] = x[:KNOTS] @ SHAPE + BACK, x[KNOTS:] @ SHAPE
    return U


def loss(x, slip):
    """Distance from the goal and speed at the end, and the gradient by the knots."""
    U, alpha = forces(x), {**DAMPED, "contact.slip": slip}
    P, PD = robot.rollout(START, np.zeros(robot.n), U, h=H, alpha=alpha)
    off = FACTOR * (P[-1, [X, Y, YAW]] - GOAL)
    P_bar, PD_bar = np.zeros_like(P), np.zeros_like(PD)
    P_bar[-1, [X, Y, YAW]] = 2 * FACTOR * off
    PD_bar[-1, [X, Y, YAW]] = 2 * 1e-2 * PD[-1, [X, Y, YAW]]
    back = robot.vjp_rollout(START, np.zeros(robot.n), U, h=H, alpha=alpha, P_bar=P_bar, PD_bar=PD_bar)
    value = off @ off + 1e-2 * float(PD[-1, [X, Y, YAW]] @ PD[-1, [X, Y, YAW]]) + 1e-6 * x @ x
    gradient = np.concatenate([SHAPE @ back.U_bar[:, FX], SHAPE @ back.U_bar[:, FY]]) + 2e-6 * x
    return value, gradient


def off(x, slip):
    """How far [mm] and by which angle [deg] the block rests from the goal at a slip."""
    P, _ = robot.rollout(START, np.zeros(robot.n), forces(x), h=H, alpha={**DAMPED, "contact.slip": slip})
    away = P[-1, [X, Y, YAW]] - GOAL
    return 1e3 * np.hypot(away[0], away[1]), np.degrees(away[2])


def plan():
    """Forces at the knots [N], with the slip lowered from solve to solve."""
    x = np.concatenate([np.full(KNOTS, 2.0), np.zeros(KNOTS)])
    for slip in SLIPS:
        found = minimize(loss, x, (slip,), jac=True, method="L-BFGS-B", options={"maxiter": 200})
        x = found.x
        here, last = ("{:.2f} mm, {:.2f} deg".format(*off(x, s)) for s in (slip, SLIPS[-1]))
        print(f"slip {slip:g} m/s: {found.nit} iterations; off by {here}; the same forces at {SLIPS[-1]:g}: {last}")
    return x


def main():
    """The plan, and what it does at the default slip."""
    x = plan()
    P, _ = robot.rollout(START, np.zeros(robot.n), forces(x), h=H, alpha=DAMPED)
    print("the last forces at the default slip: off by {:.2f} mm and {:.2f} deg".format(*off(x, SLIPS[-1])))
    if len(sys.argv) > 1:
        draw(x, P, sys.argv[1])


def draw(x, P, path):
    """The block from above every 100 ms, the way of the finger, and its force."""
    import matplotlib.pyplot as plt

    figure, (above, force) = plt.subplots(1, 2, figsize=(9, 3.4), width_ratios=(3, 2), layout="constrained")
    square = 0.1 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]).T

    def outline(place, color, **style):
        c, s = np.cos(place[2]), np.sin(place[2])
        corners = np.array([[c, -s], [s, c]]) @ square + place[:2, None]
        above.plot(*corners, color=color, **style)

    for k in range(0, STEPS + 1, 10):
        outline(P[k, [X, Y, YAW]], "C0", alpha=0.3 + 0.7 * k / STEPS)
    outline(GOAL, "C1", ls="--")
    above.plot(P[:, FX], P[:, FY], "k", lw=0.8)
    for k in range(0, STEPS + 1, 10):
        above.add_patch(plt.Circle(P[k, [FX, FY]], 0.02, color="k", alpha=0.4))
    above.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    U = forces(x)
    force.plot(t, U[:, FX], label="forward")
    force.plot(t, U[:, FY], label="across")
    force.set(xlabel="t [s]", ylabel="force on the finger [N]")
    force.legend()
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main()
