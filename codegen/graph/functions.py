"""The catalogue in reduced coordinates as CasADi SX functions, with their derivatives.

A `Spec` is one function of the catalogue: named inputs and outputs, a one-line doc. Its graph is a leaf (plain SX); the
functions that iterate (`joint_step`, `rollout`, …) are in `joint_step.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from diffpbd.codegen.graph import maximal
from diffpbd.codegen.graph.catalogue import DOCS
from diffpbd.codegen.graph.gears import gears_of
from diffpbd.codegen.graph.joint_step import solve
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.graph.translate import inline
from diffpbd.codegen.symbolic import forces, recursive, recursive_jacobian
from diffpbd.codegen.symbolic.program import Program

Pairs = Sequence[tuple[str, Any]]


@dataclass(frozen=True)
class Spec:
    """One function: `graph` has the argument names of the catalogue."""

    name: str
    doc: str
    graph: ca.Function


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
        self.alpha = model.alpha

    def program(self, program: Program, **arguments: Any) -> dict[str, Any]:
        """Inline a program with the model's blocks for whatever is not given."""
        given = {k: arguments[k] if k in arguments else self.model.blocks[k] for k in program.inputs}
        return inline(program, given)

    def friction(self, pd: Any) -> Any:
        """Friction torque on each coordinate (n)."""
        program = forces.friction_program(self.model.robot.n)
        return self.gears.torques(self.program(program, pd=self.gears.rates(pd))["torque"])

    def spring(self, p: Any) -> Any:
        """Spring torque on each coordinate (n)."""
        program = forces.spring_program(self.model.robot.n)
        return self.gears.torques(self.program(program, p=self.gears.positions(p))["torque"])

    def inverse_dynamics(self, p: Any, pd: Any, pdd: Any) -> Any:
        """Rigid body, rotors, friction and springs: the true joint torque (n)."""
        gears, program = self.gears, recursive.inverse_dynamics(self.model.tree)
        all_pdd = gears.rates(pdd)
        rigid = self.program(program, p=gears.positions(p), pd=gears.rates(pd), pdd=all_pdd)["u"]
        return gears.torques(rigid + self.model.blocks["rotor"] * all_pdd) - self.friction(pd) - self.spring(p)

    def mass_matrix(self, p: Any) -> Any:
        """M with rotors (n × n)."""
        rigid = self.program(recursive.mass_matrix(self.model.tree), p=self.gears.positions(p))["M"]
        return self.gears.fold(rigid + ca.diag(self.model.blocks["rotor"]))

    def forward_dynamics(self, p: Any, pd: Any, u: Any) -> Any:
        """Joint accelerations under the true torque u: along the tree, or by Aᵀ M A where joints mimic others."""
        push = u + self.friction(pd) + self.spring(p)
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
        sensor = self.inverse_dynamics(p, pd, pdd) + gears.chosen(model.blocks["offset"])
        yield "inverse_dynamics", [*state, ("pdd", pdd), alpha], {"u": sensor}
        if self.forward:
            yield "forward_dynamics", [*state, ("u", u), alpha], {"pdd": self.forward_dynamics(p, pd, u)}
        yield "mass_matrix", [("p", p), alpha], {"M": self.mass_matrix(p)}
        weight = self.program(recursive.gravity_torque(tree), p=all_p)["u"]
        yield "gravity", [("p", p), alpha], {"u": gears.torques(weight)}
        coriolis = self.program(recursive.coriolis(tree), p=all_p, pd=all_pd)["u"]
        yield "coriolis", [*state, alpha], {"u": gears.torques(coriolis)}
        yield "energy", [*state, alpha], self.program(recursive.energy(tree), p=all_p, pd=all_pd)
        link = model.robot.tips[0].link
        if link >= 0:
            yield "tip_pose", [("p", p), alpha], self.program(recursive.tip_pose(tree, link), p=all_p)
            jacobian = self.program(recursive.tip_jacobian(tree, link), p=all_p)["J"]
            yield "tip_jacobian", [("p", p), alpha], {"J": gears.columns(jacobian)}
        regressor = self.program(recursive.regressor(tree), p=all_p, pd=all_pd, pdd=all_pdd)["Y"]
        yield "regressor", [*state, ("pdd", pdd), alpha], {"Y": gears.torques(regressor)}
        yield "spring_torque", [("p", p), alpha], {"torque": self.spring(p)}
        yield "friction_torque", [("pd", pd), alpha], {"torque": self.friction(pd)}

    def specs(self) -> Iterator[Spec]:
        """Every plain function, followed by its derivatives where the catalogue has them."""
        for name, inputs, outputs in self.values():
            yield Spec(name, DOCS[name], _function(name, inputs, outputs))
            if name == "forward_dynamics":
                yield from self._forward_derivatives(inputs, outputs)
            elif name == "inverse_dynamics":
                yield from self._inverse_derivatives(inputs, outputs)
            elif name in ("gravity", "tip_pose"):
                yield from _derivatives(name, inputs, outputs)
        for name, inputs, outputs in maximal.values(self.model):
            yield Spec(name, DOCS[name], _function(name, inputs, outputs))
            if name != "constraints":
                yield _vjp(name, inputs, outputs)

    def inverse_jacobian(self, p: Any, pd: Any, pdd: Any) -> dict[str, Any]:
        """u (true joint torque) and its derivatives by p, pd and pdd (n × n each), joint forces included."""
        own, gears = self.model.blocks, self.gears
        all_pd, all_pdd = gears.rates(pd), gears.rates(pdd)
        program = recursive_jacobian.inverse_dynamics_jacobian(self.model.tree)
        rigid = self.program(program, p=gears.positions(p), pd=all_pd, pdd=all_pdd)
        slopes = self.program(forces.friction_slope_program(self.model.robot.n), pd=all_pd)["slope"]
        return {
            "u": gears.torques(rigid["u"] + own["rotor"] * all_pdd) - self.friction(pd) - self.spring(p),
            "du_dp": gears.fold(rigid["du_dp"] + ca.diag(own["stiffness"])),
            "du_dpd": gears.fold(rigid["du_dpd"] + ca.diag(slopes)),
            "du_dpdd": gears.fold(rigid["M"] + ca.diag(own["rotor"])),
        }

    def _inverse_derivatives(self, inputs: Pairs, outputs: Mapping[str, Any]) -> Iterator[Spec]:
        """The Jacobian assembled from mass moments; the rest by CasADi."""
        jac = self.inverse_jacobian(self.p, self.pd, self.pdd)
        jac["u"] = jac["u"] + self.gears.chosen(self.model.blocks["offset"])
        name = "inverse_dynamics"
        yield Spec(f"jac_{name}", _jac_doc(name), _function(f"jac_{name}", inputs, jac))
        yield from (s for s in _derivatives(name, inputs, outputs) if s.name != f"jac_{name}")

    def _forward_derivatives(self, inputs: Pairs, outputs: Mapping[str, Any]) -> Iterator[Spec]:
        """By the implicit function theorem: M δp̈ = δu − ∂(inverse dynamics), at p̈ = forward dynamics."""
        n = self.gears.n
        at = outputs["pdd"]
        jac = self.inverse_jacobian(self.p, self.pd, at)
        M = jac["du_dpdd"]
        response = solve(M, ca.densify(ca.horzcat(-jac["du_dp"], -jac["du_dpd"], ca.SX.eye(n))), symmetric=True)
        parts = ca.horzsplit(response, n)
        named = {"pdd": at, "dpdd_dp": parts[0], "dpdd_dpd": parts[1], "dpdd_du": parts[2]}
        yield Spec(
            "jac_forward_dynamics", _jac_doc("forward_dynamics"), _function("jac_forward_dynamics", inputs, named)
        )
        pdd = ca.SX.sym("pdd", n)
        torque = self.inverse_dynamics(self.p, self.pd, pdd)

        def here(expression: Any) -> Any:
            return ca.substitute(expression, pdd, at)

        by_alpha = solve(M, ca.densify(here(-ca.jacobian(torque, self.alpha))), symmetric=True)
        yield Spec(
            "jac_alpha_forward_dynamics",
            _alpha_doc("forward_dynamics"),
            _function("jac_alpha_forward_dynamics", inputs, {"dpdd_dalpha": by_alpha}),
        )
        seed = ca.SX.sym("pdd_bar", n)
        w = ca.SX.sym("w", n)
        pulled = ca.gradient(ca.dot(w, self.u) - ca.dot(w, torque), ca.vertcat(self.p, self.pd, self.u, self.alpha))
        pulled = ca.substitute(here(pulled), w, solve(M, seed, symmetric=True))
        sizes = [0, n, 2 * n, 3 * n, 3 * n + self.alpha.numel()]
        bars = ca.vertsplit(pulled, sizes)
        outs = dict(zip(("p_bar", "pd_bar", "u_bar", "alpha_bar"), bars, strict=True))
        yield Spec(
            "vjp_forward_dynamics",
            _vjp_doc("forward_dynamics"),
            _function("vjp_forward_dynamics", [*inputs, ("pdd_bar", seed)], outs),
        )


def _function(name: str, inputs: Sequence[tuple[str, Any]], outputs: Mapping[str, Any]) -> ca.Function:
    dense = [ca.densify(ca.SX(v)) for v in outputs.values()]
    return ca.Function(name, [v for _, v in inputs], dense, [k for k, _ in inputs], list(outputs), {"cse": True})


def _jac_doc(name: str) -> str:
    return f"{name} and its Jacobian by everything but alpha."


def _alpha_doc(name: str) -> str:
    return f"Jacobian of {name} by alpha."


def _vjp_doc(name: str) -> str:
    return f"Reverse derivative of {name}: seeds on the outputs, gradients by every input."


def _derivatives(name: str, inputs: Sequence[tuple[str, Any]], outputs: Mapping[str, Any]) -> Iterator[Spec]:
    """jac_NAME, jac_alpha_NAME and vjp_NAME by CasADi's algorithmic differentiation."""
    plain = [(k, v) for k, v in inputs if k != "alpha"]
    alpha = next(v for k, v in inputs if k == "alpha")
    jac = dict(outputs)
    for out, value in outputs.items():
        for by, variable in plain:
            jac[f"d{out}_d{by}"] = ca.jacobian(ca.vec(ca.SX(value)), variable)
    yield Spec(f"jac_{name}", _jac_doc(name), _function(f"jac_{name}", inputs, jac))
    by_alpha = {f"d{out}_dalpha": ca.jacobian(ca.vec(ca.SX(value)), alpha) for out, value in outputs.items()}
    yield Spec(f"jac_alpha_{name}", _alpha_doc(name), _function(f"jac_alpha_{name}", inputs, by_alpha))
    yield _vjp(name, inputs, outputs)


def _vjp(name: str, inputs: Sequence[tuple[str, Any]], outputs: Mapping[str, Any]) -> Spec:
    """vjp_NAME by CasADi's reverse mode."""
    seeds = {f"{out}_bar": ca.SX.sym(f"{out}_bar", *ca.SX(value).shape) for out, value in outputs.items()}
    bars = {}
    for by, variable in inputs:
        terms = [
            ca.jtimes(ca.vec(ca.SX(v)), variable, ca.vec(s), True)
            for v, s in zip(outputs.values(), seeds.values(), strict=True)
        ]
        bars[f"{by}_bar"] = sum(terms[1:], terms[0])
    return Spec(f"vjp_{name}", _vjp_doc(name), _function(f"vjp_{name}", [*inputs, *seeds.items()], bars))
