"""The Jacobian blocks of the joint-space step in world axes, on the symbols of its residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diffpbd.codegen.graph.joint_step import Residuals
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.graph.translate import inline
from diffpbd.codegen.joint_space import gears
from diffpbd.codegen.joint_space.nodes import node_at
from diffpbd.codegen.joint_space.recursive import model_inputs
from diffpbd.codegen.joint_space.step import plant_inputs
from diffpbd.codegen.joint_space.step_jacobian import blocks
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.tree import Tree


def declare_blocks(b: Program, tree: Tree, wanted: Sequence[str] = ("D", "K0", "M0", "K1", "M1")) -> None:
    """Output the blocks of these names, and the products K0ᵀ x and K1ᵀ x ("y0", "y1") with an input x; K0 and K1 row by row
    from such products, which are all that the adjoint makes of them."""
    p, pd, p1, pd1 = (b.input(k, tree.freedoms) for k in ("p", "pd", "p_next", "pd_next"))
    h = b.scalar("h")
    frames, body, gravity = model_inputs(b, tree)
    plant = plant_inputs(b, tree)
    ends = [
        node_at(b, tree, frames, body, plant.lever, gears.positions(b, tree, q), gears.rates(b, tree, qd))
        for q, qd in ((p, pd), (p1, pd1))
    ]
    s = blocks(b, tree, gravity, plant, *ends, pd1, h)
    if "y0" in wanted:
        x = b.input("x", tree.freedoms)
    for name in wanted:
        if name in ("D", "M0", "M1"):
            b.output(name, getattr(s, name))
            continue
        end = s.start if name[1] == "0" else s.end
        if name[0] == "y":
            b.output(name, s.pull(b, tree, end, x))
        else:
            units = Matrix.eye(tree.freedoms)
            b.output(name, Matrix.vstack(*[s.pull(b, tree, end, units[:, k]).T for k in range(tree.freedoms)]))


def step_blocks(m: Model, names: Sequence[str]) -> tuple[Residuals, dict[str, Any]]:
    """h F and h G, and by name what `declare_blocks` puts out, with the torques for x."""
    r, program = Residuals(m), Program("blocks")
    declare_blocks(program, m.tree, names)
    own = {**r.inputs, "x": r.u}
    return r, inline(program, {k: own[k] if k in own else m.blocks[k] for k in program.inputs})
