"""The joint-space step as differentiable CasADi functions: solved, unrolled, and its first derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph.expressions.translate import graph_of, inline
from diffpbd.codegen.graph.functions.capabilities import GRAPHS, UNROLLED, Capabilities
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.graph.solved.solved_step import NEXT, STATE, solved, symbols_of
from diffpbd.codegen.graph.step.joint_step import forwards, jacobian_alpha
from diffpbd.codegen.joint_space import step as joint_space
from diffpbd.codegen.joint_space.links import step_jacobian as joint_space_jacobian
from diffpbd.codegen.method.velocity import FRICTION_ITERATIONS
from diffpbd.codegen.program.program import Program

POSE_ITERATIONS: Final = 5
"""Newton iterations on the pose of an unrolled step: from a guess that is off by h² three reach rounding, and each order of
derivatives is one iteration behind."""


def step_graphs(model: Model, wanted: Capabilities) -> dict[str, ca.Function]:
    """`joint_step`; as far as `wanted` has them `joint_step_unrolled` and the derivatives `vjp_joint_step` and, for short
    trees, `jac_joint_step` and `jac_alpha_joint_step`.

    All can be differentiated further."""
    step = solved(model)
    found = {"joint_step": step}
    if wanted.has(UNROLLED):
        found[UNROLLED] = unrolled(model)
    if not wanted.has(GRAPHS):
        return found
    found["vjp_joint_step"] = reverse(step, "vjp_joint_step")
    if not model.tree.deep:
        program = joint_space_jacobian.jacobian(model.tree)
        found["jac_joint_step"] = _beside(step, "jac_joint_step", _function(model, program), values=True)
        if wanted.has("jac_alpha_joint_step"):
            found["jac_alpha_joint_step"] = _beside(step, "jac_alpha_joint_step", jacobian_alpha(model), values=False)
    return found


def unrolled(model: Model) -> ca.Function:
    """joint_step with fixed numbers of iterations and no branch: POSE_ITERATIONS of Newton's method, and those on friction of
    the maximal steps: from rest, where a rate that would change its sign stops at zero (`velocity.friction_iteration`)."""
    tree, known = model.tree, dict(symbols_of(model))
    made: dict[str, ca.Function] = {}

    def run(program: Program, **more: Any) -> dict[str, Any]:
        f = made[program.name] = made.get(program.name) or _function(model, program)
        given = {**known, **more}
        return dict(zip(f.name_out(), f.call([given[k] for k in f.name_in()]), strict=True))

    known["pd_start"] = known["pd"]
    known |= run(joint_space.start(tree))
    iterate = known["guess"]
    for _ in range(POSE_ITERATIONS):
        iterate = run(joint_space.newton(tree), iterate=iterate)["next"]
    known |= run(joint_space.end(tree), p_next=iterate)
    rate = ca.MX.zeros(tree.freedoms)
    for _ in range(FRICTION_ITERATIONS):
        gradient = run(joint_space.velocity_gradient(tree), pd=rate)["gradient"]
        target = rate + run(joint_space.velocity_newton(tree), pd=rate, gradient=gradient)["direction"]
        rate = ca.if_else(target * rate < 0, 0, target)
    ends = [forwards(known["h"], end) for end in (iterate, rate)]
    return ca.Function(UNROLLED, [known[k] for k in STATE], ends, list(STATE), list(NEXT))


def reverse(f: ca.Function, name: str) -> ca.Function:
    """Inputs, seeds on the outputs → gradients by every input, as the compiled vjp functions have it."""
    inputs = {k: ca.MX.sym(k, f.numel_in(k)) for k in f.name_in()}
    seeds = {f"{k}_bar": ca.MX.sym(f"{k}_bar", f.numel_out(k)) for k in f.name_out()}
    outputs = f.call(list(inputs.values()))
    pulled = f.reverse(1).call([*inputs.values(), *outputs, *seeds.values()])
    names = [f"{k}_bar" for k in inputs]
    return ca.Function(
        name, [*inputs.values(), *seeds.values()], list(map(ca.densify, pulled)), [*inputs, *seeds], names
    )


def _beside(step: ca.Function, name: str, derivative: ca.Function, values: bool) -> ca.Function:
    """A derivative by the implicit function theorem, which takes both ends, as a function of the start."""
    start: Mapping[str, Any] = {k: ca.MX.sym(k, step.numel_in(k)) for k in STATE}
    ends = dict(zip(NEXT, step.call(list(start.values())), strict=True))
    blocks = derivative.call([{**start, **ends}[k] for k in derivative.name_in()])
    outputs = ({**ends} if values else {}) | dict(zip(derivative.name_out(), blocks, strict=True))
    return ca.Function(name, list(start.values()), list(outputs.values()), list(STATE), list(outputs))


def _function(model: Model, program: Program) -> ca.Function:
    """A program as an SX function of its own inputs and alpha."""
    own = {k: ca.SX.sym(k, m.rows, m.cols) for k, m in program.inputs.items() if k not in model.blocks}
    outputs = inline(program, {k: own.get(k, model.blocks.get(k)) for k in program.inputs})
    return graph_of(program.name, {**own, "alpha": model.alpha}, outputs)
