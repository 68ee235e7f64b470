"""The first stage of a step with closed loops: a border of the elimination along the tree.

A Newton iteration has been eliminated along the tree, s = −(row·d_a + constant) a joint (`projection`); an impulse of a loop
only changes the constants of joints between its links and the base. So the displacements of the loop's links are computed
without impulses and for a unit impulse of each row, which leaves a system with one equation per row,

    Σ_l (J₁ₖ d^l) Λ_l = −g_k − J₁ₖ (d + gap),

then the constants with all impulses. The symmetric part of J₁ D⁻¹ J₀ᵀ is positive definite up to O(h), like the joints'
pivots: elimination needs no pivoting.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.method.loops import each_row, impulses, moving, pull_size, pulls
from diffpbd.codegen.method.projection import motion_of, total
from diffpbd.codegen.method.world import call_at
from diffpbd.codegen.program.notation import WORLD, column
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import dot
from diffpbd.codegen.program.tree import Tree


@cache
def load_kernel(slide: bool) -> Program:
    """Leaf: `constant` of a joint for an impulse on its subtree, and `carried`, the part passed to its parent; see
    `projection.elimination_kernel`."""
    program = Program(f"load_{'slide' if slide else 'hinge'}", "What an impulse behind a joint does to it.")
    wrench, inverse = program.input("wrench", 6), program.scalar("inverse")
    S0, reach = motion_of(program.input("start_motion", 6), slide), program.input("reach", 6)
    constant = program.let(program.let(dot(S0, wrench)) * inverse)
    program.output("constant", constant)
    program.output("carried_on", program.let(wrench - reach * constant))
    return program


@cache
def shift_kernel(slide: bool) -> Program:
    """Leaf: `displacement` (6) of a link from its parent's."""
    program = Program(f"shift_{'slide' if slide else 'hinge'}", "A link follows its parent.")
    row, constant = program.input("row", 6), program.scalar("constant")
    S, before = motion_of(program.input("motion", 6), slide), program.input("displacement_a", 6)
    s = program.let(-dot(row, before) - constant)
    program.output("displacement", program.let(before + S * s))
    return program


@cache
def opposite_kernel() -> Program:
    """Leaf: minus a wrench (6)."""
    program = Program("opposite", "A wrench with the other sign.")
    program.output("wrench", program.let(-program.input("pull", 6)))
    return program


@cache
def border_kernel(tree: Tree) -> Program:
    """Leaf: `multiplier` Λ of all kept rows: value (rows), pull of every row at the iterate, gap (6) and displacement (6,
    without impulses, then for a unit impulse of each row) of the moving links of every loop."""
    m = tree.rows
    program = Program("border", "Impulses of the closed loops: the system that the tree leaves of them.")
    value, pull = program.input("value", m), program.input("pull", pull_size(tree))
    ends = [link for loop in tree.closures for link in moving(loop)]
    gap, moved = program.input("gap", 6 * len(ends)), program.input("displacement", 6 * len(ends) * (m + 1))
    first = [sum(len(moving(loop)) for loop in tree.closures[:k]) for k in range(len(tree.closures))]
    of = [k for k, loop in enumerate(tree.closures) for _ in loop.kept]

    def work(row: int, block: Any) -> Any:
        """Work of a row's wrenches on displacements of the moving links of its loop."""
        places = range(first[of[row]], first[of[row]] + len(moving(tree.closures[of[row]])))
        wrenches = list(each_row(tree, pull)[row].values())
        pairs = [(wrenches[n], block[6 * e : 6 * e + 6, 0]) for n, e in enumerate(places)]
        return program.let(sum((dot(wrench, d) for wrench, d in pairs), sp.Integer(0)))

    sets = [moved[6 * len(ends) * k : 6 * len(ends) * (k + 1), 0] for k in range(m + 1)]
    total_of_none = program.let(sets[0] + gap)
    S = Matrix(m, m, lambda k, j: work(k, sets[j + 1]))
    rhs = Matrix([program.let(-value[k, 0] - work(k, total_of_none)) for k in range(m)])
    program.output("multiplier", impulses(program, S, rhs, tree.redundant)[0])
    return program


@cache
def superpose_kernel(count: int) -> Program:
    """Leaf: `constant` of a joint with the impulses of `count` rows."""
    program = Program(f"superpose_{count}", "Constant of a joint with the impulses of loops behind it.")
    constant, parts, size = (
        program.scalar("constant"),
        program.input("parts", count),
        program.input("multiplier", count),
    )
    program.output("total", program.let(constant + dot(parts, size)))
    return program


class Border:
    """The kept loop rows in the elimination of a Newton iteration, which give `projection.solve` the joints' constants."""

    def __init__(self, tree: Tree, start_pull: Any, pull: Any, value: Any) -> None:
        self.tree, self.start, self.pull, self.value = tree, each_row(tree, start_pull), pull, value

    def _constants(
        self, program: Program, rules: list[dict[str, Any]], start_motion: Sequence[Any], row: dict[int, Any]
    ) -> dict[int, Any]:
        """Calls: constants of the joints affected by an impulse of one row."""
        tree, found = self.tree, {}
        behind = {link: [program.call(opposite_kernel(), pull=wrench)["wrench"]] for link, wrench in row.items()}
        for j in reversed(range(tree.n)):
            if j not in behind:
                continue
            own = {"wrench": total(program, behind[j]), "start_motion": start_motion[j]}
            called = call_at(program, tree, j, load_kernel(tree.slides[j]), rules[j], own)
            found[j] = called["constant"]
            if tree.parents[j] != WORLD:
                behind.setdefault(tree.parents[j], []).append(called["carried_on"])
        return found

    def _displaced(
        self, program: Program, rules: list[dict[str, Any]], motion: list[dict[str, Any]], constants: dict[int, Any]
    ) -> Any:
        """Calls: displacements of the moving links of every loop, concatenated."""
        tree = self.tree
        found: dict[int, Any] = {}
        ends = [link for loop in tree.closures for link in moving(loop)]
        for j in sorted({k for link in ends for k in tree.ancestors(link)}):
            own = {"constant": constants.get(j, Matrix([0])), "motion": motion[j]["motion"]}
            if tree.parents[j] != WORLD:
                own["displacement_a"] = found[tree.parents[j]]
            found[j] = call_at(program, tree, j, shift_kernel(tree.slides[j]), own, rules[j])["displacement"]
        return column(*(found[link] for link in ends))

    def close(
        self, program: Program, rules: list[dict[str, Any]], motion: list[dict[str, Any]], start_motion: Sequence[Any]
    ) -> list[dict[str, Any]]:
        """Calls: the joints' elimination rules with the impulses of all rows in their constants."""
        tree = self.tree
        parts = [self._constants(program, rules, start_motion, row) for row in self.start]
        plain = dict(enumerate(rule["constant"] for rule in rules))
        moved = column(*(self._displaced(program, rules, motion, constants) for constants in (plain, *parts)))
        gap = column(*(motion[link]["gap"] for loop in tree.closures for link in moving(loop)))
        given = {"value": self.value, "pull": self.pull, "gap": gap, "displacement": moved}
        multiplier = program.call(border_kernel(tree), **given)["multiplier"]
        closed = []
        for j, rule in enumerate(rules):
            felt = [k for k, constants in enumerate(parts) if j in constants]
            if felt:
                own = {"constant": rule["constant"], "parts": column(*(parts[k][j] for k in felt))}
                own["multiplier"] = column(*(multiplier[k, 0] for k in felt))
                rule = rule | {"constant": program.call(superpose_kernel(len(felt)), **own)["total"]}
            closed.append(rule)
        return closed


def beside(
    program: Program,
    tree: Tree,
    loop: Any,
    places: tuple[list[Any], list[Any]],
    motion: list[dict[str, Any]],
    start_motion: Sequence[Any],
) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]] | None:
    """The call for `projection.solve` between its two sweeps, at an iterate with `places` x and R; None without loops. Declares
    `pull`, the rows' wrenches at the start."""
    if loop is None:
        return None
    value, pull = pulls(program, tree, loop, *places, motion)
    border = Border(tree, program.input("pull", pull_size(tree)), pull, value)
    return functools.partial(border.close, program, motion=motion, start_motion=start_motion)
