"""The second stage of a step with closed loops: joint rates that satisfy the rows, with implicit friction.

The joint-space inertia M is a matrix here, whatever the depth of the tree.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.laws import forces
from diffpbd.codegen.method.loops import each_row, impulses, pull_size
from diffpbd.codegen.method.projection import motion_of
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.notation import FRICTION, WORLD, part
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import dot
from diffpbd.codegen.program.selection import below
from diffpbd.codegen.program.tree import Tree

HALVINGS: Final = 8
"""Number of step sizes 1, ½, … of the line search of a Newton iteration on friction with loops."""
LEFT: Final = sp.Rational(1, 2)
"""[1] Accepted slope at the end of the line search with the opposite sign, relative to the first; as in the joint-space
step."""
ROUNDING: Final = sp.Float(1e-13)
"""[1] Slope relative to its terms below which it may be rounding: the full step is then taken."""


@cache
def rate_rows(tree: Tree) -> Program:
    """Leaf: `A` (rows × n), rates of the kept rows per joint rate; pull, motion_i (6)."""
    program = Program("loop_rates", "Rates of the closed loops' rows per joint rate.")
    pull = program.input("pull", pull_size(tree))
    blocks = [program.input(f"motion_{i}", 6) for i in range(tree.n)]
    motion = [motion_of(blocks[i], tree.slides[i], tree.parents[i] == WORLD) for i in range(tree.n)]
    rows = []
    for row in each_row(tree, pull):
        felt = {link: tree.ancestors(link) for link in row}
        common = set.intersection(*map(set, felt.values())) if len(felt) == 2 else set()
        entries: list[Any] = [sp.Integer(0)] * tree.n
        for link, path in felt.items():
            for j in path:
                if j not in common:
                    entries[j] = program.let(dot(row[link], motion[j]))
        rows.append(entries)
    program.output("A", Matrix(rows))
    return program


@cache
def friction_iteration(tree: Tree) -> Program:
    """Leaf: one Newton iteration on M ṗ − h τ_friction(ṗ) − Aᵀ Η = impulse, A ṗ = 0: rate (n) → `next` (n), and the inverse
    `pivots` (rows) of the border, which show how nearly rows are redundant.

    The equation is the gradient of a convex function on A ṗ = 0, which contains the direction; a line search halves the step
    until the slope has its old sign or at most `LEFT` of its old size.
    """
    n, m = tree.n, tree.rows
    program = Program("loop_friction_iteration", "Newton iteration on the implicit friction kick beside closed loops.")
    M, impulse, h = program.input("M", n, n), program.input("impulse", n), program.scalar("h")
    friction, rate, A = program.input("friction", FRICTION * n), program.input("rate", n), program.input("A", m, n)

    def torque(j: int, pd: Any) -> tuple[Any, Any]:
        """Friction's torque and slope at a joint rate."""
        coulomb, viscous, transition = part(friction, FRICTION, j)
        known = {sp.tanh(pd / transition): program.let(sp.tanh(program.let(pd / transition)))}
        pair = (law(pd, coulomb, viscous, transition) for law in (forces.friction_torque, forces.friction_slope))
        value, slope = (program.let(expression.subs(known)) for expression in pair)
        return value, slope

    at = [torque(j, rate[j, 0]) for j in range(n)]
    momentum = program.let(Matrix([dot(M[j, :], rate) for j in range(n)]))
    left = program.let(Matrix([momentum[j, 0] - impulse[j, 0] - h * at[j][0] for j in range(n)]))
    H = program.let(M + sp.diag(*(program.let(h * slope) for _, slope in at)))
    factors = elimination.factors(program, H, symmetric=True)
    x = elimination.solve(program, factors, program.let(-left))
    X = elimination.solve(program, factors, A.T)
    eta, inverse = impulses(program, program.let(A * X), program.let(-A * (rate + x)), tree.redundant, symmetric=True)
    d = program.let(x + X * eta)
    # without the loops' part, which is zero along d but whose terms far exceed the slope near the solution
    bound = program.let(impulse + A.T * eta)
    first, along = program.let(dot(d, program.let(momentum - bound))), program.let(dot(d, program.let(M * d)))

    def slope_at(t: Any) -> Any:
        pushed = [d[j, 0] * torque(j, program.let(rate[j, 0] + t * d[j, 0]))[0] for j in range(n)]
        return program.let(first + t * along - h * sum(pushed, sp.Integer(0)))

    size = [abs(momentum[j, 0]) + abs(bound[j, 0]) + h * abs(at[j][0]) for j in range(n)]
    noise = ROUNDING * sum((abs(d[j, 0]) * program.let(size[j]) for j in range(n)), sp.Integer(0))
    allowed = program.let(noise - LEFT * dot(d, program.let(left - A.T * eta)))
    t: Any = sp.Integer(1)
    for _ in range(HALVINGS):
        t = program.let(t * (1 - program.let(below(program.let(allowed - slope_at(t)))) / 2))
    program.output("next", program.let(rate + t * d))
    program.output("pivots", inverse)
    return program
