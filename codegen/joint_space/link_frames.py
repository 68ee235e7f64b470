"""Kinematics and mass moments in the links' own axes, and how links move over a step: the vocabulary of the lean step.

Frame i moves with link i: its origin is on the joint, its z axis *is* the joint axis. Joint i sits in the frame of its parent
at rotation E and translation d; a hinge turns about z, a slide moves along it. Numbers are then of the size of a link, not of
the distance to the base, rotations by a joint touch two components of a vector, and where E is a right angle it costs nothing.

A step is seen through D = R₀ᵀ R₁ and a = R₀ᵀ (o₁ − o₀), the motion of a link over the step in its own axes at the start, and
through moments of the subtree that a joint carries: ∫ x dm of its points x in the axes at one end, about the origin, and
∫ y xᵀ dm of its points y at the end, in the axes at the end, and x at the start, in the axes at the start. A point is
o₀ + R₀ x at the start and o₀ + R₀ (D y + a) at the end: all that the momentum of a step needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, symmetric
from diffpbd.codegen.program.tree import Tree

Wrench = tuple[Any, Any]
"""Moment about the origin of a frame and force, in its axes."""

ZERO, ONE = sp.Integer(0), sp.Integer(1)
EZ = Matrix([0, 0, 1])


@dataclass(frozen=True)
class Links:
    """Numbers of every link: E (3×3) and d (3) of its joint in the parent's frame, and about its own origin in its own axes
    mass, `first` (m c) and inertia (3×3); `carried` is the mass of its subtree."""

    E: list[Any]
    d: list[Any]
    mass: list[Any]
    first: list[Any]
    inertia: list[Any]
    carried: list[Any]


def link_inputs(b: Program, tree: Tree) -> Links:
    """Declare `hinge_before` (12 × n: E by rows, d), `hinge_body` (10 × n: m, m c, inertia) and `carried` (n)."""
    n = tree.n
    before, body, carried = b.input("hinge_before", 12, n), b.input("hinge_body", 10, n), b.input("carried", n)
    return Links(
        [Matrix(3, 3, list(before[0:9, i])) for i in range(n)],
        [before[9:12, i] for i in range(n)],
        list(body[0, :]),
        [body[1:4, i] for i in range(n)],
        [symmetric(list(body[4:10, i])) for i in range(n)],
        list(carried),
    )


def moment_matrix(inertia: Any) -> Any:
    """∫ ρ ρᵀ dm (3×3) of a body with this inertia."""
    return Matrix.eye(3) * (inertia.trace() / 2) - inertia


@dataclass(frozen=True)
class Side:
    """One end of the step: cosines, sines (1 and 0 of a slide) and positions of all joints."""

    c: Sequence[Any]
    s: Sequence[Any]
    q: Sequence[Any]


def side(b: Program, tree: Tree, q: Any) -> Side:
    """The joints at positions q (n)."""
    c: list[Any] = [ONE] * tree.n
    s: list[Any] = [ZERO] * tree.n
    for i in range(tree.n):
        if not tree.slides[i]:
            c[i], s[i] = b.let(sp.cos(q[i])), b.let(sp.sin(q[i]))
    return Side(c, s, list(q))


def about_z(c: Any, s: Any, v: Any) -> Any:
    """A vector turned about z."""
    return Matrix([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]])


def turned_columns(c: Any, s: Any, A: Any) -> Any:
    """Rz A."""
    return Matrix.hstack(*[about_z(c, s, A[:, k]) for k in range(3)])


def turned_rows(c: Any, s: Any, A: Any) -> Any:
    """A Rzᵀ."""
    return turned_columns(c, s, A.T).T


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


def up(b: Program, tree: Tree, links: Links, at: Side, i: int, wrench: Wrench) -> Wrench:
    """A wrench in frame i as one in the frame of its parent."""
    m, f = wrench
    if tree.slides[i]:
        m = b.let(m + at.q[i] * Matrix([-f[1], f[0], 0]))
    else:
        m, f = b.let(about_z(at.c[i], at.s[i], m)), b.let(about_z(at.c[i], at.s[i], f))
    f = b.let(links.E[i] * f)
    return b.let(links.E[i] * m + cross(links.d[i], f)), f


def down(b: Program, tree: Tree, links: Links, at: Side, i: int, v: Any) -> Any:
    """A vector in the axes of i's parent, in those of i."""
    v = b.let(links.E[i].T * v)
    return v if tree.slides[i] else b.let(about_z(at.c[i], -at.s[i], v))


def entry(tree: Tree, i: int, wrench: Wrench) -> Any:
    """Power of a wrench in frame i on the motion of joint i."""
    return wrench[1][2] if tree.slides[i] else wrench[0][2]


def along(b: Program, tree: Tree, links: Links, at: Side, k: int, wrench: Wrench) -> list[tuple[int, Any]]:
    """(joint, entry) of k and of every joint that carries it, for a wrench in frame k."""
    result = [(k, entry(tree, k, wrench))]
    while tree.parents[k] >= 0:
        wrench = up(b, tree, links, at, k, wrench)
        k = tree.parents[k]
        result.append((k, entry(tree, k, wrench)))
    return result


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


@dataclass(frozen=True)
class Motion:
    """How every link moves over the step, in its own axes at the start: D = R₀ᵀ R₁ and a = R₀ᵀ (o₁ − o₀)."""

    D: list[Any]
    a: list[Any]


def relative(b: Program, tree: Tree, links: Links, at0: Side, at1: Side) -> Motion:
    """`Motion` from one end to the other."""
    D: list[Any] = []
    a: list[Any] = []
    for i in range(tree.n):
        E, d, parent = links.E[i], links.d[i], tree.parents[i]
        with b.part(i):
            if parent < 0 and tree.slides[i]:
                D.append(Matrix.eye(3))
                a.append(EZ * b.let(at1.q[i] - at0.q[i]))
                continue
            if parent < 0:  # the world stands still, so the turn is about z, by the difference of the angles
                c = b.let(at0.c[i] * at1.c[i] + at0.s[i] * at1.s[i])
                s = b.let(at0.c[i] * at1.s[i] - at0.s[i] * at1.c[i])
                D.append(Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
                a.append(Matrix([0, 0, 0]))
                continue
            P = b.let(E.T * D[parent])
            turn = b.let(P * E)
            moved = b.let(E.T * a[parent] + b.let(P * d) - E.T * d)
            if tree.slides[i]:
                D.append(turn)
                a.append(b.let(moved + turn[:, 2] * at1.q[i] - EZ * at0.q[i]))
            else:
                turn = b.let(turned_columns(at0.c[i], -at0.s[i], turn))
                D.append(b.let(turned_rows(at1.c[i], -at1.s[i], turn)))
                a.append(b.let(about_z(at0.c[i], -at0.s[i], moved)))
    return Motion(D, a)


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


Twist = tuple[Any, Any]
"""Angular velocity and velocity of the origin of a frame, in its axes."""


def velocities(b: Program, tree: Tree, links: Links, at: Side, pd: Any) -> tuple[list[Twist], list[Twist]]:
    """Twist of every link at rates pd (n), and what it would be with its own joint at rest."""
    V: list[Twist] = []
    resting: list[Twist] = []
    for i in range(tree.n):
        parent = tree.parents[i]
        with b.part(i):
            w = v = Matrix([0, 0, 0])
            if parent >= 0:
                w = down(b, tree, links, at, i, V[parent][0])
                v = down(b, tree, links, at, i, b.let(V[parent][1] + cross(V[parent][0], links.d[i])))
            if tree.slides[i]:
                v = b.let(v + at.q[i] * Matrix([w[1], -w[0], 0]))
            resting.append((w, v))
            V.append((w, b.let(v + EZ * pd[i])) if tree.slides[i] else (b.let(w + EZ * pd[i]), v))
    return V, resting


def sums(b: Program, tree: Tree, links: Links, at: Side, own: Sequence[Wrench]) -> list[Wrench]:
    """Wrenches on links (n, each in its own frame) summed over the subtrees."""
    total = list(own)
    for i in range(tree.n - 1, -1, -1):
        parent = tree.parents[i]
        if parent >= 0:
            with b.part(i):
                m, f = up(b, tree, links, at, i, total[i])
                total[parent] = (b.let(total[parent][0] + m), b.let(total[parent][1] + f))
    return total


def momentum(b: Program, tree: Tree, links: Links, at: Side, pd: Any) -> list[Wrench]:
    """Momentum of every subtree at rates pd (n), as a wrench in its own frame."""
    own = []
    for i, (w, v) in enumerate(velocities(b, tree, links, at, pd)[0]):
        with b.part(i):
            mc = links.first[i]
            own.append((b.let(links.inertia[i] * w + cross(mc, v)), b.let(links.mass[i] * v + cross(w, mc))))
    return sums(b, tree, links, at, own)
