"""Closed loops in joint coordinates: what a cut joint asks of two links, written once and differentiated here.

A loop is cut at one joint; the tree is what is left. Its rows g(p) are zero where the cut frames of both links come together,
but for the joint's own motion. They are written in the axes of the parent's cut frame, whose z is the joint's axis: for a
planar mechanism a row is then exactly zero or it is not. With d the place of the child's cut frame there and Q its axes:

    hinge     d, and the axis of the child on the parent's first two: Q₁₃, Q₂₃
    ball      d
    slide     d₁, d₂, and half the axial vector of Q
    weld      d, and half the axial vector of Q
    distance  (‖d‖² − L²)/(2 L)

The gradient of a row by small motions of the child's cut frame is a wrench, by differentiation. Moving both links alike
changes no row, so on the parent the same wrench acts with the other sign, at the same point. A row of A = ∂g/∂p is what the
wrench does on the motion of every joint between the cut and the link at which both sides of the loop meet; joints further in
move both alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.joint_space import gears
from diffpbd.codegen.joint_space.link_frames import Links, Side, link_inputs, side, turned_rows
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import axial, cross, dot, skew
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Closure, Tree

ROWS: Final[Mapping[str, tuple[str, ...]]] = {
    "hinge": ("gap_1", "gap_2", "gap_axis", "tilt_1", "tilt_2"),
    "ball": ("gap_1", "gap_2", "gap_axis"),
    "slide": ("gap_1", "gap_2", "turn_1", "turn_2", "turn_axis"),
    "weld": ("gap_1", "gap_2", "gap_axis", "turn_1", "turn_2", "turn_axis"),
    "distance": ("distance",),
}
"""Names of the rows of every type: the two axes across the joint's and along it."""

LOOP_ROWS: Final = 25
"""Numbers of a loop: axes by rows and place of the cut frame in the frame of its parent, the same of its child, the length."""


def residual(kind: str, d: Any, Q: Any, length: Any) -> Any:
    """Rows of a loop from the child's cut frame in the parent's."""
    turn = axial(Q) / 2
    return {
        "hinge": lambda: Matrix([*d, Q[0, 2], Q[1, 2]]),
        "ball": lambda: Matrix([*d]),
        "slide": lambda: Matrix([d[0], d[1], *turn]),
        "weld": lambda: Matrix([*d, *turn]),
        "distance": lambda: Matrix([(dot(d, d) - length**2) / (2 * length)]),
    }[kind]()


@dataclass(frozen=True)
class Row:
    """A row, zero in a closed loop, and its gradient: force and moment on the child about the origin of its cut frame, in the
    axes of the parent's."""

    value: Any
    force: Any
    moment: Any


D = Matrix(sp.symbols("d_0:3", real=True))
Q = Matrix(3, 3, sp.symbols("q_0:9", real=True))
L = sp.Symbol("length", real=True)


@cache
def derived(kind: str) -> tuple[Row, ...]:
    """Every row of a type as a function of D, Q and L, differentiated by d + δ and (1 + [φ]×) Q."""
    shift, turn = (Matrix(sp.symbols(f"{name}_0:3", real=True)) for name in ("shift", "turn"))
    moved = residual(kind, D + shift, (Matrix.eye(3) + skew(turn)) * Q, L)
    still = dict.fromkeys((*shift, *turn), 0)

    def gradient(row: Any, by: Any) -> Any:
        return Matrix([sp.expand(sp.diff(row, symbol).subs(still)) for symbol in by])

    return tuple(
        Row(value, gradient(row, shift), gradient(row, turn))
        for value, row in zip(residual(kind, D, Q, L), moved, strict=True)
    )


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
        known = {**dict(zip(D, way.d, strict=True)), **dict(zip(Q, way.Q, strict=True)), L: cuts[24, j]}

        def here(expression: Any, known: dict[Any, Any] = known) -> Any:
            return b.let(expression.xreplace(known))

        found = derived(loop.kind)
        for k in range(len(found)) if every else loop.kept:
            row = found[k]
            values.append(here(row.value))
            entries: list[Any] = [sp.Integer(0)] * tree.n
            force, moment = here(row.force), here(row.moment)
            for joint, (turn, shift) in way.motions.items():
                entries[joint] = b.let(dot(force, shift) + dot(moment, turn))
            rows.append(list(gears.torques(b, tree, entries)))
    return values, rows


@stored
def rows(tree: Tree, every: bool = False) -> Program:
    """p → `g` (kept rows; with `every` all of them) and `A` (rows × coordinates)."""
    b = Program("closure_rows", "Rows of closed loops and their gradient.")
    p, links, cuts = b.input("p", tree.freedoms), link_inputs(b, tree), b.input("loop", LOOP_ROWS, len(tree.closures))
    values, gradient = closed(b, tree, links, side(b, tree, gears.positions(b, tree, p)), cuts, every)
    b.output("g", Matrix(values))
    b.output("A", Matrix(gradient))
    return b
