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
