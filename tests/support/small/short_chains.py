"""Chains of two and three compact links on which sweeps converge in tens, and every step of the method on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from support.maximal import Array, evaluate, free, numbers, tree_of

from diffpbd.codegen.description.recipe.options import AVERAGING
from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.codegen.description.robot.robot import IDENTITY, Inertial, Joint, Link, Robot, Tip
from diffpbd.codegen.graph.expressions.translate import call_graph
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.method import step
from diffpbd.codegen.method.corrections import Multiplier
from diffpbd.codegen.method.kinematics import fk
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree
from diffpbd.runtime.base.joint_types import PRISMATIC, REVOLUTE

SWEEPS = 60


@cache
def chain(n: int, slide: bool = False) -> Robot:
    """n compact links in a row, axes turned from joint to joint; with `slide` the first joint slides."""
    inertia = ((0.03, 0.002, 0.0), (0.002, 0.04, 0.001), (0.0, 0.001, 0.025))
    axes = ((0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (0.0, 1.0, 0.0))
    joints, links = [], []
    for k in range(n):
        kind = PRISMATIC if slide and k == 0 else REVOLUTE
        joints.append(Joint(f"j{k}", kind, k - 1, IDENTITY, (0.12, 0.02 * k, 0.03), axes[k]))
        links.append(Link(f"l{k}", Inertial(1.0 + 0.3 * k, (0.07, 0.01, 0.02 - 0.01 * k), inertia)))
    return Robot(f"chain_{n}", "world", tuple(joints), tuple(links), (Tip("tip", n - 1, IDENTITY, (0.0, 0.0, 0.0)),))


Maker = Callable[[Tree, int], Program]


def variants() -> dict[str, Maker]:
    """Every integrator x solver x multiplier by name, with this many sweeps; `direct` with solutions enough."""
    made: dict[str, Maker] = {
        "variational_direct": lambda tree, _: step.variational_direct(tree, 6, 1),
        "variational_gauss_seidel": lambda tree, sweeps: step.variational_gauss_seidel(tree, sweeps, 1),
        "variational_jacobi": lambda tree, sweeps: step.variational_jacobi(tree, sweeps, 1),
        "variational_gauss_seidel_printed": lambda tree, n: step.variational_gauss_seidel(
            tree, n, 1, printed_order=True
        ),
        "paper_gauss_seidel_printed": lambda tree, n: step.paper_gauss_seidel(tree, n, 0, printed_order=True),
        "paper_gauss_seidel_as_printed": lambda tree, n: step.paper_gauss_seidel(tree, n, 0, Multiplier.SCALAR, True),
        "paper_direct": lambda tree, _: step.paper_direct(tree, 4, 0),
    }
    for multiplier in Multiplier:
        made[f"paper_gauss_seidel_{multiplier.value}"] = lambda tree, sweeps, m=multiplier: step.paper_gauss_seidel(
            tree, sweeps, 0, m
        )
        made[f"paper_jacobi_{multiplier.value}"] = lambda tree, sweeps, m=multiplier: step.paper_jacobi(
            tree, sweeps, 0, m
        )
    return made


def averaged() -> dict[str, Maker]:
    """Makers that average the corrections of a link instead."""
    return {
        "variational_jacobi_averaging": lambda tree, sweeps: step.variational_jacobi(tree, sweeps, 1, AVERAGING),
        "paper_jacobi_averaging": lambda tree, sweeps: step.paper_jacobi(tree, sweeps, 0, relaxation=AVERAGING),
    }


def start(robot: Robot) -> tuple[Array, Array]:
    """Joint positions and rates to start from."""
    return np.linspace(0.4, -0.5, robot.n), np.linspace(1.5, -1.0, robot.n)


def maximal(robot: Robot, p: Array, pd: Array) -> Array:
    """The maximal state (13 n) of a joint state."""
    return evaluate(fk(tree_of(robot)), p=p, pd=pd, joint=numbers(robot)["joint"])["xi"].ravel()


_GRAPHS: dict[int, tuple[Program, ca.Function]] = {}


def rollout(program: Program, robot: Robot, xi: Array, h: float, steps: int, **changed: Any) -> Array:
    """The state after so many steps."""
    if id(program) not in _GRAPHS:
        _GRAPHS[id(program)] = (program, call_graph(program))
    run, given = _GRAPHS[id(program)][1], numbers(robot) | free(robot) | changed | {"h": h}
    for _ in range(steps):
        xi = np.array(run.call([xi if k == "xi" else given[k] for k in program.inputs])[0]).ravel()
    return xi


@cache
def exact(n: int, slide: bool, duration: float) -> Array:
    """The maximal state after `duration` [s] of free motion: joint-space dynamics under RK4, errors below 1e-11."""
    robot = chain(n, slide)
    graphs = Graphs(build(robot, Recipe("chain", Path("chain.urdf"))))
    rate = ca.vertcat(graphs.pd, graphs.forward_dynamics(graphs.p, graphs.pd, ca.DM.zeros(n)))
    y, h = ca.vertcat(graphs.p, graphs.pd), 2e-4
    slope = ca.Function("slope", [y, graphs.alpha], [rate])
    default = [entry.default for entry in graphs.model.entries]
    at = np.concatenate(start(robot))
    for _ in range(round(duration / h)):
        a = slope(at, default)
        b = slope(at + h / 2 * a, default)
        c = slope(at + h / 2 * b, default)
        at = at + h / 6 * (a + 2 * b + 2 * c + slope(at + h * c, default))
    p, pd = np.split(np.array(at).ravel(), 2)
    return maximal(robot, p, pd)
