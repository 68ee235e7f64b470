"""Friction laws beyond the plain one, for steps in maximal coordinates."""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.laws import forces
from diffpbd.codegen.method.kinematics import state_kernel
from diffpbd.codegen.method.stage import friction_size
from diffpbd.codegen.program.notation import JOINT, STATE, WORLD, WORLD_STATE, column, part
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.tree import Tree


@cache
def friction_start_kernel(laws: tuple[str, ...]) -> Program:
    """Leaf: Coulomb, viscous and transition (3) of a joint at the rate at a step's start, from all numbers of such a law.
    Convex and dissipative for every law, as in `joint_space.friction`."""
    program = Program("friction_start", "Friction coefficients at the start of a step.")
    numbers, rate = program.input("friction", len(forces.friction_names(laws))), program.scalar("rate")
    program.output("coefficients", program.let(Matrix(forces.coefficients(laws, rate, list(numbers)))))
    return program


def at_start(program: Program, tree: Tree, friction: Any, joint: Any, xi: Any) -> Any:
    """Calls: the flat friction (3 per joint) for the kick of a step from xi; with the plain law the given one."""
    if not tree.friction:
        return friction
    size, found = friction_size(tree), []
    for j, parent in enumerate(tree.parents):
        carrier = WORLD_STATE if parent == WORLD else part(xi, STATE, parent)
        given = {"joint": part(joint, JOINT, j), "parent": carrier, "child": part(xi, STATE, j), "p_ref": sp.Integer(0)}
        rate = program.call(state_kernel(tree.slides[j]), **given)["pd"][0, 0]
        kernel = friction_start_kernel(tree.friction)
        found.append(program.call(kernel, friction=part(friction, size, j), rate=rate)["coefficients"])
    return column(*found)
