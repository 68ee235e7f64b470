"""Kernels of the joint-space step with closed loops and limits, under the names of templates/constrained_step.c."""

from __future__ import annotations

import math
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph.functions import Graphs
from diffpbd.codegen.graph.joint_step import forwards, kernel_graph, node_torque, residuals, solve
from diffpbd.codegen.graph.meetings import inlined
from diffpbd.codegen.graph.model import Model, independent, prepare
from diffpbd.codegen.graph.root import Root
from diffpbd.codegen.graph.sided import Sided, sided_kernels
from diffpbd.codegen.graph.step_graphs import NEXT, STATE
from diffpbd.codegen.graph.translate import graph_of, inline
from diffpbd.codegen.joint_space import bordered, closures, contacts
from diffpbd.codegen.joint_space import step as joint_space

SLIPS: Final = ("limit.slip", "contact.slip")
MOST_OFF: Final = math.pi / 2 - 1
"""[rad] Turn of a step beside the mean rate of its ends: sin(turn) = h rate has its end within, every other root beyond."""


class Closed:
    """Rows of a model's loops as expressions of coordinates."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def rows(self, p: Any, every: bool = False) -> tuple[Any, Any]:
        """g and A at p."""
        if not self.model.tree.closures:
            return ca.SX(0, 1), ca.SX(0, self.model.tree.freedoms)
        program = closures.rows(self.model.tree, every)
        found = inline(program, {k: p if k == "p" else self.model.blocks[k] for k in program.inputs})
        return found["g"], found["A"]


def kernels(model: Model, with_alpha: bool = True) -> list[ca.Function]:
    """Every kernel of the step, its derivatives, and what is asked at an instant."""
    tree, prepared = model.tree, prepare(model)
    values = graph_of("prepare", {"alpha": model.alpha}, {"model": prepared.values})
    programs = {"start": bordered.start(tree), "node": bordered.node(tree)}
    if tree.sided:
        sided = (bordered.pose, bordered.residual, bordered.landing, bordered.rate_system, bordered.blocks)
        programs |= {f.__name__: f(tree) for f in sided}
    else:
        steps = (bordered.newton, bordered.chord, bordered.end, bordered.velocity, bordered.rate, bordered.systems)
        gradient = (bordered.gradient,) if tree.rows else ()
        programs |= {f.__name__: f(tree) for f in (*steps, *gradient, joint_space.velocity_gradient)}
    if tree.contacts:
        programs |= {"directions": contacts.directions(tree)}
    made = [kernel_graph(program, name, prepared) for name, program in programs.items()]
    made += [by_alpha(model)] if with_alpha and not tree.sided else []
    made += sided_kernels(model, prepared)
    made += [closing(model), instant(model), held(model), curvature(model)] if tree.closures else []
    return [values, *made, parameters(model), node_torque(model)]


def solved(model: Model) -> ca.Function:
    """joint_step by two root finders, of the pose stage for p_next, Λ and the impulses of limits and contacts, and of the rate
    stage: exact derivatives of any order; NaN where no root is found. The start is taken for closed."""
    model = independent(model)
    r, m, sided = residuals(model), model.tree.rows, Sided(model)
    n, k = r.n, sided.count
    L, H, rho = (ca.SX.sym(name, size) for name, size in (("L", m), ("H", m), ("rho", sided.masses)))
    B, C = (ca.SX.sym(name, k) for name in ("B", "C"))
    pose, closed, rate, still = _equations(model, L, H)
    pose, rate = pose - r.h * ca.mtimes(sided.pushes(False), B), rate - r.h * ca.mtimes(sided.pushes(True), C)
    sign = sided.touching.sign if sided.touching else ca.SX(0, 1)
    known = ca.vertcat(r.p, r.pd, r.u, r.h, r.alpha)
    guess = r.p + r.h * r.pd
    D = ca.substitute(ca.jacobian(r.F, r.p_next), r.p_next, r.p) if k else ca.SX.eye(n)
    weights = ca.Function("weights", [known, sign], [ca.substitute(sided.weights(D), r.p_next, guess)])
    given = {name: ca.MX.sym(name, v.numel()) for name, v in zip(STATE, (r.p, r.pd, r.u, r.h, r.alpha), strict=True)}
    at = ca.vertcat(*given.values())
    signs = ca.Function("signs", [known], [_signs(model)])(at)
    fixed = ca.vertcat(weights(at, signs), signs)
    begun = ca.substitute(ca.vertcat(guess, ca.SX(m, 1), sided.start(False)), r.p_next, guess)
    first = Root(
        "pose",
        ca.vertcat(r.p_next, L, B),
        (known, ca.vertcat(rho, sign)),
        (pose, closed, sided.rows(B, False, rho)),
        begun,
        _turning(model) if m or k else (),
    )
    begun = ca.vertcat(r.pd if k else ca.SX(n, 1), ca.SX(m, 1), ca.substitute(sided.start(True), r.pd_next, r.pd))
    second = Root(
        "rate", ca.vertcat(r.pd_next, H, C), (ca.vertcat(known, r.p_next), ca.vertcat(rho, sign)),
        (rate, still, sided.rows(C, True, rho)), begun,
    )  # fmt: skip
    slips = (
        [known.numel() - len(model.entries) + i for i, e in enumerate(model.entries) if e.name in SLIPS] if k else []
    )
    p_next = first.root(at, fixed, slips)[:n]
    pd_next = second.root(ca.vertcat(at, p_next), fixed, slips)[:n]
    outside = ca.Function("outside", [known], [sided.outside()])(at)
    refused = outside < 0
    if m or k:  # as the compiled step is judged
        led = given["h"] * (given["pd"] + pd_next) / 2
        off = ca.mmax(ca.DM(_turning(model)) * ca.fabs(p_next - given["p"] - led))
        refused = ca.logic_or(refused, ca.logic_not(off <= MOST_OFF))
    ends = [ca.if_else(refused, ca.DM.nan(n, 1), forwards(given["h"], end)) for end in (p_next, pd_next)]
    return ca.Function("joint_step", list(given.values()), ends, list(STATE), list(NEXT))


def _turning(model: Model) -> list[int]:
    """1 for every coordinate that turns."""
    return [int(not model.tree.slides[joint]) for joint in model.tree.coordinates]


def _signs(model: Model) -> Any:
    """Of the normals' third components at the start."""
    if not model.tree.contacts:
        return ca.SX(0, 1)
    program, p = contacts.rows(model.tree), residuals(model).p
    return inlined(program, model, {"p": p})["sign"]


def curvature(model: Model) -> ca.Function:
    """Multipliers → ∂(A₀ᵀ Λ)/∂p₀, ∂(A₁ᵀ Η)/∂p₁ and ∂(A₁ ṗ₁)/∂p₁."""
    r, closed = residuals(model), Closed(model)
    L, H = (ca.SX.sym(k, model.tree.rows) for k in ("L", "H"))
    (_, A0), (_, A1) = closed.rows(r.p), closed.rows(r.p_next)
    outputs = {
        "C0": ca.jacobian(ca.mtimes(A0.T, L), r.p),
        "C1": ca.jacobian(ca.mtimes(A1.T, H), r.p_next),
        "B1": ca.jacobian(ca.mtimes(A1, r.pd_next), r.p_next),
    }
    given = {"p": r.p, "p_next": r.p_next, "pd_next": r.pd_next, "L": L, "H": H, "alpha": r.alpha}
    return graph_of("curvature", given, outputs)


def _equations(model: Model, L: Any, H: Any) -> tuple[Any, Any, Any, Any]:
    """Both stages: h F − A₀ᵀ Λ, g(p₁), h G − A₁ᵀ Η, A₁ ṗ₁."""
    r, closed = residuals(model), Closed(model)
    _, A0 = closed.rows(r.p)
    g, A1 = closed.rows(r.p_next)
    return r.F - ca.mtimes(A0.T, L), g, r.G - ca.mtimes(A1.T, H), ca.mtimes(A1, r.pd_next)


def parameters(model: Model) -> ca.Function:
    """Multipliers x, v of the pose stage and y, z of the rate stage → gradient by alpha and h: minus their products with the
    equations' derivatives."""
    r, m = residuals(model), model.tree.rows
    L, H, v, z = (ca.SX.sym(k, m) for k in ("L", "H", "v", "z"))
    x, y = (ca.SX.sym(k, r.n) for k in ("x", "y"))
    pairs = zip((x, v, y, z), _equations(model, L, H), strict=True)
    total = sum((-ca.dot(one, other) for one, other in pairs), ca.SX(0))
    pulled = ca.gradient(total, ca.vertcat(r.alpha, r.h))
    alpha_bar, h_bar = ca.vertsplit(pulled, [0, r.alpha.numel(), r.alpha.numel() + 1])
    given = {**r.inputs, "alpha": r.alpha, "L": L, "H": H, "x": x, "v": v, "y": y, "z": z}
    return graph_of("parameters", given, {"alpha_bar": alpha_bar, "h_bar": h_bar})


def by_alpha(model: Model) -> ca.Function:
    """Derivatives of both stages' equations by alpha."""
    r = residuals(model)
    L, H = (ca.SX.sym(k, model.tree.rows) for k in ("L", "H"))
    names = ("F_alpha", "g_alpha", "G_alpha", "c_alpha")
    found = {k: ca.jacobian(e, r.alpha) for k, e in zip(names, _equations(model, L, H), strict=True)}
    return graph_of("by_alpha", {**r.inputs, "alpha": r.alpha, "L": L, "H": H}, found)


def closing(model: Model) -> ca.Function:
    """p → every row of the loops, and their gradient."""
    p = ca.SX.sym("p", model.tree.freedoms)
    g, A = Closed(model).rows(p, True)
    return graph_of("closing", {"p": p, "alpha": model.alpha}, {"g": g, "A": A})


def told(model: Model) -> list[int]:
    """Which of all rows say something: the others are zero whatever moves, as across the plane of a planar loop."""
    if not model.tree.closures:
        return []
    g, A = Closed(model).rows(ca.SX.sym("p", model.tree.freedoms), True)
    g, A = ca.sparsify(ca.SX(g)), ca.sparsify(ca.SX(A))
    return sorted({*g.sparsity().row(), *A.sparsity().row()})


def instant(model: Model) -> ca.Function:
    """Accelerations x of the tree alone, Y = M⁻¹ Aᵀ, A, and Ȧ ṗ: what loops leave of accelerations and rates."""
    graphs = Graphs(model)
    p, pd, u = graphs.p, graphs.pd, graphs.u
    _, A = Closed(model).rows(p)
    M = graphs.mass_matrix(p)
    push = u + graphs.friction(pd) + graphs.pose_torque(p) - graphs.gears.torques(graphs.bias(p, pd))
    both = solve(M, ca.densify(ca.horzcat(push, A.T)), symmetric=True)
    turning = ca.jtimes(ca.mtimes(A, pd), p, pd)
    outputs = {"x": both[:, 0], "Y": both[:, 1:], "A": A, "c": turning}
    return graph_of("instant", {"p": p, "pd": pd, "u": u, "alpha": model.alpha}, outputs)


def held(model: Model) -> ca.Function:
    """Torque that the tree alone needs (n), and A: what motors and loops share."""
    graphs = Graphs(model)
    p, pd, pdd = graphs.p, graphs.pd, graphs.pdd
    torque = graphs.inverse_dynamics(p, pd, pdd)
    given = {"p": p, "pd": pd, "pdd": pdd, "alpha": model.alpha}
    return graph_of("held", given, {"torque": torque, "A": Closed(model).rows(p)[1], "offset": _offset(graphs)})


def _offset(graphs: Graphs) -> Any:
    return ca.densify(ca.SX(graphs.gears.chosen(graphs.model.blocks["offset"])))
