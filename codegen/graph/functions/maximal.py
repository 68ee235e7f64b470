"""The maximal-coordinate half of the catalogue: blocks of a robot, plain functions on xi, and the step programs."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from diffpbd.codegen.graph.expressions.gears import gears_of
from diffpbd.codegen.graph.expressions.geometry import rows, square
from diffpbd.codegen.graph.expressions.translate import call_graph, inline
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.graph.step.joint_step import forwards
from diffpbd.codegen.laws import attached, forces
from diffpbd.codegen.laws.cuts import LOOP_ROWS
from diffpbd.codegen.method import constraints, kinematics, step, velocity
from diffpbd.codegen.method.corrections import Multiplier
from diffpbd.codegen.method.parameters import axes_of, maximal_parameters
from diffpbd.codegen.method.stage import friction_size
from diffpbd.codegen.program.notation import BODY, JOINT, LIMIT, SPRING, STATE, WRENCH
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree


def block_sizes(tree: Tree) -> dict[str, int]:
    """Inputs of every step program that depend on robot and alpha, with their sizes, besides `gravity`."""
    sizes = {"body": BODY, "joint": JOINT, "friction": friction_size(tree), "spring": SPRING}
    sizes |= {"limit": LIMIT} if tree.limits else {}
    wrench = {"wrench": WRENCH * len(tree.wrenches)} if tree.wrenches else {}
    chosen = {attached.BLOCK: tree.attached_size} if tree.attached else {}
    loop = {"loop": LOOP_ROWS * len(tree.closures)} if tree.closures else {}
    return {k: size * tree.n for k, size in sizes.items()} | wrench | chosen | loop


def blocks(model: Model) -> dict[str, Any]:
    """The blocks of `block_sizes` of a model as flat SX columns of numbers and alpha."""
    seat, triad = axes_of(model.robot)
    known = {**model.blocks, "seat": ca.DM(seat).T, "triad": ca.DM(triad).T}
    program = maximal_parameters(model.tree, model.robot.tips[0].link)
    result = inline(program, {k: known[k] for k in program.inputs})
    joints = range(model.robot.n)

    def interleaved(*names: str) -> Any:
        return ca.vertcat(*[model.blocks[k][j] for j in joints for k in names])

    result["friction"] = interleaved(*forces.friction_names(model.tree.friction))
    result["spring"] = interleaved("stiffness", "rest")
    result["limit"] = model.blocks["limit"]
    result |= {k: ca.vec(v) for k, v in model.only(["wrench", attached.BLOCK]).items()}
    if model.tree.closures:
        result["loop"] = _cuts(model, result["joint"])
    return {k: ca.densify(result[k]) for k in block_sizes(model.tree)}


def _cuts(model: Model, joint: Any) -> Any:
    """Numbers of every loop (25 each) in axes of the links themselves and from their COM; `joint` as in `blocks`."""
    columns = []
    for k, loop in enumerate(model.tree.closures):
        given, parts = model.blocks["loop"][:, k], []
        for at, link in ((0, loop.parent), (12, loop.child)):
            axes, place = given[at : at + 9], given[at + 9 : at + 12]
            if link >= 0:
                turned = square(model.blocks["after"][:, link]).T
                axes, place = rows(ca.mtimes(turned, square(axes))), ca.mtimes(turned, place)
                place = place + joint[JOINT * link : JOINT * link + 3]
            parts += [axes, place]
        columns.append(ca.vertcat(*parts, given[24]))
    return ca.vertcat(*columns)


def values(model: Model) -> Iterator[tuple[str, Sequence[tuple[str, Any]], Mapping[str, Any]]]:
    """(name, inputs, outputs) of `fk`, `joint_state` and, without mimic joints, `constraints`."""
    gears, alpha = gears_of(model.robot), ("alpha", model.alpha)
    known, n = blocks(model), gears.n
    joint = known["joint"]
    p, pd, p_ref = (ca.SX.sym(k, n) for k in ("p", "pd", "p_ref"))
    xi = ca.SX.sym("xi", STATE * model.robot.n)
    ahead = inline(kinematics.fk(model.tree), {"p": gears.positions(p), "pd": gears.rates(pd), "joint": joint})
    yield "fk", [("p", p), ("pd", pd), alpha], ahead
    given = {"xi": xi, "joint": joint, "p_ref": gears.positions(p_ref)}
    back = inline(kinematics.joint_state(model.tree), given)
    yield "joint_state", [("xi", xi), alpha, ("p_ref", p_ref)], {k: gears.chosen(v) for k, v in back.items()}
    if gears.matrix is None:
        program = constraints.constraints(model.tree)
        residual = inline(program, {"xi": xi, **{k: known[k] for k in program.inputs if k in known}})
        yield "constraints", [("xi", xi), alpha], residual


@dataclass(frozen=True)
class StepVariant:
    """One `<integrator>_<solver>` as programs that differ in the iterations spent on friction.

    `free` is exact without Coulomb friction (for Algorithm 1: without any friction), `full` always. Derivatives of `free`
    come from `free_derivative`, whose extra iteration is exact in value and whose derivative by Coulomb friction is right.
    """

    name: str
    free: Program
    free_derivative: Program
    full: Program


def variant(model: Model, name: str, sweeps: int) -> StepVariant:
    """The programs of a variant with this many sweeps or Newton iterations."""
    chosen: dict[str, Any] = {}
    if name.endswith("jacobi"):
        as_printed = (
            name == "paper_jacobi" and model.recipe.sweep_order == "printed"
        )  # the print adds corrections whole
        chosen["relaxation"] = 1.0 if as_printed and model.recipe.relaxation is None else model.recipe.relaxation
    elif name.endswith("gauss_seidel"):
        chosen["printed_order"] = model.recipe.sweep_order == "printed"
    if name in ("paper_gauss_seidel", "paper_jacobi"):
        chosen["multiplier"] = Multiplier(model.recipe.multiplier)
    build = functools.partial(step.VARIANTS[name], model.tree, sweeps, **chosen)
    least = 1 if name.startswith("variational") else 0
    return StepVariant(name, build(least), build(least + 1 if least else 2), build(velocity.FRICTION_ITERATIONS))


def casadi_step(model: Model, program: Program, name: str, known: dict[int, ca.Function]) -> ca.Function:
    """A step program as a CasADi function of xi, u, h, alpha; kernels are shared through `known`."""
    n = model.robot.n
    names = list(block_sizes(model.tree))
    prepare = ca.Function("blocks", [model.alpha], list(blocks(model).values()), ["alpha"], names)
    symbols = {"xi": ca.MX.sym("xi", STATE * n), "u": ca.MX.sym("u", n), "h": ca.MX.sym("h")}
    alpha = ca.MX.sym("alpha", model.alpha.numel())
    given = {**symbols, "gravity": alpha[0:3], **dict(zip(names, prepare.call([alpha]), strict=True))}
    xi_next = call_graph(program, known).call([given[k] for k in program.inputs])[0]
    return ca.Function(
        name, [*symbols.values(), alpha], [forwards(symbols["h"], xi_next)], [*symbols, "alpha"], ["xi_next"]
    )
