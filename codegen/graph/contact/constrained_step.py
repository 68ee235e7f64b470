"""Kernels of the joint-space step with closed loops and limits, under the names of templates/step/constrained_step.c."""

from __future__ import annotations

from typing import Any

import casadi as ca

from diffpbd.codegen.graph.contact import unilateral
from diffpbd.codegen.graph.expressions.translate import graph_of, inline
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.model import alike
from diffpbd.codegen.graph.model.model import Model, prepare
from diffpbd.codegen.graph.step.joint_step import kernel_graph, node_torque, residuals, solve
from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.codegen.joint_space.loops import bordered, closures


def closed_rows(model: Model, p: Any, every: bool = False) -> tuple[Any, Any]:
    """g and A of a model's loops at p, of `every` row or of those that are kept."""
    if not model.tree.closures:
        return ca.SX(0, 1), ca.SX(0, model.tree.freedoms)
    program = closures.rows(model.tree, every)
    found = inline(program, {k: p if k == "p" else model.blocks[k] for k in program.inputs})
    return found["g"], found["A"]


def kernels(model: Model, with_alpha: bool = True) -> list[ca.Function]:
    """Every kernel of the step, its derivatives, and functions of an instant."""
    tree, prepared = model.tree, prepare(model)
    given = [prepared.values]
    if alike.many(model):  # behind them the numbers of contacts
        given.append(ca.vec(alike.table(model, alike.kinds(model))))
    values = graph_of("prepare", {"alpha": model.alpha}, {"model": ca.vertcat(*given)})
    programs = {"start": bordered.start(tree), "node": bordered.node(tree)}
    if tree.unilateral:
        stages = (bordered.pose, bordered.residual, bordered.landing, bordered.rate_system, bordered.blocks)
        programs |= {f.__name__: f(tree) for f in stages}
    else:
        steps = (bordered.newton, bordered.chord, bordered.end, bordered.velocity, bordered.rate, bordered.systems)
        gradient = (bordered.gradient,) if tree.rows else ()
        programs |= {f.__name__: f(tree) for f in (*steps, *gradient, joint_space.velocity_gradient)}
    made = [kernel_graph(program, name, prepared) for name, program in programs.items()]
    made += [by_alpha(model)] if with_alpha and not tree.unilateral else []
    made += unilateral.kernels(model, prepared)
    made += [closing(model), instant(model), held(model), curvature(model)] if tree.closures else []
    return [values, *made, parameters(model), node_torque(model)]


def curvature(model: Model) -> ca.Function:
    """Multipliers → ∂(A₀ᵀ Λ)/∂p₀, ∂(A₁ᵀ Η)/∂p₁ and ∂(A₁ ṗ₁)/∂p₁."""
    r = residuals(model)
    L, H = (ca.SX.sym(k, model.tree.rows) for k in ("L", "H"))
    (_, A0), (_, A1) = closed_rows(model, r.p), closed_rows(model, r.p_next)
    outputs = {
        "C0": ca.jacobian(ca.mtimes(A0.T, L), r.p),
        "C1": ca.jacobian(ca.mtimes(A1.T, H), r.p_next),
        "B1": ca.jacobian(ca.mtimes(A1, r.pd_next), r.p_next),
    }
    given = {"p": r.p, "p_next": r.p_next, "pd_next": r.pd_next, "L": L, "H": H, "alpha": r.alpha}
    return graph_of("curvature", given, outputs)


def equations(model: Model, L: Any, H: Any) -> tuple[Any, Any, Any, Any]:
    """Both stages: h F − A₀ᵀ Λ, g(p₁), h G − A₁ᵀ Η, A₁ ṗ₁."""
    r = residuals(model)
    _, A0 = closed_rows(model, r.p)
    g, A1 = closed_rows(model, r.p_next)
    return r.F - ca.mtimes(A0.T, L), g, r.G - ca.mtimes(A1.T, H), ca.mtimes(A1, r.pd_next)


def parameters(model: Model) -> ca.Function:
    """Multipliers x, v of the pose stage and y, z of the rate stage → gradient by alpha and h: minus their products with the
    equations' derivatives."""
    r, m = residuals(model), model.tree.rows
    L, H, v, z = (ca.SX.sym(k, m) for k in ("L", "H", "v", "z"))
    x, y = (ca.SX.sym(k, r.n) for k in ("x", "y"))
    pairs = zip((x, v, y, z), equations(model, L, H), strict=True)
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
    found = {k: ca.jacobian(e, r.alpha) for k, e in zip(names, equations(model, L, H), strict=True)}
    return graph_of("by_alpha", {**r.inputs, "alpha": r.alpha, "L": L, "H": H}, found)


def closing(model: Model) -> ca.Function:
    """p → every row of the loops, and their gradient."""
    p = ca.SX.sym("p", model.tree.freedoms)
    g, A = closed_rows(model, p, True)
    return graph_of("closing", {"p": p, "alpha": model.alpha}, {"g": g, "A": A})


def told(model: Model) -> list[int]:
    """Rows that are not identically zero, as those across the plane of a planar loop are."""
    if not model.tree.closures:
        return []
    g, A = closed_rows(model, ca.SX.sym("p", model.tree.freedoms), True)
    g, A = ca.sparsify(ca.SX(g)), ca.sparsify(ca.SX(A))
    return sorted({*g.sparsity().row(), *A.sparsity().row()})


def instant(model: Model) -> ca.Function:
    """Accelerations x of the tree alone, Y = M⁻¹ Aᵀ, A, and Ȧ ṗ, for accelerations and rates with closed loops."""
    graphs = Graphs(model)
    p, pd, u = graphs.p, graphs.pd, graphs.u
    _, A = closed_rows(model, p)
    M = graphs.mass_matrix(p)
    push = u + graphs.friction(pd) + graphs.pose_torque(p) - graphs.gears.torques(graphs.bias(p, pd))
    both = solve(M, ca.densify(ca.horzcat(push, A.T)), symmetric=True)
    turning = ca.jtimes(ca.mtimes(A, pd), p, pd)
    outputs = {"x": both[:, 0], "Y": both[:, 1:], "A": A, "c": turning}
    return graph_of("instant", {"p": p, "pd": pd, "u": u, "alpha": model.alpha}, outputs)


def held(model: Model) -> ca.Function:
    """Torque of the tree alone (n), which motors and loops share, and A."""
    graphs = Graphs(model)
    p, pd, pdd = graphs.p, graphs.pd, graphs.pdd
    torque = graphs.inverse_dynamics(p, pd, pdd)
    given = {"p": p, "pd": pd, "pdd": pdd, "alpha": model.alpha}
    return graph_of("held", given, {"torque": torque, "A": closed_rows(model, p)[1], "offset": _offset(graphs)})


def _offset(graphs: Graphs) -> Any:
    return ca.densify(ca.SX(graphs.gears.chosen(graphs.model.blocks["offset"])))
