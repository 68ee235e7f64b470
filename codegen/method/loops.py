"""Closed loops in maximal coordinates: rows of the cut joints (`laws.cuts`), their wrenches, and residuals of a state.

With g the kept rows of all loops, J their gradient, and multipliers Λ and Η, a step adds J(q₀)ᵀ Λ to the impulses of its first
stage so that g(q₁) = 0 (`loop_border`), and J(q₁)ᵀ Η to those of its second so that J(q₁) v₁ = 0 (`loop_rates`): on the
manifold of the joints that is the step of `joint_space.bordered`.

A row acts on two links (those that move) by a wrench at the root joint of each one's tree, as in `projection`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.laws import cuts
from diffpbd.codegen.laws.cuts import LOOP_ROWS
from diffpbd.codegen.method.kinematics import rotation
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.notation import (
    OMEGA,
    POSITION,
    QUATERNION,
    STATE,
    VELOCITY,
    WORLD,
    column,
    part,
    square,
)
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot
from diffpbd.codegen.program.tree import Closure, Tree

IDENTITY = Matrix.eye(3)
ZERO3 = Matrix([0, 0, 0])
SHIFT: Final = sp.Float(1e-9)
"""[1] ε over the trace of a system with redundant rows."""
AGAIN: Final = 4


def moving(loop: Closure) -> tuple[int, ...]:
    """The links on which a loop's rows act, child before parent, without the world."""
    return tuple(link for link in (loop.child, loop.parent) if link != WORLD)


def _wide(loop: Closure) -> int:
    """Size of a row's pull: a wrench (6) on each moving link."""
    return 6 * len(moving(loop))


def pull_size(tree: Tree) -> int:
    """Size of the pulls of all kept rows."""
    return sum(len(loop.kept) * _wide(loop) for loop in tree.closures)


def _seen(
    program: Program, rows: Iterable[cuts.Row], cut: Any, x: dict[str, Any], R: dict[str, Any]
) -> tuple[Any, Any, dict[Any, Any]]:
    """Axes of the parent's cut frame (3 × 3), the arm to the cut on the child, and substitutions for the symbols of rows."""
    axes = {side: program.let(R[side] * Matrix(3, 3, list(cut[k : k + 9, 0]))) for side, k in (("a", 0), ("b", 12))}
    arm = {side: program.let(R[side] * cut[k : k + 3, 0]) for side, k in (("a", 9), ("b", 21))}
    gap = program.let(x["b"] + arm["b"] - x["a"] - arm["a"])
    d = program.let(axes["a"].T * gap)
    return axes["a"], arm["b"], cuts.at(program, rows, d, program.let(axes["a"].T * axes["b"]), cut[24, 0])


@cache
def pull_kernel(loop: Closure) -> Program:
    """Leaf: `value` (kept rows) of a loop at two poses and `pull`, for every row the wrench (6) on each moving link at the root
    joint of its tree; loop (25), of each moving side x, rotation and offset."""
    program = Program(f"loop_{loop.kind}", f"Rows of a closed loop, a {loop.kind}, and what they pull at its links.")
    cut = program.input("loop", LOOP_ROWS)
    x, R, offset = {}, {}, {}
    for side, link in (("a", loop.parent), ("b", loop.child)):
        still = link == WORLD
        x[side] = ZERO3 if still else program.input(f"x_{side}", 3)
        R[side] = IDENTITY if still else square(program.input(f"rotation_{side}", 9))
        offset[side] = None if still else program.input(f"offset_{side}", 3)
    kept = [cuts.derived(loop.kind)[k] for k in loop.kept]
    axes, arm, known = _seen(program, kept, cut, x, R)
    values, pulls = [], []
    for row in kept:
        values.append(program.let(row.value.xreplace(known)))
        force = program.let(axes * program.let(row.force.xreplace(known)))
        moment = program.let(axes * program.let(row.moment.xreplace(known)))
        for side, sign in (("b", 1), ("a", -1)):
            if offset[side] is not None:
                reach = arm if side == "b" else x["b"] + arm - x["a"]
                lever = program.let(offset[side] + reach)
                pulls.append(program.let(sign * column(force, program.let(moment + cross(lever, force)))))
    program.output("value", Matrix(values))
    program.output("pull", column(*pulls))
    return program


def pulls(program: Program, tree: Tree, loop: Any, x: list[Any], R: list[Any], placed: list[dict[str, Any]]) -> Any:
    """Calls: values of all kept rows and their pulls, both flat; x (3), R (9) and `offset` of every link."""
    values, found = [], []
    for k, closure in enumerate(tree.closures):
        if not closure.kept:  # its rows are redundant
            continue
        given = {"loop": part(loop, LOOP_ROWS, k)}
        for side, link in (("a", closure.parent), ("b", closure.child)):
            if link != WORLD:
                given |= {f"x_{side}": x[link], f"rotation_{side}": R[link], f"offset_{side}": placed[link]["offset"]}
        kernel = pull_kernel(Closure(closure.kind, min(closure.parent, 0), min(closure.child, 0), closure.kept))
        called = program.call(kernel, **given)
        values.append(called["value"])
        found.append(called["pull"])
    return column(*values), column(*found)


def impulses(program: Program, S: Any, rhs: Any, redundant: int, symmetric: bool = False) -> tuple[Any, Any]:
    """Impulses of all rows from their system, and the inverse pivots. With redundant rows S + ε 1 is solved instead, with
    `AGAIN` iterative refinements, each of which reduces the residual by ε over the least nonzero singular value of S."""
    if not redundant:
        factors = elimination.factors(program, S, symmetric=symmetric)
        return elimination.solve(program, factors, rhs), Matrix([factors[k, k] for k in range(S.rows)])
    shift = program.let(SHIFT * S.trace())
    factors = elimination.factors(program, program.let(S + shift * Matrix.eye(S.rows)), symmetric=symmetric)
    found = elimination.solve(program, factors, rhs)
    for _ in range(AGAIN):
        found = program.let(found + elimination.solve(program, factors, program.let(rhs - S * found)))
    return found, Matrix([factors[k, k] for k in range(S.rows)])


def each_row(tree: Tree, pull: Any) -> list[dict[int, Any]]:
    """The wrenches (6) of every kept row by moving link."""
    rows, at = [], 0
    for loop in tree.closures:
        for _ in loop.kept:
            rows.append({link: pull[at + 6 * k : at + 6 * k + 6, 0] for k, link in enumerate(moving(loop))})
            at += _wide(loop)
    return rows


@cache
def check_kernel(loop: Closure) -> Program:
    """Leaf: all `rows` of a loop at the states of its links, and their `rates`."""
    program = Program(f"check_{loop.kind}", f"Rows of a closed loop, a {loop.kind}, and their rates.")
    cut = program.input("loop", LOOP_ROWS)
    states = {side: program.input(f"state_{side}", STATE) if link != WORLD else None
              for side, link in (("a", loop.parent), ("b", loop.child))}  # fmt: skip
    x = {side: ZERO3 if s is None else s[POSITION, 0] for side, s in states.items()}
    R = {side: IDENTITY if s is None else rotation(program, s[QUATERNION, 0]) for side, s in states.items()}
    axes, arm, known = _seen(program, cuts.derived(loop.kind), cut, x, R)
    speed, turning = ZERO3, ZERO3
    for side, sign in (("b", 1), ("a", -1)):
        state = states[side]
        if state is not None:
            reach = program.let(x["b"] + arm - x[side])
            speed = speed + sign * (state[VELOCITY, 0] + cross(state[OMEGA, 0], reach))
            turning = turning + sign * state[OMEGA, 0]
    speed, turning = (program.let(axes.T * program.let(v)) for v in (speed, turning))
    found = [
        (row.value.xreplace(known), dot(row.force.xreplace(known), speed) + dot(row.moment.xreplace(known), turning))
        for row in cuts.derived(loop.kind)
    ]
    program.output("rows", program.let(Matrix([value for value, _ in found])))
    program.output("rates", program.let(Matrix([rate for _, rate in found])))
    return program


@cache
def check(tree: Tree) -> Program:
    """Call program: xi (13 n), loop (25 each) → every row of all loops, `rows` and `rates`."""
    program = Program("loop_check", "Rows of all closed loops and their rates.")
    xi, loop = program.input("xi", STATE * tree.n), program.input("loop", LOOP_ROWS * len(tree.closures))
    values, rates = [], []
    for k, closure in enumerate(tree.closures):
        ends = {"a": closure.parent, "b": closure.child}
        given = {f"state_{side}": part(xi, STATE, link) for side, link in ends.items() if link != WORLD}
        kernel = check_kernel(Closure(closure.kind, min(closure.parent, 0), min(closure.child, 0)))
        called = program.call(kernel, loop=part(loop, LOOP_ROWS, k), **given)
        values.append(called["rows"])
        rates.append(called["rates"])
    program.output("rows", column(*values))
    program.output("rates", column(*rates))
    return program
