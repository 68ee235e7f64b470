"""Steps on maximal states beside the joint-space step and forward dynamics, with whatever forces a robot has."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from support.described import Described
from support.maximal import Array, evaluate
from support.numeric import Worst
from support.programs import Programs

from diffpbd.codegen.graph.functions import maximal
from diffpbd.codegen.method import kinematics, step

H = 0.01
"""[s] Of the steps along a swing."""
SHORT = 1e-5
"""[s] Of a step in which only the acceleration counts."""


def known_blocks(robot: Described, alpha: Array) -> dict[str, Any]:
    """The step's inputs that alpha alone decides."""
    m = robot.model
    names = list(maximal.block_sizes(m.tree))
    blocks = ca.Function("blocks", [m.alpha], list(maximal.blocks(m).values()), ["alpha"], names)
    return {k: np.array(v).ravel() for k, v in blocks(alpha=alpha).items()}


def follow(robot: Described, alpha: Array, p: Array, pd: Array, u: Array, steps: int, what: str) -> Array:
    """The variational step against joint_step along a swing, to 1e-10; returns the last p."""
    m, known, programs = robot.model, known_blocks(robot, alpha), Programs(robot.model)
    xi = evaluate(kinematics.fk(m.tree), p=p, pd=pd, joint=known["joint"])["xi"]
    program = step.variational_direct(m.tree, 6, 12)
    worst = Worst(f"step against joint_step {what}", 1e-10)
    for k in range(steps):
        given = {"xi": xi, "u": u, "h": H, "gravity": alpha[:3], **known}
        xi = evaluate(program, **{name: given[name] for name in program.inputs})["xi_next"]
        p, pd = programs.joint_step(p, pd, u, H, alpha)
        back = evaluate(kinematics.joint_state(m.tree), xi=xi, joint=known["joint"], p_ref=p)
        worst.see(back["p"].ravel(), p, f"step {k} p")
        worst.see(back["pd"].ravel(), pd, f"step {k} pd")
    worst.close()
    return p


def check_acceleration(robot: Described, alpha: Array, solver: str, sweeps: int) -> None:
    """In so short a step the change of the rates over h is forward dynamics'."""
    m, known = robot.model, known_blocks(robot, alpha)
    p, pd, u = np.array([0.3, 0.1, -0.5, 0.4]), np.zeros(4), np.array([1.0, -2.0, 0.5, 0.3])
    xi = evaluate(kinematics.fk(m.tree), p=p, pd=pd, joint=known["joint"])["xi"]
    program = getattr(step, solver)(m.tree, sweeps, 1)
    given = {"xi": xi, "u": u, "h": SHORT, "gravity": alpha[:3], **known}
    xi = evaluate(program, **{name: given[name] for name in program.inputs})["xi_next"]
    rate = evaluate(kinematics.joint_state(m.tree), xi=xi, joint=known["joint"], p_ref=p)["pd"].ravel()
    np.testing.assert_allclose(rate / SHORT, robot("forward_dynamics", p, pd, u, alpha=alpha), rtol=2e-3, atol=2e-3)
