"""One state through every function family of a robot that is not compiled: plain functions, joint_step, node_torque, steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from support.described import Described
from support.maximal import Array, evaluate
from support.programs import Programs

from diffpbd.codegen.graph.functions import maximal
from diffpbd.codegen.method import kinematics, step

H = 0.01
PLAIN = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "coriolis", "energy")
MAXIMAL = ("variational_direct", "paper_direct")


class Families:
    """Graphs and NumPy programs of one robot."""

    def __init__(self, d: Described, plain: Sequence[str] = PLAIN, steps: Sequence[str] = MAXIMAL) -> None:
        self.d, self.plain, self.steps = d, plain, steps
        self.programs = Programs(d.model)
        sizes = maximal.block_sizes(d.model.tree)
        blocks = list(maximal.blocks(d.model).values())
        self._blocks = ca.Function("blocks", [d.model.alpha], blocks, ["alpha"], list(sizes))

    def __call__(self, p: Array, pd: Array, x: Array, alpha: Array) -> dict[str, Any]:
        """Every output at p, pd and x, which is pdd or u; the maximal steps as the joint state that they lead to."""
        known = {"p": p, "pd": pd, "pdd": x, "u": x, "alpha": alpha}
        found: dict[str, Any] = {}
        for name in self.plain:
            f = self.d.functions[name]
            found[name] = np.concatenate([np.array(v).ravel() for v in f.call([known[k] for k in f.name_in()])])
        found["joint_step"] = np.concatenate(self.programs.joint_step(p, pd, x, H, alpha))
        found["node_torque"] = self.programs.node_torque(p - H * pd, p, p + H * pd + H * H * x, H, alpha)
        for name in self.steps:
            found[name] = self.maximal_step(name, p, pd, x, alpha)
        return found

    def maximal_step(self, name: str, p: Array, pd: Array, u: Array, alpha: Array, sweeps: int = 3) -> Array:
        """p and pd (2 n) after a maximal step."""
        tree = self.d.model.tree
        known = {k: np.array(v).ravel() for k, v in self._blocks(alpha=alpha).items()}
        xi = evaluate(kinematics.fk(tree), p=p, pd=pd, joint=known["joint"])["xi"]
        given = {"xi": xi, "u": u, "h": H, "gravity": alpha[:3], **known}
        program = getattr(step, name)(tree, sweeps, 10)
        xi = evaluate(program, **{k: given[k] for k in program.inputs})["xi_next"]
        back = evaluate(kinematics.joint_state(tree), xi=xi, joint=known["joint"], p_ref=p)
        return np.concatenate([back["p"].ravel(), back["pd"].ravel()])
