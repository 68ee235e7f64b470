"""Kernels of the joint-space step (called by the emitted solver), its residuals, and derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph.expressions.gears import gears_of
from diffpbd.codegen.graph.expressions.translate import graph_of, inline
from diffpbd.codegen.graph.model.meetings import inlined
from diffpbd.codegen.graph.model.model import Model, Prepared
from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.codegen.joint_space.links import link_adjoint, link_rollout, link_step
from diffpbd.codegen.joint_space.links import step_jacobian as joint_space_jacobian
from diffpbd.codegen.laws import forces
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree

LEAST_STEP: Final = 1e-9
"""[s] Shortest step of every function that takes one; a step goes forwards in time."""


def forwards(h: Any, end: Any) -> Any:
    """The end of a step h in a CasADi graph: NaN if h is too small."""
    return ca.if_else(h >= LEAST_STEP, end, ca.DM.nan(end.numel(), 1))


def kernel_graph(program: Program, name: str, prepared: Prepared, more: Mapping[str, Any] | None = None) -> ca.Function:
    """A program as an SX kernel of its own inputs, then alpha, the prepared model values, and `more` that its model has."""
    blocks = prepared.model.blocks
    free = {k: ca.SX.sym(k, m.rows, m.cols) for k, m in program.inputs.items() if k not in blocks and k != "meeting"}
    outputs = inlined(program, prepared.model, free)
    return graph_of(name, {**free, "alpha": prepared.model.alpha, "model": prepared.symbols, **(more or {})}, outputs)


def _form(tree: Tree) -> Any:
    """The module that works out a tree's step."""
    return joint_space if tree.deep else link_step


def step_programs(tree: Tree) -> dict[str, Program]:
    """Programs of the solver's kernels by name: deep trees in world axes, others in link frames."""
    form = _form(tree)
    return {
        "start": form.start(tree),
        "newton": form.newton(tree),
        "chord": form.chord(tree),
        "end": form.end(tree),
        "velocity": joint_space.velocity(tree),
        "velocity_gradient": joint_space.velocity_gradient(tree),
        "velocity_newton": joint_space.velocity_newton(tree),
        "node": form.node(tree),
    }


def kernels(model: Model, prepared: Prepared, by_alpha: bool = True) -> list[ca.Function]:
    """Every kernel of a short tree's joint-space step, under the names that templates/step/joint_step.c uses; that of the
    Jacobian by parameters only with `by_alpha`."""
    tree = model.tree
    prepare = graph_of("prepare", {"alpha": model.alpha}, {"model": prepared.values})
    own = step_programs(tree)
    own |= {f.__name__: f(tree) for f in (link_rollout.onward, link_rollout.inertia, link_rollout.solve)}
    own |= {
        f.__name__: f(tree) for f in (link_adjoint.assembly, link_adjoint.momentum_slope, link_adjoint.solve_transposed)
    }
    if forces.lags(tree.friction):
        own["friction_lag"] = link_adjoint.friction_lag(tree)
    own["jacobian"] = joint_space_jacobian.jacobian(tree)
    result = [prepare, *(kernel_graph(program, name, prepared) for name, program in own.items())]
    return [*result, adjoint_parameters(model), node_torque(model), *([jacobian_alpha(model)] if by_alpha else [])]


def node_torque(model: Model) -> ca.Function:
    """Torque without friction, rate at the node → sensor reading, with friction and offset."""
    gears = gears_of(model.robot)
    u, pd = ca.SX.sym("u", gears.n), ca.SX.sym("pd", gears.n)
    program, rate = forces.friction_program(model.robot.n, model.tree.friction), gears.rates(pd)
    friction = gears.torques(
        inline(program, {k: rate if k == "pd" else model.blocks[k] for k in program.inputs})["torque"]
    )
    reading = u - friction + gears.chosen(model.blocks["offset"])
    return graph_of("node_torque", {"u": u, "pd": pd, "alpha": model.alpha}, {"reading": reading})


class Residuals:
    """h F and h G of a model on symbols of their own; `residuals` keeps the last model's."""

    def __init__(self, model: Model) -> None:
        n = model.tree.freedoms
        self.n = n
        self.p, self.pd, self.u, self.p_next, self.pd_next = (
            ca.SX.sym(k, n) for k in ("p", "pd", "u", "p_next", "pd_next")
        )
        self.h = ca.SX.sym("h")
        self.alpha = model.alpha
        program = _form(model.tree).residuals(model.tree)
        own = {"p": self.p, "pd": self.pd, "u": self.u, "p_next": self.p_next, "pd_next": self.pd_next, "h": self.h}
        values = inline(program, {k: own[k] if k in own else model.blocks[k] for k in program.inputs})
        self.F, self.G = values["F"], values["G"]
        if model.tree.base:  # its torque is held in fixed axes, not along the hinges that it stands on
            self.G = ca.substitute(self.G, self.u, on_hinges(self.p_next, self.u))

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The symbols by name, in the order of `joint_step` with its outputs appended."""
        names = ("p", "pd", "u", "h", "p_next", "pd_next")
        return {k: getattr(self, k) for k in names}


def on_hinges(p: Any, u: Any) -> Any:
    """u with a floating base's torque (axes of the step's frame) converted to the base's three hinges at p."""
    c, s = ca.cos(p[3:6]), ca.sin(p[3:6])
    torque = ca.vertcat(u[3], c[0] * u[4] + s[0] * u[5], s[1] * u[3] - s[0] * c[1] * u[4] + c[0] * c[1] * u[5])
    return ca.vertcat(u[0:3], torque, u[6:])


@lru_cache(maxsize=1)
def residuals(model: Model) -> Residuals:
    """The kernels of a model, made once."""
    return Residuals(model)


def adjoint_parameters(model: Model) -> ca.Function:
    """Multipliers x, y of `link_adjoint` → gradient by alpha and h: −xᵀ ∂hF − yᵀ ∂hG."""
    r = residuals(model)
    x, y = ca.SX.sym("x", r.n), ca.SX.sym("y", r.n)
    pulled = ca.gradient(-ca.dot(x, r.F) - ca.dot(y, r.G), ca.vertcat(r.alpha, r.h))
    alpha_bar, h_bar = ca.vertsplit(pulled, [0, r.alpha.numel(), r.alpha.numel() + 1])
    return graph_of(
        "adjoint_parameters", {**r.inputs, "alpha": r.alpha, "x": x, "y": y}, {"alpha_bar": alpha_bar, "h_bar": h_bar}
    )


@lru_cache(maxsize=1)
def jacobian_alpha(model: Model) -> ca.Function:
    """∂(p_next, pd_next)/∂alpha at a step and its end, by the implicit function theorem."""
    r = residuals(model)
    program = joint_space_jacobian.end_blocks(model.tree)
    own: dict[str, Any] = dict(r.inputs)
    blocks = inline(program, {k: own[k] if k in own else model.blocks[k] for k in program.inputs})
    F_alpha, G_alpha = ca.jacobian(r.F, r.alpha), ca.jacobian(r.G, r.alpha)
    # Inverses first: most columns of F_alpha and G_alpha are empty or hold one entry, and products keep that.
    inverse = solve(blocks["D"], ca.SX.eye(r.n), symmetric=False)
    response = solve(blocks["M1"], ca.SX.eye(r.n), symmetric=True) / r.h
    carried = ca.mtimes(response, ca.mtimes(blocks["K1"], inverse))
    dp = -ca.mtimes(inverse, F_alpha)
    dpd = ca.mtimes(carried, F_alpha) - ca.mtimes(response, G_alpha)
    return graph_of("jacobian_alpha", {**r.inputs, "alpha": r.alpha}, {"dp_next_dalpha": dp, "dpd_next_dalpha": dpd})


def solve(A: Any, rhs: Any, symmetric: bool) -> Any:
    """A⁻¹ rhs (n × m), eliminated from the tips."""
    return inline(elimination.solver(rhs.shape[0], rhs.shape[1], symmetric), {"A": A, "rhs": rhs})["x"]
