"""The method on one page: two integrators in maximal coordinates, three projections, as call programs.

Inputs of every step: xi (13 a link), u (n), h, gravity (3), body (7 a link), joint (28 a joint), friction (3 a joint), spring
(2 a joint); limit (2 a joint) where limits act, wrench (9 each) where external wrenches do, lever (5 each) where lever
springs do; output xi_next. Letters as in `notation`. The stages are in `stages`; everything numeric happens in the leaf
programs that they call.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.description.recipe import Relaxation
from diffpbd.codegen.method import impulses, limits, stages, sweeps
from diffpbd.codegen.method.sweeps import Multiplier
from diffpbd.codegen.method.velocity import FRICTION_ITERATIONS
from diffpbd.codegen.program.notation import column
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree

CARRIED = ("lock", "multiplier")
"""What the sweeps hand on of the limits, zero at first: the active set, or the multipliers."""
INPUTS = ("xi", "u", "h", "gravity", "body", "joint", "friction", "spring")


def _step(tree: Tree, name: str, doc: str) -> tuple[Program, dict[str, Any]]:
    """A step program and its inputs by name."""
    program = Program(f"step_{name}", doc)
    known = stages.inputs(program, tree, *INPUTS, *stages.limit_inputs(tree, "limit"), *stages.force_inputs(tree))
    if tree.limits:
        known |= {name: sp.zeros(tree.n, 1) for name in CARRIED}
    return program, known


def _call(program: Program, stage: Program, known: Mapping[str, Any]) -> dict[str, Any]:
    """Call a stage with what it asks for."""
    return program.call(stage, **{name: known[name] for name in stage.inputs})


def _iterate(program: Program, sweep: Program, known: dict[str, Any]) -> None:
    """Call a sweep; what it returns as NAME_next is NAME from now on."""
    known |= {name.removesuffix("_next"): value for name, value in _call(program, sweep, known).items()}


# Variational: second order, symplectic (the default). ---------------------------------------------------


@cache
def variational_direct(tree: Tree, iterations: int = 1, friction_iterations: int = FRICTION_ITERATIONS) -> Program:
    """Half kick, drift onto the constraints by Newton iterations on all poses, half kick, velocities."""
    step, known = _step(tree, "variational_direct", "Variational step, direct projection.")
    known |= _call(step, stages.variational_start(tree), known)
    for _ in range(iterations + (limits.PASSES - 1 if tree.limits else 0)):
        _iterate(step, stages.variational_sweep(tree), known)
    end = _call(step, stages.variational_end(tree, friction_iterations), known)
    step.output("xi_next", end["xi_next"])
    return step


def _variational_sweeps(tree: Tree, solver: str, sweep: Program, iterations: int, friction_iterations: int) -> Program:
    """Half kick, drift and constraint impulses by sweeps, half kick, velocities."""
    step, known = _step(tree, f"variational_{solver}", f"Variational step, {solver} projection.")
    known |= _call(step, stages.variational_start(tree), known)
    known |= _call(step, stages.variational_aim(tree), known)
    for _ in range(iterations):
        _iterate(step, sweep, known)
    known["pose"] = column(*stages.each(known["aim"], impulses.AIM, tree, impulses.AIM_POSE))
    end = _call(step, stages.variational_end(tree, friction_iterations), known)
    step.output("xi_next", end["xi_next"])
    return step


@cache
def variational_gauss_seidel(
    tree: Tree, iterations: int = 30, friction_iterations: int = FRICTION_ITERATIONS
) -> Program:
    """The variational step with Gauss-Seidel sweeps of constraint impulses."""
    sweep = impulses.impulse_sweep(tree, gathered=False)
    return _variational_sweeps(tree, "gauss_seidel", sweep, iterations, friction_iterations)


@cache
def variational_jacobi(
    tree: Tree,
    iterations: int = 30,
    friction_iterations: int = FRICTION_ITERATIONS,
    relaxation: Relaxation = None,
) -> Program:
    """The variational step with Jacobi sweeps of constraint impulses, relaxed."""
    sweep = impulses.impulse_sweep(tree, gathered=True, relaxation=relaxation)
    return _variational_sweeps(tree, "jacobi", sweep, iterations, friction_iterations)


# Paper: Algorithm 1, corrected; first order. ------------------------------------------------------------


def _paper(tree: Tree, solver: str, sweep: Program, iterations: int, friction_iterations: int) -> Program:
    """Predict, project the poses onto the constraints, read the velocities off."""
    step, known = _step(tree, f"paper_{solver}", f"Algorithm 1 (corrected), {solver} projection.")
    known |= _call(step, stages.paper_start(tree), known)
    if "weight" in sweep.inputs:
        known |= _call(step, sweeps.weights(tree), known)
    for _ in range(iterations):
        _iterate(step, sweep, known)
    end = _call(step, stages.paper_end(tree, friction_iterations), known)
    step.output("xi_next", end["xi_next"])
    return step


@cache
def paper_direct(tree: Tree, iterations: int = 1, friction_iterations: int = FRICTION_ITERATIONS) -> Program:
    """Algorithm 1 with all constraint rows solved at once."""
    return _paper(tree, "direct", stages.direct_sweep(tree), iterations, friction_iterations)


@cache
def paper_gauss_seidel(
    tree: Tree,
    iterations: int = 30,
    friction_iterations: int = FRICTION_ITERATIONS,
    multiplier: Multiplier = Multiplier.BLOCK,
) -> Program:
    """Algorithm 1 with Gauss-Seidel sweeps, as the paper has it."""
    sweep = sweeps.gauss_seidel_sweep(tree, multiplier)
    return _paper(tree, "gauss_seidel", sweep, iterations, friction_iterations)


@cache
def paper_jacobi(
    tree: Tree,
    iterations: int = 30,
    friction_iterations: int = FRICTION_ITERATIONS,
    multiplier: Multiplier = Multiplier.BLOCK,
    relaxation: Relaxation = None,
) -> Program:
    """Algorithm 1 with Jacobi sweeps, relaxed."""
    sweep = sweeps.jacobi_sweep(tree, multiplier, relaxation)
    return _paper(tree, "jacobi", sweep, iterations, friction_iterations)
