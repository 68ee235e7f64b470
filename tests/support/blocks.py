"""The Jacobian blocks of the joint-space step, as the emitted C has them, on the symbols of its residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diffpbd.codegen.graph.joint_step import Residuals
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.graph.translate import inline
from diffpbd.codegen.joint_space import link_adjoint, link_jacobian, link_rollout
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree

BLOCKS = ("D", "K0", "M0", "K1", "M1")


def declare_blocks(b: Program, tree: Tree, wanted: Sequence[str] = BLOCKS) -> None:
    """Output the blocks of these names, and the products K0ᵀ x and K1ᵀ x ("y0", "y1") with an input x, as the reverse
    derivatives put them together: a part of the poses alone, and the slope of the momentum."""
    h, blocks = link_jacobian.declare_blocks(b, tree)
    for name in set(wanted) & set(BLOCKS):
        b.output(name, getattr(blocks, name))
    if "y0" not in wanted:
        return
    given, x = dict(b.inputs), b.input("x", tree.freedoms)

    def call(program: Program, **arguments: Any) -> dict[str, Any]:
        return b.call(program, **{k: arguments[k] if k in arguments else given[k] for k in program.inputs})

    step = call(link_adjoint.assembly(tree))
    for name, sign, end in (("0", -1, ""), ("1", 1, "_next")):
        p, pd = given[f"p{end}"], given[f"pd{end}"]
        record = call(link_rollout.inertia(tree), p=p)["record"]
        slope = call(link_adjoint.momentum_slope(tree), record=record, p=p, pd=pd, y=x)["slope"]
        b.output(f"y{name}", b.let(step[f"K{name}"].T * x + sign * h * slope))


def step_blocks(m: Model, names: Sequence[str]) -> tuple[Residuals, dict[str, Any]]:
    """h F and h G, and by name what `declare_blocks` puts out, with the torques for x."""
    r, program = Residuals(m), Program("blocks")
    declare_blocks(program, m.tree, names)
    own = {**r.inputs, "x": r.u}
    return r, inline(program, {k: own[k] if k in own else m.blocks[k] for k in program.inputs})
