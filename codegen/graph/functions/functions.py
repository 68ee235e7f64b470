"""The plain functions of the catalogue as CasADi SX expressions of one model.

Those that iterate (`joint_step`, `rollout`, …) are in `joint_step.py`, derivatives in `derivatives.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import casadi as ca

from diffpbd.codegen.graph.expressions.gears import gears_of
from diffpbd.codegen.graph.expressions.translate import inline
from diffpbd.codegen.graph.functions import maximal
from diffpbd.codegen.graph.model.meetings import inlined
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.graph.step.joint_step import solve
from diffpbd.codegen.joint_space import recursive, recursive_jacobian, wrenches
from diffpbd.codegen.joint_space.contact import contacts
from diffpbd.codegen.joint_space.loops import closures
from diffpbd.codegen.laws import attached, forces
from diffpbd.codegen.program.program import Program

Pairs = Sequence[tuple[str, Any]]


class Graphs:
    """Builds the reduced-coordinate functions of one model; expressions are shared between a function and its derivatives."""

    def __init__(self, model: Model, forward: bool = True) -> None:
        """`forward`: whether the mass matrix can be inverted (no massless end links), so that forward dynamics exists."""
        self.model = model
        self.forward = forward
        self.gears = gears_of(model.robot)
        n = self.gears.n
        self.p, self.pd, self.pdd, self.u = (ca.SX.sym(k, n) for k in ("p", "pd", "pdd", "u"))
        self.h = ca.SX.sym("h")
        self.force = ca.SX.sym("contact_force", 3, len(model.tree.contacts))
        self.alpha = model.alpha
        self.tangent: Any = None
        """Columns along which derivatives by p are taken, where these are not its entries."""

    def program(self, program: Program, **arguments: Any) -> dict[str, Any]:
        """Inline a program, with the model's blocks for inputs that are not given."""
        given = {k: arguments[k] if k in arguments else self.model.blocks[k] for k in program.inputs}
        return inline(program, given)

    def friction(self, pd: Any) -> Any:
        """Friction torque on each coordinate (n)."""
        program = forces.friction_program(self.model.robot.n, self.model.tree.friction)
        return self.gears.torques(self.program(program, pd=self.gears.rates(pd))["torque"])

    def spring(self, p: Any) -> Any:
        """Torque of joint springs and of those on chosen joints on each coordinate (n)."""
        tree, all_p = self.model.tree, self.gears.positions(p)
        torque = self.program(forces.spring_program(tree.n), p=all_p)["torque"]
        if tree.attached:
            torque = torque + self.program(attached.program(tree, "torque"), p=all_p)["torque"]
        return self.gears.torques(torque)

    def pose_torque(self, p: Any) -> Any:
        """Torque on each coordinate (n) that depends on the pose only: springs and external wrenches."""
        if not self.model.tree.wrenches:
            return self.spring(p)
        program = wrenches.torque_program(self.model.tree)
        return self.spring(p) + self.gears.torques(self.program(program, p=self.gears.positions(p))["torque"])

    def inverse_dynamics(self, p: Any, pd: Any, pdd: Any) -> Any:
        """Rigid body, rotors, friction, springs and external wrenches: the true joint torque (n)."""
        gears, program = self.gears, recursive.inverse_dynamics(self.model.tree)
        all_pdd = gears.rates(pdd)
        rigid = self.program(program, p=gears.positions(p), pd=gears.rates(pd), pdd=all_pdd)["u"]
        return gears.torques(rigid + self.model.blocks["rotor"] * all_pdd) - self.friction(pd) - self.pose_torque(p)

    def mass_matrix(self, p: Any) -> Any:
        """M with rotors (n × n)."""
        rigid = self.program(recursive.mass_matrix(self.model.tree), p=self.gears.positions(p))["M"]
        return self.gears.fold(rigid + ca.diag(self.model.blocks["rotor"]))

    def forward_dynamics(self, p: Any, pd: Any, u: Any) -> Any:
        """Joint accelerations under the true torque u: along the tree, or by Aᵀ M A where joints mimic others."""
        push = u + self.friction(pd) + self.pose_torque(p)
        if self.gears.matrix is None:
            return self.program(recursive.forward_dynamics(self.model.tree), p=p, pd=pd, u=push)["pdd"]
        return solve(self.mass_matrix(p), push - self.gears.torques(self.bias(p, pd)), symmetric=True)

    def bias(self, p: Any, pd: Any) -> Any:
        """Torque on every joint of the tree of gravity and velocity products."""
        program, n = recursive.inverse_dynamics(self.model.tree), self.model.robot.n
        known = {"p": self.gears.positions(p), "pd": self.gears.rates(pd), "pdd": ca.SX.zeros(n)}
        return self.program(program, **known)["u"]

    def values(self) -> Iterator[tuple[str, Sequence[tuple[str, Any]], Mapping[str, Any]]]:
        """(name, inputs, outputs) of every plain function."""
        model, tree, gears = self.model, self.model.tree, self.gears
        p, pd, pdd, u = self.p, self.pd, self.pdd, self.u
        all_p, all_pd, all_pdd = gears.positions(p), gears.rates(pd), gears.rates(pdd)
        state, alpha = [("p", p), ("pd", pd)], ("alpha", self.alpha)
        torque, offset = self.inverse_dynamics(p, pd, pdd), gears.chosen(model.blocks["offset"])
        yield "inverse_dynamics", [*state, ("pdd", pdd), alpha], self._shared(torque, offset)
        if self.forward:
            yield "forward_dynamics", [*state, ("u", u), alpha], {"pdd": self.forward_dynamics(p, pd, u)}
        yield "mass_matrix", [("p", p), alpha], {"M": self.mass_matrix(p)}
        weight = self.program(recursive.gravity_torque(tree), p=all_p)["u"]
        yield "gravity", [("p", p), alpha], {"u": gears.torques(weight)}
        coriolis = self.program(recursive.coriolis(tree), p=all_p, pd=all_pd)["u"]
        yield "coriolis", [*state, alpha], {"u": gears.torques(coriolis)}
        yield "energy", [*state, alpha], self.program(recursive.energy(tree), p=all_p, pd=all_pd)
        link = model.robot.tips[0].link
        yield "tip_pose", [("p", p), alpha], self.program(recursive.tip_pose(tree, link), p=all_p)
        jacobian = self.program(recursive.tip_jacobian(tree, link), p=all_p)["J"]
        yield "tip_jacobian", [("p", p), alpha], {"J": gears.columns(jacobian)}
        if not tree.deep:
            regressor = self.program(recursive.regressor(tree), p=all_p, pd=all_pd, pdd=all_pdd)["Y"]
            yield "regressor", [*state, ("pdd", pdd), alpha], {"Y": gears.torques(regressor)}
        yield "spring_torque", [("p", p), alpha], {"torque": self.spring(p)}
        yield "friction_torque", [("pd", pd), alpha], {"torque": self.friction(pd)}
        if forces.has_memory(tree.friction):
            given = {"pd_next": gears.rates(pd), "h": self.h}
            end = self.program(forces.deflection_program(tree.n, tree.friction), **given)["deflection"]
            within = ca.fmax(ca.fmin(end[tree.base :], 1), -1)  # rounding of a deflection at its bound
            yield "deflection_next", [("pd_next", pd), ("h", self.h), alpha], {"deflection": within}
        if tree.closures:
            rows = self.program(closures.rows(tree, True), p=p)
            yield "loop_residual", [*state, alpha], {"rows": rows["g"], "row_rates": ca.mtimes(rows["A"], pd)}
        if tree.contacts:
            found = inlined(contacts.rows(tree, True), model, {"p": p})
            yield "contact_gap", [("p", p), alpha], {"gap": found["gap"]}
            yield "contact_jacobian", [("p", p), alpha], {"contact_rows": found["J"]}
            torque = self._of_contacts(found["J"], found["sign"])
            yield "contact_torque", [("p", p), ("contact_force", self.force), alpha], {"torque": torque}
        yield from maximal.values(model)

    def _of_contacts(self, J: Any, sign: Any) -> Any:
        """Jᵀ f of forces on the spheres of contacts (3 × c, world axes)."""
        frames = inlined(contacts.directions(self.model.tree), self.model, {"p": self.p, "sign": sign})["frames"]
        along = []
        for k, contact in enumerate(self.model.tree.contacts):
            rows = ca.mtimes(ca.reshape(frames[:, k], 3, 3).T, self.force[:, k])
            if contact.crossing:  # its normal is shorter than one
                rows[0] /= ca.dot(frames[0:3, k], frames[0:3, k])
            along.append(rows)
        return ca.mtimes(J.T, ca.vertcat(*along))

    def _shared(self, torque: Any, offset: Any) -> dict[str, Any]:
        """Splits a torque into the motors' part, as their sensors read it, and remainders of joints without a motor."""
        if not self.model.robot.passive:
            return {"u": torque + offset}
        return {"u": self.motors * (torque + offset), "unbalanced": (1 - self.motors) * torque}

    @property
    def motors(self) -> Any:
        """1 where a coordinate has a motor, else 0 (n)."""
        robot = self.model.robot
        return ca.DM([float(robot.joints[k].name not in robot.passive) for k in robot.independent])

    def condensed(self, terms: Callable[[Graphs], Any]) -> Any:
        """Terms in which the torque is linear (`identification.terms`)."""
        return terms(self)

    def condensed_coefficients(self, coefficients: Callable[[Graphs], Any]) -> Any:
        """Coefficients of these terms."""
        return coefficients(self)

    def inverse_jacobian(self, p: Any, pd: Any, pdd: Any) -> dict[str, Any]:
        """u (true joint torque) and its derivatives by p, pd and pdd (n × n each), joint forces included."""
        own, gears = self.model.blocks, self.gears
        all_pd, all_pdd = gears.rates(pd), gears.rates(pdd)
        program = recursive_jacobian.inverse_dynamics_jacobian(self.model.tree)
        rigid = self.program(program, p=gears.positions(p), pd=all_pd, pdd=all_pdd)
        slopes = self.program(forces.friction_slope_program(self.model.robot.n, self.model.tree.friction), pd=all_pd)[
            "slope"
        ]
        by_pose = rigid["du_dp"] + ca.diag(own["stiffness"])
        if self.model.tree.attached:
            by_pose = by_pose + ca.diag(
                self.program(attached.program(self.model.tree, "slope"), p=gears.positions(p))["slope"]
            )
        if self.model.tree.wrenches:
            gradient = wrenches.gradient_program(self.model.tree)
            by_pose = by_pose - self.program(gradient, p=gears.positions(p))["gradient"]
        return {
            "u": gears.torques(rigid["u"] + own["rotor"] * all_pdd) - self.friction(pd) - self.pose_torque(p),
            "du_dp": gears.fold(by_pose),
            "du_dpd": gears.fold(rigid["du_dpd"] + ca.diag(slopes)),
            "du_dpdd": gears.fold(rigid["M"] + ca.diag(own["rotor"])),
        }
