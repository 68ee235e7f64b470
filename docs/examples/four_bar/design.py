"""Lengths of a four-bar found by IPOPT so that a point of its coupler draws a straight line, by the step's exact gradient.

A flywheel on the crank carries the mechanism round for 0.6 s under its own weight. Four lengths (crank, coupler, rocker,
ground) are free; the loss is what the pen is off a horizontal line that it follows at a steady pace. The start depends on the
lengths too: its pose is closed (`close_loops`), its rates follow the crank's, and both are differentiated through the loop's
own rows. Gradients of the swing come from `vjp_rollout`. Run: python docs/examples/four_bar/design.py [PICTURE.png]
"""

import sys
from pathlib import Path

import casadi as ca
import numpy as np

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load
from diffpbd.runtime.base.callback import Callback
from diffpbd.runtime.base.errors import SolverError
from diffpbd.runtime.base.ipopt import solve

HERE = Path(__file__).resolve().parent
robot = load(generate(str(HERE / "four_bar.toml"), functions=("joint_step",)).folder)
LENGTHS = ("origin.j2.x", "loop.origin.four_bar.parent.x", "loop.origin.four_bar.child.x", "origin.j3.x")
START = np.array([0.15, 0.42, 0.48, 0.50])  # [m] crank, coupler, rocker, ground
LOWER, UPPER = np.array([0.06, 0.2, 0.2, 0.2]), np.array([0.2, 0.8, 0.8, 0.8])
CRANK, SPEED, H, STEPS = 3.0, 4.0, 0.01, 60
FLYWHEEL = {"rotor_inertia.j1": 0.5}  # [kg·m²]
kept = [0, 1]  # rows that are solved come first here: gap_x, gap_z
where = [robot.alpha.names.index(name) for name in LENGTHS]
first, rest = [0], [1, 2]  # j1 is driven, j2 and j3 follow from the loop


def values(lengths):
    """Alpha by name."""
    return {**FLYWHEEL, **dict(zip(LENGTHS, map(float, lengths), strict=True))}


def begin(lengths):
    """Closed pose at the crank's angle, rates at its speed, and both by alpha."""
    alpha = values(lengths)
    p = robot.close_loops([CRANK, -2.2, 1.9], [1, 0, 0], alpha=alpha)
    rows, by = robot.jac_loop_residual(p, np.zeros(3), alpha=alpha), robot.jac_alpha_loop_residual
    A = rows.drows_dp[kept]
    pd = np.zeros(3)
    pd[0] = SPEED
    pd[rest] = np.linalg.solve(A[:, rest], -A[:, 0] * SPEED)
    rows, open_ = robot.jac_loop_residual(p, pd, alpha=alpha), by(p, pd, alpha=alpha)
    dp, dpd = np.zeros((3, 4)), np.zeros((3, 4))
    dp[rest] = -np.linalg.solve(A[:, rest], open_.drows_dalpha[np.ix_(kept, where)])
    moved = open_.drow_rates_dalpha[np.ix_(kept, where)] + rows.drow_rates_dp[kept] @ dp
    dpd[rest] = -np.linalg.solve(A[:, rest], moved)
    return p, pd, dp, dpd


def pen(lengths):
    """Places of the pen along the swing (x, z), and what pulls a loss of them back to the lengths."""
    alpha = values(lengths)
    p, pd, dp, dpd = begin(lengths)
    U = np.zeros((STEPS, 3))
    P, _ = robot.rollout(p, pd, U, h=H, alpha=alpha)
    places = np.array([robot.tip_pose(q, alpha=alpha).position for q in P])

    def back(bar):
        P_bar, direct = np.zeros_like(P), np.zeros(4)
        for k, q in enumerate(P):
            pulled = robot.vjp_tip_pose(q, alpha=alpha, position_bar=bar[k], rotation_bar=np.zeros((3, 3)))
            P_bar[k], direct = pulled.p_bar, direct + pulled.alpha_bar[where]
        swing = robot.vjp_rollout(p, pd, U, h=H, alpha=alpha, P_bar=P_bar, PD_bar=np.zeros_like(P))
        return direct + swing.alpha_bar[where] + swing.p0_bar @ dp + swing.pd0_bar @ dpd

    return places, back


t = np.linspace(-1.0, 1.0, STEPS + 1)
LINE = 0.16 * t  # [m] along the line at a steady pace; where it lies is free


def loss(lengths):
    """Value and gradient, and what the pen is off."""
    places, back = pen(lengths)
    sign = np.sign(places[-1, 0] - places[0, 0])
    off = np.zeros_like(places)
    off[:, 0] = places[:, 0] - places[:, 0].mean() - sign * (LINE - LINE.mean())
    off[:, 2] = places[:, 2] - places[:, 2].mean()
    gradient = off - off.mean(axis=0)
    return 0.5e3 * float((off**2).sum()), 1e3 * back(gradient), off, places


def reachable(lengths):
    """Value and gradient, not a number where the loop does not close or opens on the way; IPOPT then takes a shorter step."""
    try:
        return loss(np.array(lengths).ravel())[:2]
    except SolverError:
        return np.nan, np.full(4, np.nan)


def solved():
    """IPOPT on both."""
    size = ca.Sparsity.dense(4, 1)
    one, none = ca.Sparsity.dense(1, 1), ca.Sparsity(0, 0)
    f = Callback("f", {"x": size}, {"f": one}, lambda x: [reachable(x)[0]])
    both = Callback("grad_f", {"x": size, "p": none}, {"f": one, "grad_f_x": size}, lambda x, _: list(reachable(x)))
    x = ca.MX.sym("x", 4)
    ipopt = {"hessian_approximation": "limited-memory", "max_iter": 100, "tol": 1e-6}
    found = solve(
        "design",
        {"x": x, "f": f(x)},
        START,
        LOWER,
        UPPER,
        options=ipopt,
        derivatives={"grad_f": both, "no_nlp_grad": True},
    )
    print(f"IPOPT: {found.iterations} iterations, {found.status}")
    return found.x


def main():
    """The design and what it gains."""
    differences = [(loss(START + e)[0] - loss(START - e)[0]) / 2e-6 for e in 1e-6 * np.eye(4)]
    print(f"gradient {loss(START)[1]}; {np.array(differences)}")
    best = solved()
    for name, lengths in (("before", START), ("after", best)):
        _, _, off, _ = loss(lengths)
        print(
            f"{name}: lengths {np.round(lengths, 4)} m, off the line {1e3 * np.sqrt((off**2).sum(axis=1).mean()):.2f} mm RMS"
        )
    if len(sys.argv) > 1:
        picture(sys.argv[1], best)


def picture(path, best):
    """Both paths beside the line."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
    for ax, title, lengths in ((axes[0], "before", START), (axes[1], "after", best)):
        _, _, off, places = loss(lengths)
        line = places - off
        ax.plot(line[:, 0], line[:, 2], "k--", lw=1, label="wanted")
        ax.plot(places[:, 0], places[:, 2], "o-", ms=2, label="pen")
        a, _, c, g = lengths
        p, *_ = begin(lengths)
        elbow = a * np.array([np.cos(p[0]), np.sin(p[0])])
        knee = np.array([g, 0]) + c * np.array([np.cos(p[2]), np.sin(p[2])])
        bars = np.array([[0, 0], elbow, knee, [g, 0]])
        ax.plot(bars[:, 0], bars[:, 1], "0.6", lw=2)
        ax.set(
            title=f"{title}: {1e3 * np.sqrt((off**2).sum(axis=1).mean()):.1f} mm RMS", xlabel="x [m]", aspect="equal"
        )
        ax.legend()
    axes[0].set_ylabel("z [m]")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
