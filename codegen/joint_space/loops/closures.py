"""Closed loops in joint coordinates: the rows of cut joints (`laws.cuts`) and their gradient along the tree.

A loop is cut at one joint; the tree is what is left. A row of A = ∂g/∂p is what the row's wrench does on the motion of every
joint between the cut and the link at which both sides of the loop meet; joints further in move both alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from diffpbd.codegen.joint_space import gears
from diffpbd.codegen.joint_space.links.link_frames import Links, Side, link_inputs, side, turned_rows
from diffpbd.codegen.laws.cuts import LOOP_ROWS, ROWS, derived
from diffpbd.codegen.laws.cuts import at as cuts_at
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Closure, Tree


@dataclass(frozen=True)
class _Around:
    """One way round a loop, in the axes of the parent's cut frame: the child's cut frame (d, Q), and for every joint the motion
    of the child, seen from the parent, per unit of joint motion: turn, and shift of d."""

    d: Any
    Q: Any
    motions: dict[int, tuple[Any, Any]]


def _walk(b: Program, tree: Tree, links: Links, at: Side, loop: Closure, cut: Any) -> _Around:
    ahead = tree.ancestors(loop.parent) if loop.parent >= 0 else ()
    behind = tree.ancestors(loop.child) if loop.child >= 0 else ()
    C = b.let(Matrix(3, 3, list(cut[0:9])).T)
    c = b.let(-C * cut[9:12, 0])
    places = []
    for k in (k for k in ahead if k not in behind):
        with b.part(k):
            places.append((k, -C[:, 2], c))
            if tree.slides[k]:
                c = b.let(c - at.q[k] * C[:, 2])
            else:
                C = b.let(turned_rows(at.c[k], at.s[k], C))
            C = b.let(C * links.E[k].T)
            c = b.let(c - C * links.d[k])
    for k in reversed([k for k in behind if k not in ahead]):
        with b.part(k):
            c = b.let(c + C * links.d[k])
            C = b.let(C * links.E[k])
            if tree.slides[k]:
                c = b.let(c + at.q[k] * C[:, 2])
            else:
                C = b.let(turned_rows(at.c[k], -at.s[k], C))
            places.append((k, C[:, 2], c))
    d, motions = b.let(c + C * cut[21:24, 0]), {}
    for k, axis, origin in places:
        still = Matrix([0, 0, 0])
        motions[k] = (still, axis) if tree.slides[k] else (axis, b.let(cross(axis, b.let(d - origin))))
    return _Around(d, b.let(C * Matrix(3, 3, list(cut[12:21]))), motions)


def closed(
    b: Program, tree: Tree, links: Links, at: Side, cuts: Any, every: bool = False
) -> tuple[list[Any], list[Any]]:
    """g (kept rows, or every one) at a pose, and A: a list for each row, of every coordinate. `cuts` (25 × loops)."""
    values, rows = [], []
    for j, loop in enumerate(tree.closures):
        way = _walk(b, tree, links, at, loop, cuts[:, j])
        found = derived(loop.kind)
        chosen = found if every else [found[k] for k in loop.kept]
        known = cuts_at(b, chosen, way.d, way.Q, cuts[24, j])

        def here(expression: Any, known: dict[Any, Any] = known) -> Any:
            return b.let(expression.xreplace(known))

        for row in chosen:
            values.append(here(row.value))
            entries: list[Any] = [sp.Integer(0)] * tree.n
            force, moment = here(row.force), here(row.moment)
            for joint, (turn, shift) in way.motions.items():
                entries[joint] = b.let(dot(force, shift) + dot(moment, turn))
            rows.append(list(gears.torques(b, tree, entries)))
    return values, rows


def places(tree: Tree) -> tuple[list[int], list[int]]:
    """Which of all rows are kept, and which are dropped."""
    kept, first = list[int](), 0
    for loop in tree.closures:
        kept += [first + k for k in loop.kept]
        first += len(ROWS[loop.kind])
    return kept, [k for k in range(first) if k not in kept]


@stored
def rows(tree: Tree, every: bool = False) -> Program:
    """p → `g` (kept rows; with `every` all of them) and `A` (rows × coordinates)."""
    b = Program("closure_rows", "Rows of closed loops and their gradient.")
    p, links, cuts = b.input("p", tree.freedoms), link_inputs(b, tree), b.input("loop", LOOP_ROWS, len(tree.closures))
    values, gradient = closed(b, tree, links, side(b, tree, gears.positions(b, tree, p)), cuts, every)
    b.output("g", Matrix(values))
    b.output("A", Matrix(gradient))
    return b
