"""The plain functions of the catalogue as CasADi SX expressions of one model.

Those that iterate (`joint_step`, `rollout`, …) are in `joint_step.py`, derivatives in `derivatives.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca

from diffpbd.codegen.graph import maximal
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.graph.translate import inline
from diffpbd.codegen.symbolic import forces, recursive, recursive_jacobian
from diffpbd.codegen.symbolic.program import Program

Pairs = Sequence[tuple[str, Any]]


class Graphs:
    """Builds the reduced-coordinate functions of one model; expressions are shared between a function and its derivatives."""

    def __init__(self, model: Model, forward: bool = True) -> None:
        """`forward`: whether the mass matrix can be inverted (no massless end links), so that forward dynamics exists."""
        self.model = model
        self.forward = forward
        n = model.robot.n
        self.p, self.pd, self.pdd, self.u = (ca.SX.sym(k, n) for k in ("p", "pd", "pdd", "u"))
        self.h = ca.SX.sym("h")
        self.alpha = model.alpha

    def program(self, program: Program, **arguments: Any) -> dict[str, Any]:
        """Inline a program with the model's blocks for whatever is not given."""
        given = {k: arguments[k] if k in arguments else self.model.blocks[k] for k in program.inputs}
        return inline(program, given)

    def friction(self, pd: Any) -> Any:
        """Friction torque on each joint (n)."""
        return self.program(forces.friction_program(self.model.robot.n), pd=pd)["torque"]

    def spring(self, p: Any) -> Any:
        """Spring torque on each joint (n)."""
        return self.program(forces.spring_program(self.model.robot.n), p=p)["torque"]

    def inverse_dynamics(self, p: Any, pd: Any, pdd: Any) -> Any:
        """Rigid body, rotors, friction and springs: the true joint torque (n)."""
        rigid = self.program(recursive.inverse_dynamics(self.model.tree), p=p, pd=pd, pdd=pdd)["u"]
        return rigid + self.model.blocks["rotor"] * pdd - self.friction(pd) - self.spring(p)

    def mass_matrix(self, p: Any) -> Any:
        """M with rotors (n × n)."""
        return self.program(recursive.mass_matrix(self.model.tree), p=p)["M"] + ca.diag(self.model.blocks["rotor"])

    def values(self) -> Iterator[tuple[str, Sequence[tuple[str, Any]], Mapping[str, Any]]]:
        """(name, inputs, outputs) of every plain function."""
        model, tree = self.model, self.model.tree
        p, pd, pdd, u = self.p, self.pd, self.pdd, self.u
        state, alpha = [("p", p), ("pd", pd)], ("alpha", self.alpha)
        sensor = self.inverse_dynamics(p, pd, pdd) + model.blocks["offset"]
        yield "inverse_dynamics", [*state, ("pdd", pdd), alpha], {"u": sensor}
        if self.forward:
            push = u + self.friction(pd) + self.spring(p)
            pdd_of_u = self.program(recursive.forward_dynamics(tree), p=p, pd=pd, u=push)["pdd"]
            yield "forward_dynamics", [*state, ("u", u), alpha], {"pdd": pdd_of_u}
        yield "mass_matrix", [("p", p), alpha], {"M": self.mass_matrix(p)}
        yield "gravity", [("p", p), alpha], self.program(recursive.gravity_torque(tree), p=p)
        yield "coriolis", [*state, alpha], self.program(recursive.coriolis(tree), p=p, pd=pd)
        yield "energy", [*state, alpha], self.program(recursive.energy(tree), p=p, pd=pd)
        link = model.robot.tips[0].link
        if link >= 0:
            yield "tip_pose", [("p", p), alpha], self.program(recursive.tip_pose(tree, link), p=p)
            yield "tip_jacobian", [("p", p), alpha], self.program(recursive.tip_jacobian(tree, link), p=p)
        if not tree.deep:
            regressor = self.program(recursive.regressor(tree), p=p, pd=pd, pdd=pdd)
            yield "regressor", [*state, ("pdd", pdd), alpha], regressor
        yield "spring_torque", [("p", p), alpha], {"torque": self.spring(p)}
        yield "friction_torque", [("pd", pd), alpha], {"torque": self.friction(pd)}
        yield from maximal.values(model)

    def inverse_jacobian(self, p: Any, pd: Any, pdd: Any) -> dict[str, Any]:
        """u (true joint torque) and its derivatives by p, pd and pdd (n × n each), joint forces included."""
        own = self.model.blocks
        rigid = self.program(recursive_jacobian.inverse_dynamics_jacobian(self.model.tree), p=p, pd=pd, pdd=pdd)
        slopes = self.program(forces.friction_slope_program(self.model.robot.n), pd=pd)["slope"]
        return {
            "u": rigid["u"] + own["rotor"] * pdd - self.friction(pd) - self.spring(p),
            "du_dp": rigid["du_dp"] + ca.diag(own["stiffness"]),
            "du_dpd": rigid["du_dpd"] + ca.diag(slopes),
            "du_dpdd": rigid["M"] + ca.diag(own["rotor"]),
        }
