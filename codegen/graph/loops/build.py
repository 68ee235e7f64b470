"""The model of a robot: rows of closed loops are chosen on numbers, and what opens them is not made symbolic."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.codegen.description.report import DescriptionError, Report
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.graph.expressions.translate import inline
from diffpbd.codegen.graph.loops import findings as loop_findings
from diffpbd.codegen.graph.loops.poses import Probe
from diffpbd.codegen.graph.loops.rows import choose
from diffpbd.codegen.graph.model.model import Chosen, Model, assemble, keeping
from diffpbd.codegen.graph.model.parameters import alpha_entries
from diffpbd.codegen.joint_space.loops import closures
from diffpbd.codegen.program.tree import Tree


def build(robot: Robot, recipe: Recipe) -> Model:
    """The model of a robot with numbers folded and alpha symbolic; rows of closed loops are chosen, or refused."""
    if not robot.loops:
        if recipe.loop_rows != "kept":
            raise DescriptionError(Report(recipe.name, recipe.name, faults=(loop_findings.none(recipe.loop_rows),)))
        return assemble(robot, recipe, alpha_entries(robot, recipe))
    chosen = chosen_rows(robot, recipe)
    if chosen.faults:
        raise DescriptionError(Report(recipe.name, recipe.name, faults=chosen.faults))
    entries = tuple(e for e in alpha_entries(robot, recipe) if e.name not in chosen.opening)
    model = assemble(robot, recipe, entries)
    tree = keeping(model.tree, chosen.kept, sum(map(len, chosen.kept)) - chosen.rank)
    return dataclasses.replace(model, tree=tree, chosen=chosen)


def probe(robot: Robot, recipe: Recipe) -> tuple[Probe, Tree]:
    """Every row of a robot's loops in numbers, and the tree that they close."""
    model = assemble(robot, recipe, alpha_entries(robot, recipe))
    program = closures.rows(model.tree, True)
    p = ca.SX.sym("p", model.tree.freedoms)
    found = inline(program, {k: p if k == "p" else model.blocks[k] for k in program.inputs})
    alpha = [e.default for e in model.entries]
    both = ca.Function("rows", [p, model.alpha], [found["g"], found["A"]])
    by_alpha = ca.Function("by_alpha", [p, model.alpha], [ca.jacobian(found["g"], model.alpha)])

    def numbers(x: Any) -> tuple[Any, Any]:
        g, A = both(x, alpha)
        return np.array(g).ravel(), np.array(A)

    names = tuple(e.name for e in model.entries)
    return Probe(robot, numbers, lambda x: np.array(ca.densify(by_alpha(x, alpha))), names), model.tree


@lru_cache(maxsize=16)
def chosen_rows(robot: Robot, recipe: Recipe) -> Chosen:
    """The rows that `rows.choose` finds for a robot with its recipe."""
    rows, tree = probe(robot, recipe)
    every = recipe.loop_rows == "all"
    chosen = choose(rows, every, able=not tree.unilateral)
    if every and tree.unilateral:
        acting = (
            "limits act" if tree.limits else "contacts act" if tree.contacts else "its law of friction has more parts"
        )
        return dataclasses.replace(chosen, faults=(*chosen.faults, loop_findings.beside(robot, acting)))
    return chosen
