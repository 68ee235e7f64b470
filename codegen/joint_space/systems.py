"""The two linear systems of a step, whichever way they are solved: the joint-space inertia and the Jacobian of F.

Short trees keep a dense matrix, deep ones what the elimination along the tree needs; `joint_space` sees neither.
"""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.joint_space import gears, tree_elimination
from diffpbd.codegen.joint_space.moments import Coupling, Half, Pose, bilinear, composites, link_couplings
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.tree import Tree

INERTIA_ROWS = 17
"""Numbers a joint of a packed inertia: A (6), ∫x dm (3), m, the screw (6), the diagonal."""


def diagonal(values: Any) -> Any:
    """A square matrix with these on its diagonal."""
    n = len(values)
    return Matrix(n, n, lambda i, j: values[i] if i == j else 0)


def inertia_shape(tree: Tree) -> tuple[int, int]:
    """Rows and columns of what `inertia` returns."""
    return (INERTIA_ROWS if tree.deep else tree.freedoms, tree.freedoms)


def inertia(b: Program, tree: Tree, at: Pose, half: Half, body: Any, extra: Any) -> Any:
    """The inertia of the coordinates at a pose, with `extra` (n) on the diagonal of all joints', in the form that the functions
    below take."""
    links = link_couplings(b, tree, at, half, body, symmetric_moment=True)
    if not tree.deep:
        M = bilinear(b, tree, at.screw, composites(b, tree, links), at.screw)
        return b.let(gears.folded(b, tree, M + diagonal(extra)))
    return Matrix.hstack(
        *[
            Matrix([C.A[0, 0], C.A[0, 1], C.A[0, 2], C.A[1, 1], C.A[1, 2], C.A[2, 2], *C.x1, C.m, *S[0], *S[1], e])
            for C, S, e in zip(links, at.screw, extra, strict=True)
        ]
    )


def _unpack(tree: Tree, packed: Any) -> tuple[list[Coupling], list[Any], list[Any]]:
    links, screws, extra = [], [], []
    for i in range(tree.n):
        xx, xy, xz, yy, yz, zz = packed[0:6, i]
        first = packed[6:9, i]
        links.append(Coupling(Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), first, first, packed[9, i]))
        screws.append((packed[10:13, i], packed[13:16, i]))
        extra.append(packed[16, i])
    return links, screws, extra


def inertia_solve(b: Program, tree: Tree, M: Any, more: Any, rhs: Any) -> Any:
    """(M + diag(more))⁻¹ rhs, one right-hand side."""
    if not tree.deep:
        factors = elimination.factors(b, b.let(M + diagonal(more)), symmetric=True)
        return elimination.solve(b, factors, rhs)
    links, screws, extra = _unpack(tree, M)
    total = [extra[i] + more[i] for i in range(tree.n)]
    return tree_elimination.solve(b, tree, tree_elimination.factors(b, tree, screws, links, screws, total), screws, rhs)


def inertia_product(b: Program, tree: Tree, M: Any, x: Any) -> Any:
    """M x (n)."""
    if not tree.deep:
        return b.let(M * x)
    links, screws, extra = _unpack(tree, M)
    rigid = tree_elimination.product(b, tree, screws, links, x)
    return b.each(tree.n, lambda i: rigid[i] + extra[i] * x[i])


def jacobian_shape(tree: Tree) -> tuple[int, int]:
    """Rows and columns of what `jacobian_factors` returns."""
    return (tree_elimination.FACTOR_ROWS if tree.deep else tree.freedoms, tree.freedoms)


def jacobian_factors(
    b: Program, tree: Tree, left: list[Any], links: list[Coupling], right: list[Any], extra: Any
) -> Any:
    """Factors of the matrix with entries leftᵀ (Σ C) right and `extra` on its diagonal, for the coordinates; `links` are the
    links' own C."""
    if not tree.deep:
        D = bilinear(b, tree, left, composites(b, tree, links), right)
        return elimination.factors(b, b.let(gears.folded(b, tree, D + diagonal(extra))))
    return tree_elimination.factors(b, tree, left, links, right, extra)


def jacobian_solve(b: Program, tree: Tree, factors: Any, left: list[Any], rhs: Any) -> Any:
    """Solve with `jacobian_factors`, one right-hand side."""
    if not tree.deep:
        return elimination.solve(b, factors, rhs)
    return tree_elimination.solve(b, tree, factors, left, rhs)
