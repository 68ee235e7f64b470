"""Springs on chosen joints: potential, torque and slope of each, differentiated from the potential that its element declares.

Their numbers are one column, `attached`, spring after spring in the order of the tree."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.laws import elements
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree

BLOCK: Final = "attached"
"""Name of the input."""


@cache
def _laws(element: str) -> tuple[tuple[Any, ...], dict[str, tuple[list[tuple[Any, Any]], Any]]]:
    """Symbols (p, then the numbers), and by name every law in steps that share their parts, what the element shares first."""
    spring = elements.spring(element)
    symbols = p, *numbers = sp.symbols(["p", *(f"number_{number.name}" for number in spring.numbers)], real=True)
    shared = None if spring.shared is None else spring.shared(p, *numbers)
    x, V = sp.Symbol("shared", real=True), sp.sympify(spring.potential(p, *numbers))
    gradient = sp.diff(V, p)
    found = {}
    begun = [] if shared is None else [(x, shared)]
    base, power = (x, 1) if shared is None else shared.as_base_exp()
    for name, value in (("potential", V), ("torque", -gradient), ("slope", sp.diff(gradient, p))):
        shorter = value.replace(lambda e: e.is_Pow and e.base == base, lambda e: x ** (e.exp / power))
        steps, (result,) = sp.cse(shorter, sp.numbered_symbols("part", real=True))
        found[name] = [*begun, *steps], result
    return symbols, found


def law(b: Program, element: str, name: str, p: Any, numbers: Any) -> Any:
    """`potential` [J], `torque` on the joint [N·m or N] or `slope` −∂torque/∂p of an element at p, with its numbers."""
    symbols, laws = _laws(element)
    steps, result = laws[name]
    known = dict(zip(symbols, (sp.sympify(value) for value in (p, *numbers)), strict=True))
    for symbol, expression in steps:
        known[symbol] = b.let(expression.xreplace(known))
    return b.let(result.xreplace(known))


def attached_input(b: Program, tree: Tree) -> Any:
    """Declare `attached` (numbers of all springs); None for a tree without."""
    return b.input(BLOCK, tree.attached_size) if tree.attached else None


def on_joints(b: Program, name: str, tree: Tree, column: Any, p: Any) -> list[Any]:
    """A `law` on every joint (n) at positions p (n) of all joints; zeros where no spring is."""
    found: list[Any] = [sp.Integer(0)] * tree.n
    for one, place in zip(tree.attached, tree.attached_places, strict=True):
        with b.part(one.joint):
            value = law(b, one.element, name, p[one.joint], list(column[place, 0]))
            found[one.joint] = value if found[one.joint] == 0 else b.let(found[one.joint] + value)
    return found


@stored
def program(tree: Tree, name: str) -> Program:
    """p → a `law` on every joint (n), zero where no spring is."""
    b = Program(f"attached_{name}", f"{name.capitalize()} of the springs on chosen joints.")
    p = b.input("p", tree.n)
    b.output(name, Matrix(on_joints(b, name, tree, attached_input(b, tree), p)))
    return b


def attached_names(tree: Tree) -> tuple[str, ...]:
    """Name of the flat input of the steps, if the tree has such springs."""
    return (BLOCK,) if tree.attached else ()
