"""Lever springs: a straight spring between an arm on the parent and an arm on the child of a hinge (the paper's shoulder).

With arms l₁, l₂ and the angle γ = π − α − p between them (the paper's α₁ and α₂ enter only as their sum α, `angle` in alpha)
the law of cosines x² = l₁² + l₂² − 2 l₁ l₂ cos γ is the sum of squares

    x² = (l₁ − l₂)² + 4 l₁ l₂ cos²((α + p)/2),

which rounding cannot make negative. A spring pulled through length zero (l₁ = l₂, γ = 0) has a kink in its potential there,
V = ½ k (x − x_rest)²: the torque jumps. So x² is increased by `SHORTEST`², below rounding for every real length. All that
is used, torque and slope, is differentiated from that one V, so the spring is conservative and finite everywhere.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.program.notation import LEVER
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree

SHORTEST = sp.Float(1e-9)
"""[m] Added to the length of a lever spring as the square root of the sum of squares: no spring is a nanometre long. A spring
of 10 cm becomes longer by 5e-18 m; at length zero the torque is zero and its slope k l₁ l₂ (1 − x_rest/nm) finite."""


def length(p: Any, arm_1: Any, arm_2: Any, angle: Any) -> Any:
    """x [m]; arms [m] ≥ 0."""
    half = sp.cos((angle + p) / 2)
    return sp.sqrt((arm_1 - arm_2) ** 2 + 4 * arm_1 * arm_2 * half**2 + SHORTEST**2)


def potential(p: Any, stiffness: Any, arm_1: Any, arm_2: Any, angle: Any, rest: Any) -> Any:
    """V = ½ k (x − x_rest)² [J]."""
    return stiffness * (length(p, arm_1, arm_2, angle) - rest) ** 2 / 2


@cache
def _laws() -> tuple[tuple[Any, ...], dict[str, tuple[list[tuple[Any, Any]], Any]]]:
    """Symbols (p, then the five numbers), and by name every law in steps that share their parts, the length first."""
    symbols = p, *numbers = sp.symbols("p k l_1 l_2 alpha x_rest", real=True)
    x, whole = sp.Symbol("x", real=True), length(p, *numbers[1:4])
    V = potential(p, *numbers)
    gradient = sp.diff(V, p)
    found = {}
    for name, value in (("potential", V), ("torque", -gradient), ("slope", sp.diff(gradient, p))):
        shorter = value.replace(lambda e: e.is_Pow and e.base == whole.base, lambda e: x ** (2 * e.exp))
        steps, (result,) = sp.cse(shorter, sp.numbered_symbols("part", real=True))
        found[name] = [(x, whole), *steps], result
    return symbols, found


def law(b: Program, name: str, p: Any, numbers: Any) -> Any:
    """`potential` [J], `torque` on the joint [N·m] or `slope` −∂torque/∂p [N·m/rad] at p, of a spring's five numbers."""
    symbols, laws = _laws()
    steps, result = laws[name]
    known = dict(zip(symbols, (sp.sympify(value) for value in (p, *numbers)), strict=True))
    for symbol, expression in steps:
        known[symbol] = b.let(expression.xreplace(known))
    return b.let(result.xreplace(known))


def lever_input(b: Program, tree: Tree) -> Any:
    """Declare `lever` (5 × springs); None for a tree without."""
    return b.input("lever", LEVER, len(tree.levers)) if tree.levers else None


def on_joints(b: Program, name: str, tree: Tree, lever: Any, p: Any) -> list[Any]:
    """A `law` on every joint (n) at positions p (n) of all joints; zeros where no lever spring is."""
    found: list[Any] = [sp.Integer(0)] * tree.n
    for k, joint in enumerate(tree.levers):
        with b.part(joint):
            found[joint] = law(b, name, p[joint], list(lever[:, k]))
    return found


@stored
def program(tree: Tree, name: str) -> Program:
    """p → a `law` on every joint (n), zero where no lever spring is."""
    b = Program(f"lever_spring_{name}", f"{name.capitalize()} of the lever springs.")
    p = b.input("p", tree.n)
    b.output(name, Matrix(on_joints(b, name, tree, lever_input(b, tree), p)))
    return b


def lever_names(tree: Tree) -> tuple[str, ...]:
    """Name of the flat input of the steps, if the tree has lever springs."""
    return ("lever",) if tree.levers else ()
