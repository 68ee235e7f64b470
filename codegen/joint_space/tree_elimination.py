"""Joint-space systems of deep trees, solved in O(n) without ever forming a matrix.

The matrices of the step and of dynamics have entries A_jk = L_jᵀ (Σ C_i over the links that both joints carry) R_k, plus a
diagonal: L = R the joint screws and C the spatial inertias for the mass matrix, L and R the screws of start and end pose for
the step's Jacobian. Such a system is eliminated joint by joint from the tips, a link's 6×6 block taking up what hangs on it
(Featherstone's articulated bodies, with two sets of screws). For short trees the dense `elimination` needs fewer operations;
`Tree.deep` says which is used.
"""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.joint_space.moments import Coupling, project
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import dot, skew
from diffpbd.codegen.program.tree import Tree

FACTOR_ROWS = 19
"""Numbers a joint of packed factors: U (6), V (6), the inverse pivot, and the right screw (6)."""


def block(C: Coupling) -> Any:
    """The 6×6 matrix of a `Coupling`, angular part first."""
    top = Matrix.hstack(Matrix.eye(3) * C.A.trace() - C.A, skew(C.x1))
    return Matrix.vstack(top, Matrix.hstack(-skew(C.y1), Matrix.eye(3) * C.m))


def factors(b: Program, tree: Tree, left: list[Any], links: list[Coupling], right: list[Any], diagonal: Any) -> Any:
    """Packed factors (19 × n) from the links' own couplings (not composites) and screws as pairs; `diagonal` has n entries."""
    n = tree.n
    symmetric = left is right
    L = [Matrix.vstack(*s) for s in left]
    R = L if symmetric else [Matrix.vstack(*s) for s in right]
    blocks = [block(C) for C in links]
    columns: list[Any] = [None] * n
    for i in range(n - 1, -1, -1):
        with b.part(i):
            blocks[i] = named(b, blocks[i], symmetric)
            U = b.let(blocks[i] * R[i])
            V = U if symmetric else b.let(blocks[i].T * L[i])
            inverse = b.let(1 / b.let(dot(L[i], U) + diagonal[i]))
            parent = tree.parents[i]
            if parent >= 0:
                row = b.let(V * inverse)
                blocks[parent] = blocks[parent] + named(b, blocks[i] - U * row.T, symmetric)
            columns[i] = Matrix.vstack(U, V, Matrix([inverse]), R[i])
    return Matrix.hstack(*columns)


def solve(b: Program, tree: Tree, packed: Any, left: list[Any], rhs: Any) -> Any:
    """Solution (n) of the factored system for one right-hand side."""
    n = tree.n
    L = [Matrix.vstack(*s) for s in left]
    force: list[Any] = [Matrix([0] * 6) for _ in range(n)]
    excess: list[Any] = [None] * n
    for i in range(n - 1, -1, -1):
        with b.part(i):
            force[i] = b.let(force[i])
            excess[i] = b.let(rhs[i] - dot(L[i], force[i]))
            parent = tree.parents[i]
            if parent >= 0:
                push = b.let(excess[i] * packed[12, i])
                force[parent] = b.let(force[parent] + force[i] + packed[0:6, i] * push)
    motion: list[Any] = [None] * n
    result = []
    for i in range(n):
        with b.part(i):
            parent = tree.parents[i]
            carried = motion[parent] if parent >= 0 else Matrix([0] * 6)
            x = b.let(packed[12, i] * b.let(excess[i] - dot(packed[6:12, i], carried)))
            motion[i] = b.let(carried + packed[13:19, i] * x)
            result.append(x)
    return Matrix(result)


def product(b: Program, tree: Tree, screws: list[Any], links: list[Coupling], x: Any) -> Any:
    """A x (n) for L = R = screws, without the diagonal."""
    n = tree.n
    motion: list[Any] = [None] * n
    force: list[Any] = [None] * n
    for i in range(n):
        with b.part(i):
            own = (screws[i][0] * x[i], screws[i][1] * x[i])
            parent = tree.parents[i]
            before = motion[parent] if parent >= 0 else (Matrix([0, 0, 0]), Matrix([0, 0, 0]))
            motion[i] = (b.let(before[0] + own[0]), b.let(before[1] + own[1]))
            force[i] = links[i].apply(b, motion[i])
    return project(b, tree, screws, force)


def named(b: Program, A: Any, symmetric: bool) -> Any:
    """`Program.let`; of a symmetric 6×6 matrix only the upper triangle is named, and mirrored."""
    if not symmetric:
        return b.let(A)
    upper = {(i, j): b.let(A[i, j]) for i in range(6) for j in range(i, 6)}
    return Matrix(6, 6, lambda i, j: upper[min(i, j), max(i, j)])
