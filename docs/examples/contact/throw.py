"""A ball thrown so that it comes to rest at a goal, and rolled so that it passes it on time, by IPOPT: speed and spin that the
hand gives, through flight, impact, sliding and rolling.

The equations of every step in contact (`contact_residual`) are the constraints; ends and impulses of the steps are unknowns
beside the throw, so that nothing iterates inside. The smoothing of the contact is lowered from solve to solve (`contact.slip`),
each from where the last one ended. What is found is thrown by `rollout` at the default slip, and judged by mechanics: friction
takes speed and spin alike, at the impact and while the ball slides, and both vanish together where radius · spin = -5/2 speed.
Run: python docs/examples/contact/throw.py [PICTURE.png]
"""

import sys
from pathlib import Path

import casadi as ca
import numpy as np
from scipy.optimize import brentq, minimize_scalar

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load

HERE = Path(__file__).resolve().parent
robot = load(generate(str(HERE / "ball.toml"), functions=("joint_step",)).folder)
H, STEPS, GOAL, RADIUS = 0.01, 90, 1.0, 0.1  # [s], [1], [m], [m]
START = np.array([0.0, 0.6, 0.0])  # [m, m, rad] the hand that throws
FRICTION = 0.3  # of the recipe
LYING = np.array([0.0, RADIUS + 1e-7, 0.0])  # the hand that rolls
FASTEST = np.array([5.0, 5.0, 60.0])  # [m/s, m/s, rad/s]
residual = robot.casadi("contact_residual")
SLIP = robot.alpha.names.index("contact.slip")
SLIPS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3)


def thrown(P, PD):
    """Cost at its end of a ball that shall rest at the goal."""
    return 1e3 * (P[0] - GOAL) ** 2 + 1e2 * PD[0] ** 2


def rolled(P, PD):
    """Cost of one that shall pass the goal at the end of the time."""
    return 1e3 * (P[0] - GOAL) ** 2


def problem(start, ending):
    """Unknowns x, equations g, cost f; the slip is the parameter p."""
    slip, alpha = ca.MX.sym("slip"), ca.MX(robot.alpha.vector({}))
    alpha[SLIP] = slip
    throw, (P, PD, B, C) = ca.MX.sym("throw", 3), (ca.MX.sym(name, 3, STEPS) for name in ("P", "PD", "B", "C"))
    before, moving, still = ca.horzcat(start, P[:, :-1]), ca.horzcat(throw, PD[:, :-1]), ca.DM.zeros(3, STEPS)
    h, every = ca.repmat(ca.DM(H), 1, STEPS), ca.repmat(alpha, 1, STEPS)
    both = residual.map(STEPS)(before, moving, still, h, every, P, PD, B, C)
    momenta = ca.diag(ca.DM([1 / H] * 3 + [1] * 3))  # instead of momenta times h
    cost = ending(P[:, -1], PD[:, -1]) + 1e-3 * ca.sumsqr(throw / FASTEST)
    equations = ca.vertcat(*[ca.vec(ca.mtimes(momenta, stage)) for stage in both])
    return {"x": ca.vertcat(throw, ca.vec(P), ca.vec(PD), ca.vec(B), ca.vec(C)), "f": cost, "g": equations, "p": slip}


def guess(start, throw, slip):
    """Unknowns along the rollout of a throw; the impulses are those that its momenta ask for."""
    alpha = {"contact.slip": slip}
    P, PD = robot.rollout(start, throw, np.zeros((STEPS, 3)), h=H, alpha=alpha)
    values, none, impulses = robot.alpha.vector(alpha), np.zeros(3), ([], [])
    for k in range(STEPS):
        at = (P[k], PD[k], none, H, values, P[k + 1], PD[k + 1])
        left = [np.array(r).ravel()[:3] for r in residual(*at, none, none)]
        for stage, found in enumerate(impulses):
            ones = [[none, none] for _ in range(3)]
            for j in range(3):
                ones[j][stage] = np.eye(3)[j]
            push = [left[stage] - np.array(residual(*at, *one)[stage]).ravel()[:3] for one in ones]
            found.append(np.linalg.lstsq(np.array(push).T, left[stage], rcond=None)[0])
    return np.concatenate([throw, *(np.ravel(part) for part in (P[1:], PD[1:], *impulses))])


def plan(start, ending, throw, fastest):
    """The throw [m/s, m/s, rad/s] that ends at the goal, none faster than `fastest`."""
    options = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory"}}
    solver = ca.nlpsol("throw", "ipopt", problem(start, ending), options)
    x = guess(start, np.array(throw), SLIPS[0])
    bounds = np.full(len(x), np.inf)
    bounds[:3] = fastest
    for slip in SLIPS:
        found = solver(x0=x, p=slip, lbg=0, ubg=0, lbx=-bounds, ubx=bounds)
        x, stats = np.array(found["x"]).ravel(), solver.stats()
        end = x[3 * STEPS : 3 * STEPS + 3]
        print(
            f"slip {slip:g} m/s: {stats['iter_count']} iterations, {stats['return_status']}; the ball ends at {end[0]:.4f} m"
        )
        if not stats["success"]:
            raise SystemExit("IPOPT found no throw.")
    return x[:3]


def least():
    """Speed and spin of a ball on the table that slides until it rolls (5/7 speed + 2/7 radius · spin) and is at the
    goal on time: those [m/s, rad/s] that cost least."""
    time, brake = STEPS * H, FRICTION * 9.81

    def speed(spin):
        slides = lambda v: 2 * (v - RADIUS * spin) / (7 * brake)  # noqa: E731  [s]
        way = lambda v: (5 * v + 2 * RADIUS * spin) / 7 * time + brake * slides(v) ** 2 / 2 - GOAL  # noqa: E731
        return brentq(way, RADIUS * spin, 5.0)

    spin = minimize_scalar(
        lambda w: (speed(w) / FASTEST[0]) ** 2 + (w / FASTEST[2]) ** 2, bounds=(0, 11), method="bounded"
    )
    return speed(spin.x), spin.x


def main():
    """Both plans, and what they do at the default slip."""
    throw = plan(START, thrown, (2.0, 0.5, -20.0), FASTEST)
    P, PD = robot.rollout(START, throw, np.zeros((STEPS, 3)), h=H)
    print(f"throw: {throw[0]:.3f} m/s forward, {throw[1]:.3f} m/s up, spin {throw[2]:.2f} rad/s")
    print(f"mechanics: spin {-2.5 * throw[0] / RADIUS:.2f} rad/s for that speed")
    print(
        f"at the default slip: rests at {P[-1, 0]:.4f} m, {1e3 * (P[-1, 0] - GOAL):+.2f} mm off, at {PD[-1, 0]:.1e} m/s"
    )
    roll = plan(LYING, rolled, (1.0, 0.0, 5.0), FASTEST * [1.0, 1e-9, 1.0])
    Q, QD = robot.rollout(LYING, roll, np.zeros((STEPS, 3)), h=H)
    print("roll: {:.3f} m/s, spin {:.2f} rad/s; mechanics: {:.3f} m/s, {:.2f} rad/s".format(*roll[[0, 2]], *least()))
    print(f"at the default slip: passes {1e3 * (Q[-1, 0] - GOAL):+.2f} mm off, at {QD[-1, 0]:.3f} m/s")
    if len(sys.argv) > 1:
        draw((P, PD), (Q, QD), sys.argv[1])


def draw(throw, roll, path):
    """The way of the thrown ball, a spoke on it every 50 ms; speed and rolling speed of both over time."""
    import matplotlib.pyplot as plt

    figure, (way, *both) = plt.subplots(1, 3, figsize=(11, 3.2), width_ratios=(3, 2, 2), layout="constrained")
    for k in range(0, STEPS + 1, 5):
        x, z, turn = throw[0][k]
        way.add_patch(plt.Circle((x, z), RADIUS, fill=False, color="C0", alpha=0.3 + 0.7 * k / STEPS))
        way.plot([x, x + RADIUS * np.sin(turn)], [z, z + RADIUS * np.cos(turn)], "C0", lw=1)
    way.plot(throw[0][:, 0], throw[0][:, 1], "k", lw=0.5)
    way.axhline(0, color="k")
    way.axvline(GOAL, color="C1", ls="--")
    way.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    t = H * np.arange(STEPS + 1)
    for rates, (_, PD), name in zip(both, (throw, roll), ("thrown", "rolled"), strict=True):
        rates.plot(t, PD[:, 0], label="speed")
        rates.plot(t, RADIUS * PD[:, 2], label="radius × spin")
        rates.set(xlabel="t [s]", ylabel="[m/s]", title=name)
        rates.legend()
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main()
