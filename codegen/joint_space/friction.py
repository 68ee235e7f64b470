"""Friction in the joint-space step: a backward-Euler kick whose coefficients are those at the rates of the step's start.

With the plain law the kick is the gradient of a strictly convex function of the new rates. Friction that falls with the rate
(Stribeck) or differs by direction is not monotone, and an implicit kick of it may have several solutions or none that depends
smoothly on what is given. So the kick is that of the plain law with `forces.coefficients` at the start: convex, dissipative and
differentiable for every parameter, inertia and step, and of the same first order. With Dahl's law Coulomb's part of the kick
is that of the deflection's change (`memory`), monotone in the new rates too, and `held` acts during the step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from diffpbd.codegen.joint_space import gears
from diffpbd.codegen.laws import forces
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.tree import Tree

START: Final = "pd_start"
"""Input of programs that take coefficients at the start: rates of the coordinates there."""


@dataclass(frozen=True)
class Friction:
    """Friction of all joints: the law's `numbers` (n each), rates at the `start` of the step (n; None where
    the law does not take them) and
    what `friction_torque` takes of every joint."""

    laws: tuple[str, ...]
    numbers: Sequence[Any]
    start: Any
    coefficients: Sequence[tuple[Any, ...]]

    def torques(self, b: Program, rate: Any) -> Any:
        """Torque on every joint (n) at rates (n)."""
        return b.each(len(self.coefficients), lambda i: forces.friction_torque(rate[i], *self.coefficients[i]))

    def slopes(self, b: Program, rate: Any) -> Any:
        """−∂torque/∂rate of every joint (n)."""
        return b.each(len(self.coefficients), lambda i: forces.friction_slope(rate[i], *self.coefficients[i]))

    def lags(self, b: Program, rate: Any) -> Any:
        """−∂torque/∂(rate at the start) of every joint (n)."""
        n = len(self.coefficients)
        own = [[numbers[i] for numbers in self.numbers] for i in range(n)]
        return b.each(n, lambda i: forces.friction_lag(self.laws, rate[i], self.start[i], own[i]))


def friction_inputs(b: Program, tree: Tree, h: Any, pd: Any = None) -> Friction:
    """Declare the numbers of friction (n each) for a step h and, where the law needs them and they are not given, the rates of
    the coordinates at the start of the step."""
    numbers = [b.input(name, tree.n) for name in forces.friction_names(tree.friction)]
    if not tree.friction:
        return Friction((), numbers, None, list(zip(*numbers, strict=True)))
    start = None
    if forces.lags(tree.friction):
        start = gears.rates(b, tree, b.input(START, tree.freedoms) if pd is None else pd)
    found = []
    for i in range(tree.n):
        rate = 0 if start is None else start[i]
        values = forces.coefficients(tree.friction, rate, [k[i] for k in numbers], h)
        found.append(tuple(b.let(Matrix(values))))
    return Friction(tree.friction, numbers, start, found)


def held_input(b: Program, tree: Tree) -> Any:
    """Declare what the deflections of friction with memory hold at the start of a step (n), Coulomb friction times each; None
    without."""
    return b.input("held", tree.n) if forces.has_memory(tree.friction) else None


def handed_on(b: Program, tree: Tree, pd: Any) -> Mapping[str, Any]:
    """Declare the numbers of friction, and give what a program that declares `friction_inputs` takes at a step from pd."""
    given = {name: b.input(name, tree.n) for name in forces.friction_names(tree.friction)}
    return given | ({START: pd} if forces.lags(tree.friction) else {})


def lagging(b: Program, tree: Tree, friction: Friction, pd: Any, h: Any) -> Any:
    """The diagonal ∂(h G)/∂ṗ₀ on the coordinates, a square; None where friction knows nothing of the rates at the start."""
    if not forces.lags(tree.friction):
        return None
    square = b.let(h * h)
    lags = friction.lags(b, gears.rates(b, tree, pd))
    values = gears.diagonal(b, tree, [b.let(square * lags[i]) for i in range(tree.n)])
    return Matrix(tree.freedoms, tree.freedoms, lambda i, j: values[i] if i == j else 0)
