"""The assembled Jacobian blocks of the joint-space step, on the symbols of its residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diffpbd.codegen.graph.joint_step import Residuals
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.graph.translate import inline
from diffpbd.codegen.joint_space import step_jacobian as joint_space_jacobian
from diffpbd.codegen.program.program import Program


def step_blocks(m: Model, names: Sequence[str]) -> tuple[Residuals, dict[str, Any]]:
    """h F and h G, and by name D, K0, M0, K1, M1 and the products K0ᵀ u, K1ᵀ u ("y0", "y1")."""
    r, program = Residuals(m), Program("blocks")
    _, s = joint_space_jacobian.declare_blocks(program, m.tree)
    written = {
        "D": lambda: s.D,
        "K0": lambda: s.K0(program, m.tree),
        "M0": lambda: s.M0,
        "K1": lambda: s.K1(program, m.tree),
        "M1": lambda: s.M1,
        "y0": lambda: s.pull(program, m.tree, s.start, program.input("x", r.n)),
        "y1": lambda: s.pull(program, m.tree, s.end, program.inputs["x"]),
    }
    for name in names:
        program.output(name, written[name]())
    own = {**r.inputs, "x": r.u}
    return r, inline(program, {k: own[k] if k in own else m.blocks[k] for k in program.inputs})
