"""Mass moments of subtrees in the links' own axes, and what they give: weights, inertia, momentum (see `link_frames`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diffpbd.codegen.joint_space.links.link_frames import (
    EZ,
    ZERO,
    Links,
    Side,
    Twist,
    Wrench,
    about_z,
    along,
    down,
    entry,
    sums,
    turned_columns,
    turned_rows,
    velocities,
)
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, symmetric
from diffpbd.codegen.program.tree import Tree


def moment_matrix(inertia: Any) -> Any:
    """∫ ρ ρᵀ dm (3×3) of a body with this inertia."""
    return Matrix.eye(3) * (inertia.trace() / 2) - inertia


def turned(b: Program, c: Any, s: Any, A: Any) -> Any:
    """Rz A Rzᵀ of a symmetric matrix."""
    common = b.let(s * b.let(A[0, 0] - A[1, 1]) + 2 * c * A[0, 1])
    shift, xy = b.let(s * common), b.let(c * common - A[0, 1])
    z = b.let(about_z(c, s, A[:, 2]))
    return b.let(Matrix([[A[0, 0] - shift, xy, z[0]], [xy, A[1, 1] + shift, z[1]], [z[0], z[1], A[2, 2]]]))


def shifted(b: Program, inertia: Any, first: Any, t: Any, mass: Any) -> Any:
    """The inertia about a point from which the body's origin is at t; `first` is ∫ x dm about the origin, axes stay."""
    outer = first * t.T
    V = b.let(outer + outer.T + mass * (t * t.T))
    moved = inertia + Matrix.eye(3) * V.trace() - V
    return b.let(symmetric([moved[0, 0], moved[0, 1], moved[0, 2], moved[1, 1], moved[1, 2], moved[2, 2]]))


@dataclass(frozen=True)
class Firsts:
    """∫ x dm of every subtree: `own` about its own origin in its own axes, `hat` in its parent's axes about its joint (zero
    where the parent is the world, which nothing asks)."""

    own: list[Any]
    hat: list[Any]


def firsts(b: Program, tree: Tree, links: Links, at: Side) -> Firsts:
    """`Firsts` at one end."""
    own, hat = list(links.first), [Matrix([0, 0, 0])] * tree.n
    for i in range(tree.n - 1, -1, -1):
        parent = tree.parents[i]
        if parent < 0:
            continue
        with b.part(i):
            if tree.slides[i]:
                moved = b.let(own[i] + links.carried[i] * at.q[i] * EZ)
            else:
                moved = b.let(about_z(at.c[i], at.s[i], own[i]))
            hat[i] = b.let(links.E[i] * moved)
            own[parent] = b.let(own[parent] + hat[i] + links.carried[i] * links.d[i])
    return Firsts(own, hat)


def composite(b: Program, tree: Tree, links: Links, at0: Side, at1: Side, first0: Firsts, first1: Firsts) -> list[Any]:
    """∫ y xᵀ dm (3×3) of every subtree, y at the end and x at the start, each in the axes and about the origin there."""
    A = [b.let(moment_matrix(inertia)) for inertia in links.inertia]
    for i in range(tree.n - 1, -1, -1):
        E, d, mass, parent = links.E[i], links.d[i], links.carried[i], tree.parents[i]
        if parent < 0:
            continue
        with b.part(i):
            if tree.slides[i]:
                x = b.let(first0.own[i] + mass * at0.q[i] * EZ)
                moved = b.let(A[i] + b.let(at0.q[i] * first1.own[i]) * EZ.T + at1.q[i] * EZ * x.T)
            else:
                moved = b.let(turned_columns(at1.c[i], at1.s[i], A[i]))
                moved = b.let(turned_rows(at0.c[i], at0.s[i], moved))
            carried = b.let(b.let(E * moved) * E.T)
            x = b.let(first0.hat[i] + mass * d)
            A[parent] = b.let(A[parent] + carried + d * x.T + first1.hat[i] * d.T)
    return A


def gravities(b: Program, tree: Tree, links: Links, at: Side, gravity: Any) -> list[Any]:
    """Gravity (3, world axes) in the axes of every link."""
    g: list[Any] = []
    for i in range(tree.n):
        with b.part(i):
            g.append(down(b, tree, links, at, i, gravity if tree.parents[i] < 0 else g[tree.parents[i]]))
    return g


def weights(b: Program, tree: Tree, links: Links, at: Side, first: Firsts, gravity: Any) -> list[Any]:
    """Torque of gravity (3, world axes) on every joint."""
    g = gravities(b, tree, links, at, gravity)
    return list(b.each(tree.n, lambda i: entry(tree, i, (cross(first.own[i], g[i]), links.carried[i] * g[i]))))


def external(b: Program, tree: Tree, links: Links, at: Side, wrench: Any, after: Any) -> list[Any]:
    """Torque of the external wrenches (9 each: point in link axes, force and torque in world axes) on every joint; `after`
    (9 × n) are the link axes in the joint's. Zeros without any."""
    torques: list[Any] = [ZERO] * tree.n
    for k, link in enumerate(tree.wrenches):
        r, f, m = wrench[0:3, k], wrench[3:6, k], wrench[6:9, k]
        for i in reversed(tree.ancestors(link)):
            f, m = down(b, tree, links, at, i, f), down(b, tree, links, at, i, m)
        if not tree.aligned[link]:
            r = b.let(Matrix(3, 3, list(after[:, link])) * r)
        for i, power in along(b, tree, links, at, link, (b.let(m + cross(r, f)), f)):
            torques[i] = b.let(torques[i] + power)
    return torques


def inertias(b: Program, tree: Tree, links: Links, at: Side, first: Firsts) -> list[Any]:
    """Inertia (3×3) of every subtree about its own origin."""
    total = list(links.inertia)
    for i in range(tree.n - 1, -1, -1):
        parent = tree.parents[i]
        if parent < 0:
            continue
        with b.part(i):
            if tree.slides[i]:
                moved = shifted(b, total[i], first.own[i], at.q[i] * EZ, links.carried[i])
            else:
                moved = turned(b, at.c[i], at.s[i], total[i])
            moved = b.let(b.let(links.E[i] * moved) * links.E[i].T)
            total[parent] = b.let(total[parent] + shifted(b, moved, first.hat[i], links.d[i], links.carried[i]))
    return total


def momentum_column(tree: Tree, links: Links, first: Firsts, total: list[Any], k: int) -> Wrench:
    """Momentum of the subtree of k per rate of joint k; `total` are its `inertias`."""
    x, y, _ = first.own[k]
    if tree.slides[k]:
        return Matrix([y, -x, 0]), links.carried[k] * EZ
    return total[k][:, 2], Matrix([-y, x, 0])


def inertia(b: Program, tree: Tree, links: Links, at: Side, first: Firsts, rotor: Any) -> Any:
    """The joint-space inertia (n × n), rotors (n) on its diagonal."""
    n, total = tree.n, inertias(b, tree, links, at, first)
    M = [[ZERO] * n for _ in range(n)]
    for i in range(n):
        with b.part(i):
            for j, value in along(b, tree, links, at, i, momentum_column(tree, links, first, total, i)):
                M[i][j] = M[j][i] = b.let(value + rotor[i]) if i == j else value
    return Matrix(M)


def momentum(b: Program, tree: Tree, links: Links, at: Side, pd: Any) -> list[Wrench]:
    """Momentum of every subtree at rates pd (n), as a wrench in its own frame."""
    return momentum_of(b, tree, links, at, velocities(b, tree, links, at, pd)[0])


def momentum_of(b: Program, tree: Tree, links: Links, at: Side, V: list[Twist]) -> list[Wrench]:
    """The same of links with the twists V."""
    own = []
    for i, (w, v) in enumerate(V):
        with b.part(i):
            mc = links.first[i]
            own.append((b.let(links.inertia[i] * w + cross(mc, v)), b.let(links.mass[i] * v + cross(w, mc))))
    return sums(b, tree, links, at, own)
