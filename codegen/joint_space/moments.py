"""Kinematics and mass moments in world axes about the world origin: the vocabulary of the joint-space functions.

A body is the set of its mass points ρ (link frame). With homogeneous H = [R o] (3×4, link → world) and the 4×4
pseudo-inertia Σ = ∫ [ρ;1][ρ;1]ᵀ dm (rows: J, m c; (m c)ᵀ, m), every moment that dynamics needs is a product
A = ∫ y xᵀ dm = H_y Σ H_xᵀ of two motions x and y of the same points, and every wrench is (axial A, ∫ y dm):
the moment ∫ x × y dm about the origin, and the force. Σ is linear in the ten inertial parameters, so all of it is.

Twists and wrenches are pairs (angular, linear) of 3-vectors referred to the world origin: a point x of the body moves
with ω × x + v.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import axial, cross, dot, symmetric
from diffpbd.codegen.program.tree import Tree

ZERO3 = Matrix([0, 0, 0])


@dataclass(frozen=True)
class Pose:
    """Link poses and joint axes at one configuration: R, o (link → world), screw (joint axis as a twist)."""

    R: list[Any]
    o: list[Any]
    screw: list[tuple[Any, Any]]


@dataclass(frozen=True)
class Frames:
    """Constant geometry: `before` (12 × n: joint frame in the parent link, rotation by rows then translation [m]),
    `after` (9 × n: link axes in the joint frame, identity where `Tree.aligned`)."""

    before: Any
    after: Any


def pose(b: Program, tree: Tree, frames: Frames, p: Any) -> Pose:
    """Forward kinematics: joint frame E, d in the parent link, turn about (or slide along) its z axis, then `after`."""
    R: list[Any] = []
    o: list[Any] = []
    screw: list[tuple[Any, Any]] = []
    for i in range(tree.n):
        with b.part(i):
            E = Matrix(3, 3, list(frames.before[0:9, i]))
            d = frames.before[9:12, i]
            if tree.parents[i] >= 0:
                Rp, op = R[tree.parents[i]], o[tree.parents[i]]
                E, d = b.let(Rp * E), b.let(op + b.let(Rp * d))
            axis = E[:, 2]
            if tree.slides[i]:
                d = b.let(d + axis * p[i])
                screw.append((ZERO3, axis))
            else:
                c, s = b.let(sp.cos(p[i])), b.let(sp.sin(p[i]))
                E = Matrix.hstack(b.let(E[:, 0] * c + E[:, 1] * s), b.let(E[:, 1] * c - E[:, 0] * s), axis)
                screw.append((axis, b.let(cross(d, axis))))
            if not tree.aligned[i]:
                E = b.let(E * Matrix(3, 3, list(frames.after[:, i])))
            R.append(E)
            o.append(d)
    return Pose(R, o, screw)


@dataclass(frozen=True)
class Half:
    """Σ Hᵀ of every link (3 + 1 rows by 3): `tensor` (3×3, J Rᵀ + m c oᵀ) and `first` (∫ x dm)."""

    tensor: list[Any]
    first: list[Any]


def half_moments(b: Program, tree: Tree, at: Pose, body: Any) -> Half:
    """One side of every moment: Σ Hᵀ per link, from `body` (10 × n: m, m c, then I about the link origin)."""
    tensors, firsts = [], []
    for i in range(tree.n):
        with b.part(i):
            m, mc = body[0, i], body[1:4, i]
            inertia = symmetric(list(body[4:10, i]))
            J = b.let(Matrix.eye(3) * (inertia.trace() / 2) - inertia)
            x = b.let(at.R[i] * mc)
            firsts.append(b.let(x + m * at.o[i]))
            tensors.append(b.let(J * at.R[i].T + mc * at.o[i].T))
    return Half(tensors, firsts)


def second_moment(b: Program, R: Any, o: Any, half: Half, i: int) -> Any:
    """∫ y xᵀ dm of link i for y = [R o][ρ;1] and x given by `half` (3×3)."""
    return b.let(R * half.tensor[i] + o * half.first[i].T)


def first_moment(b: Program, R: Any, o: Any, body: Any, i: int) -> Any:
    """∫ y dm of link i."""
    return b.let(R * body[1:4, i] + body[0, i] * o)


def moment_wrench(b: Program, A: Any, force: Any) -> tuple[Any, Any]:
    """(∫ x × y dm, ∫ y dm)."""
    return b.let(axial(A)), force


def pairing(b: Program, twist: tuple[Any, Any], wrench: tuple[Any, Any]) -> Any:
    """Power of a wrench on a twist (a scalar)."""
    return b.let(dot(twist[0], wrench[0]) + dot(twist[1], wrench[1]))


def add(b: Program, one: tuple[Any, Any], two: tuple[Any, Any]) -> tuple[Any, Any]:
    """Sum of two twists or two wrenches."""
    return b.let(one[0] + two[0]), b.let(one[1] + two[1])


def motion_cross(b: Program, V: tuple[Any, Any], S: tuple[Any, Any]) -> tuple[Any, Any]:
    """V × S of two twists: how the twist S changes when its body moves with V."""
    return b.let(cross(V[0], S[0])), b.let(cross(V[0], S[1]) + cross(V[1], S[0]))


@dataclass(frozen=True)
class Coupling:
    """Change of the wrench (∫ x×y dm, ∫ y dm) when the points y move with a twist; for y = x the spatial inertia.

    A = ∫ y xᵀ dm, x1 = ∫ x dm, y1 = ∫ y dm, m = ∫ dm, all summed over a subtree. As a 6×6 matrix on (ω, v):
    [[tr A − A, [x1]×], [−[y1]×, m]], which is what differentiating ∫ x × (ω × y + v) dm gives (see its test).
    """

    A: Any
    x1: Any
    y1: Any
    m: Any

    def apply(self, b: Program, S: tuple[Any, Any]) -> tuple[Any, Any]:
        """Wrench change for the twist S of the points y."""
        w, v = S
        return (
            b.let(w * self.A.trace() - self.A * w + cross(self.x1, v)),
            b.let(cross(w, self.y1) + self.m * v),
        )

    @property
    def transposed(self) -> Coupling:
        """The transposed 6×6 matrix: the same with x and y exchanged."""
        return Coupling(self.A.T, self.y1, self.x1, self.m)


def link_couplings(
    b: Program, tree: Tree, y: Pose, x: Half, body: Any, symmetric_moment: bool = False
) -> list[Coupling]:
    """`Coupling` of every link for the motions y and x (the same pose twice: spatial inertias)."""
    result = []
    for i in range(tree.n):
        with b.part(i):
            A = second_moment(b, y.R[i], y.o[i], x, i)
            if symmetric_moment:
                A = Matrix([[A[0, 0], A[0, 1], A[0, 2]], [A[0, 1], A[1, 1], A[1, 2]], [A[0, 2], A[1, 2], A[2, 2]]])
            first = x.first[i] if symmetric_moment else first_moment(b, y.R[i], y.o[i], body, i)
            result.append(Coupling(A, x.first[i], first, body[0, i]))
    return result


def composites(b: Program, tree: Tree, links: list[Coupling]) -> list[Coupling]:
    """Sums of the links' couplings over the subtree of every joint."""
    sums: list[list[Any]] = [[C.A, C.x1, C.y1, C.m] for C in links]
    for i in range(tree.n - 1, -1, -1):
        with b.part(i):
            parent = tree.parents[i]
            if parent >= 0:
                sums[parent] = [b.let(u + v) for u, v in zip(sums[parent], sums[i], strict=True)]
    return [Coupling(*s) for s in sums]


def couplings(b: Program, tree: Tree, y: Pose, x: Half, body: Any, symmetric_moment: bool = False) -> list[Coupling]:
    """`Coupling` of every subtree for the motions y and x (the same pose twice: composite spatial inertias)."""
    return composites(b, tree, link_couplings(b, tree, y, x, body, symmetric_moment))


def weights(b: Program, tree: Tree, first: list[Any], body: Any, gravity: Any) -> list[tuple[Any, Any]]:
    """Weight of every link as a wrench; `first` are its ∫ x dm."""
    result = []
    for i in range(tree.n):
        with b.part(i):
            result.append((b.let(cross(first[i], gravity)), b.let(body[0, i] * gravity)))
    return result


def project(b: Program, tree: Tree, screws: list[tuple[Any, Any]], wrenches: list[tuple[Any, Any]]) -> Any:
    """Tᵀ[f; t]: wrenches summed over subtrees from the tips, then paired with each joint's screw (n)."""
    total = list(wrenches)
    powers: list[Any] = [None] * tree.n
    for i in range(tree.n - 1, -1, -1):
        with b.part(i):
            powers[i] = pairing(b, screws[i], total[i])
            if tree.parents[i] >= 0:
                total[tree.parents[i]] = add(b, total[tree.parents[i]], total[i])
    return Matrix(powers)


def bilinear(
    b: Program,
    tree: Tree,
    left: list[tuple[Any, Any]],
    coupling: list[Coupling],
    right: list[tuple[Any, Any]],
    columns: list[tuple[Any, Any]] | None = None,
    rows: list[tuple[Any, Any]] | None = None,
) -> Any:
    """Σ over common bodies of leftᵀ_j C right_k (n × n): entry (j, k) uses the subtree of the deeper of the two joints.

    `columns` are C right_k and `rows` Cᵀ left_j where they are known already.
    """
    n = tree.n
    if columns is None:
        columns = [coupling[k].apply(b, right[k]) for k in range(n)]
    if rows is None:
        rows = columns if left is right else [coupling[j].transposed.apply(b, left[j]) for j in range(n)]
    entries = [[sp.Integer(0)] * n for _ in range(n)]
    for deep in range(n):
        for j in tree.ancestors(deep):
            entries[j][deep] = pairing(b, left[j], columns[deep])
            if j != deep:
                entries[deep][j] = entries[j][deep] if left is right else pairing(b, right[j], rows[deep])
    return Matrix(entries)
