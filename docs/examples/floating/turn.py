"""A trunk in space turns itself by a right angle: its arm goes round a loop and comes back to where it was.

Nothing pushes the robot from outside, so its momentum stays zero, and still the trunk ends up turned: what the arm does on its
way out it does with another inertia than on its way back. The joints go round a circle three times, by torques from the
inertia with a base that nothing holds; the circle's radius is found by halving. What that misses Newton's method takes away:
derivatives of the end by every torque are exact, a reverse run of the rollout (`vjp_rollout`) for each condition.
Run: python docs/examples/floating/turn.py [PICTURE.png]
"""

import sys
from pathlib import Path

import numpy as np

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load

HERE = Path(__file__).resolve().parent
robot = load(generate(str(HERE / "turner.toml"), functions=("joint_step",), variants=()).folder)
H, STEPS, WANTED, LOOPS = 0.02, 200, np.pi / 2, -3
n, home = robot.n, np.array([-0.6, 1.2])  # [rad] joints at the start
start = robot.neutral
start[7:] = home


def turned(P):
    """Turn of the trunk about y [rad] along positions (rows), without jumps."""
    return np.unwrap(2 * np.arctan2(P[:, 5], P[:, 3]), period=2 * np.pi)


def circle(loops, radius):
    """Torques under which the joints follow a circle round `loops` times and stop, (steps, n)."""
    t = (np.arange(STEPS) + 0.5) / STEPS
    pace = 2 * np.pi * loops * (t - np.sin(2 * np.pi * t) / (2 * np.pi))  # begins and ends at rest
    rate = 2 * np.pi * loops * (1 - np.cos(2 * np.pi * t)) / (STEPS * H)
    growth = (2 * np.pi) ** 2 * loops * np.sin(2 * np.pi * t) / (STEPS * H) ** 2
    along = np.stack([-np.sin(pace), np.cos(pace)], axis=1)
    inward = np.stack([np.cos(pace), np.sin(pace)], axis=1)
    path = home + radius * (inward - [1.0, 0.0])
    rates, wanted = radius * rate[:, None] * along, radius * (growth[:, None] * along - rate[:, None] ** 2 * inward)
    U, p, pd = np.zeros((STEPS, n)), start, np.zeros(n)
    for k in range(STEPS):
        M, c = robot.mass_matrix(p), robot.coriolis(p, pd)
        middle = p[7:] + H / 2 * pd[6:]
        follow = wanted[k] + 100.0 * (path[k] - middle) + 20.0 * (rates[k] - pd[6:] - H / 2 * wanted[k])
        base = -np.linalg.solve(M[:6, :6], M[:6, 6:] @ follow + c[:6])
        U[k, 6:] = M[6:, :6] @ base + M[6:, 6:] @ follow + c[6:]
        p, pd = robot.joint_step(p, pd, U[k], H)
    return U


def end(U):
    """Residuals that vanish at the end (turn still missing, joints' way home, rates), and their derivatives by the torques."""
    P, PD = robot.rollout(start, np.zeros(n), U, H)
    missing = np.concatenate([[turned(P)[-1] - WANTED], P[-1, 7:] - home, PD[-1, 6:]])
    rows = []
    for k in range(5):
        seeds, rate_seeds = np.zeros((STEPS + 1, n)), np.zeros((STEPS + 1, n))
        (seeds if k < 3 else rate_seeds)[-1, 4 if k == 0 else 6 + (k - 1) % 2] = 1.0
        rows.append(robot.vjp_rollout(start, np.zeros(n), U, H, P_bar=seeds, PD_bar=rate_seeds).U_bar[:, 6:].ravel())
    return P, PD, missing, np.array(rows)


def corrected(U):
    """Torques near U that end as wanted, by Newton's method with the least change."""
    for _ in range(20):
        P, PD, missing, J = end(U)
        if np.abs(missing).max() < 1e-11:
            break
        U = U.copy()
        U[:, 6:] -= np.linalg.lstsq(J, missing, rcond=None)[0].reshape(STEPS, 2)
    return U, P, PD, missing


def falls_short(radius):
    """Turn still missing after circles of this radius [rad]."""
    return WANTED - turned(robot.rollout(start, np.zeros(n), circle(LOOPS, radius), H)[0])[-1]


low, high = 0.2, 2.0  # [rad] the wider the circle, the more it turns
for _ in range(12):
    radius = (low + high) / 2
    low, high = (radius, high) if falls_short(radius) > 0 else (low, radius)
guess = circle(LOOPS, radius)
P0, _ = robot.rollout(start, np.zeros(n), guess, H)
U, P, PD, missing = corrected(guess)
momentum = np.einsum("kij,kj->ki", robot.mass_matrix(P), PD)[:, :6]
change = np.abs(U - guess).max()
print(
    f"circles of {radius:.3f} rad: the trunk turns by {np.degrees(turned(P0)[-1]):.3f} degrees, joints miss home by "
    f"{np.abs(P0[-1, 7:] - home).max():.0e} rad"
)
print(
    f"corrected by at most {change:.1e} N·m: {np.degrees(turned(P)[-1]):.9f} degrees, joints miss by "
    f"{np.abs(missing[1:3]).max():.0e} rad, {np.abs(missing[3:]).max():.0e} rad/s"
)
print(f"momentum along the way: at most {np.abs(momentum).max():.0e} kg·m/s, kg·m²/s")

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 5.2), layout="constrained")
    shown, curves = figure.subplots(2, 1, height_ratios=(1.2, 1.0))
    for k, at in enumerate(np.linspace(0, STEPS, 7).astype(int)):
        angle, (shoulder, elbow) = turned(P)[at], P[at, 7:]
        x, z = P[at, 0] + 1.15 * k, P[at, 2]
        c, s = np.cos(angle), np.sin(angle)
        corners = np.array([[-0.15, -0.12], [0.15, -0.12], [0.15, 0.12], [-0.15, 0.12], [-0.15, -0.12]])
        shown.plot(x + corners @ [c, s], z + corners @ [-s, c], "k")
        shown.plot(x + 0.12 * s, z + 0.12 * c, "ro", markersize=4)  # the side that is up at first
        joints = [np.array([x + 0.15 * c, z - 0.15 * s])]
        for turn in (angle + shoulder, angle + shoulder + elbow):
            joints.append(joints[-1] + 0.4 * np.array([np.cos(turn), -np.sin(turn)]))
        shown.plot(*np.array(joints).T, "o-", color="tab:blue", markersize=4)
        shown.text(x, -0.75, f"{at * H:.2g} s", ha="center")
    shown.set_aspect("equal")
    shown.axis("off")
    time = H * np.arange(STEPS + 1)
    curves.plot(time, np.degrees(turned(P)), "k", label="trunk")
    for k, name in enumerate(robot.joints[6:]):
        curves.plot(time, np.degrees(P[:, 7 + k]), "--", label=name)
    curves.set(xlabel="time [s]", ylabel="angle [degrees]")
    curves.grid(alpha=0.3)
    curves.legend()
    figure.savefig(sys.argv[1], dpi=110)
