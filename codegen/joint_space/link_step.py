"""The joint-space step of `step`, worked out in link frames: the same equations F and G with fewer operations.

What joint j's equation needs is its axis times ∫ (x − o₀) × (y − o₀) dm over its subtree, x and y its points at both ends of
the step and o₀ the joint's place at the start: with `link_frames` an element of D A + a x̄ᵀ. The momentum of the start needs no
inertia matrix, and `end` gets the residual at the pose it is given for nearly nothing: a last correction, and a momentum that
belongs to the corrected pose. Which trees go this way: `applies`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.joint_space import link_frames
from diffpbd.codegen.joint_space.link_frames import ZERO, Firsts, Links, Motion, Side
from diffpbd.codegen.joint_space.step import Plant, plant_inputs, springs
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot
from diffpbd.codegen.program.tree import Tree

RECORD_ROWS = 8
"""Numbers a joint of what `start` leaves for the other programs: cosine, sine, both first moments of its subtree."""


def applies(tree: Tree) -> bool:
    """Whether a tree's step is worked out this way: deep trees are solved along the tree, and gears stay with `step`."""
    return not tree.deep and not tree.gears


def _record(tree: Tree, at: Side, first: Firsts) -> Any:
    return Matrix.hstack(*[Matrix([at.c[i], at.s[i], *first.own[i], *first.hat[i]]) for i in range(tree.n)])


def _unpack(tree: Tree, record: Any, p: Any) -> tuple[Side, Firsts]:
    n = tree.n
    return (
        Side(
            [link_frames.ONE if tree.slides[i] else record[0, i] for i in range(n)],
            [ZERO if tree.slides[i] else record[1, i] for i in range(n)],
            list(p),
        ),
        Firsts([record[2:5, i] for i in range(n)], [record[5:8, i] for i in range(n)]),
    )


@dataclass(frozen=True)
class _Numbers:
    """The robot's numbers as inputs: links, gravity, forces, and `after` where a wrench needs it."""

    links: Links
    gravity: Any
    plant: Plant
    after: Any

    def known_torques(self, b: Program, tree: Tree, at: Side, first: Firsts) -> tuple[Any, Any, Any]:
        """Torques of gravity, springs and external wrenches on the joints (n each) at a pose."""
        return (
            link_frames.weights(b, tree, self.links, at, first, self.gravity),
            springs(b, tree, self.plant, at.q),
            link_frames.external(b, tree, self.links, at, self.plant.wrench, self.after),
        )


def _numbers(b: Program, tree: Tree) -> _Numbers:
    links, gravity, plant = link_frames.link_inputs(b, tree), b.input("gravity", 3), plant_inputs(b, tree)
    return _Numbers(links, gravity, plant, b.input("after", 9, tree.n) if tree.wrenches else None)


@cache
def start(tree: Tree) -> Program:
    """p, pd, u, h → `record` of the start (8 × n), the constant `terms` of h F, and a first guess p + h ṗ."""
    n = tree.n
    b = Program("link_step_start", "Start of a step and first guess of its end.")
    p, pd, u = (b.input(k, n) for k in ("p", "pd", "u"))
    h = b.scalar("h")
    given = _numbers(b, tree)
    at = link_frames.side(b, tree, p)
    first = link_frames.firsts(b, tree, given.links, at)
    total = link_frames.momentum(b, tree, given.links, at, pd)
    weight, spring, external = given.known_torques(b, tree, at, first)
    kick = b.let(h * h / 2)

    def term(i: int) -> Any:
        held = b.let(link_frames.entry(tree, i, total[i]) + given.plant.rotor[i] * pd[i])
        return h * held + kick * b.let(b.let(u[i] + spring[i] + external[i]) + weight[i])

    b.output("record", _record(tree, at, first))
    b.output("terms", b.each(n, term))
    b.output("guess", b.each(n, lambda i: p[i] + h * pd[i]))
    return b


@dataclass(frozen=True)
class _Iteration:
    """Both ends of a step, how links move between them, and the moments of both: what residual, Jacobian and end share."""

    numbers: _Numbers
    at0: Side
    at1: Side
    first0: Firsts
    first1: Firsts
    motion: Motion
    A: list[Any]
    terms: Any

    def residual(self, b: Program, tree: Tree) -> Any:
        """h F (n)."""
        rotor = self.numbers.plant.rotor

        def row(i: int) -> Any:
            D, a, x = self.motion.D[i], self.motion.a[i], self.first0.own[i]
            if tree.slides[i]:
                moved = dot(D[2, :], self.first1.own[i]) + self.numbers.links.carried[i] * a[2] - x[2]
            else:
                A = self.A[i]
                moved = b.let(dot(D[1, :], A[:, 0]) + a[1] * x[0]) - b.let(dot(D[0, :], A[:, 1]) + a[0] * x[1])
            return moved + rotor[i] * b.let(self.at1.q[i] - self.at0.q[i]) - self.terms[i]

        return b.each(tree.n, row)

    def matrix(self, b: Program, tree: Tree) -> Any:
        """∂(h F)/∂p₁ (n × n), rotors included; joints on different branches: zero."""
        n, links = tree.n, self.numbers.links
        J = [[ZERO] * n for _ in range(n)]
        for k in range(n):
            with b.part(k):
                D, x, y = self.motion.D[k], self.first0.own[k], self.first1.own[k]
                w = D[2, :].T  # the axis at the start in axes at the end
                if tree.slides[k]:
                    column = (b.let(cross(x, D[:, 2])), b.let(links.carried[k] * D[:, 2]))
                    row = (b.let(cross(y, w)), b.let(links.carried[k] * w))
                else:
                    B = b.let(self.A[k] * D)
                    column = (
                        b.let(D * Matrix([-B[0, 2], -B[1, 2], b.let(B[0, 0] + B[1, 1])])),
                        b.let(D * Matrix([-y[1], y[0], 0])),
                    )
                    row = (b.let(w * B.trace() - B.T * w), b.let(cross(w, b.let(D.T * x))))
                for j, value in link_frames.along(b, tree, links, self.at0, k, column):
                    J[j][k] = b.let(value + self.numbers.plant.rotor[k]) if j == k else value
                for j, value in link_frames.along(b, tree, links, self.at1, k, row)[1:]:
                    J[k][j] = value
        return Matrix(J)

    def momentum(self, b: Program, tree: Tree, F: Any, inverse: Any) -> Any:
        """S₁ᵀ H₀₁ and the rotors' part (n) at the end; the residual that is left, h F, carries it to the corrected pose.
        `inverse` is 1/h."""
        rotor = self.numbers.plant.rotor

        def row(i: int) -> Any:
            D, x, y = self.motion.D[i], self.first0.own[i], self.first1.own[i]
            back = b.let(D.T * self.motion.a[i])
            if tree.slides[i]:
                moved = y[2] - dot(D[:, 2], x) + self.numbers.links.carried[i] * back[2]
            else:
                A = self.A[i]
                moved = b.let(dot(A[1, :], D[:, 0]) - y[1] * back[0]) - b.let(dot(A[0, :], D[:, 1]) - y[0] * back[1])
            return inverse * b.let(moved + rotor[i] * b.let(self.at1.q[i] - self.at0.q[i]) - F[i])

        return b.each(tree.n, row)


def _iteration(b: Program, tree: Tree, name: str) -> tuple[Any, _Iteration]:
    """Declare what the iterations share, the pose at the end under `name`."""
    n = tree.n
    p1, p = b.input(name, n), b.input("p", n)
    at0, first0 = _unpack(tree, b.input("record", RECORD_ROWS, n), p)
    terms = b.input("terms", n)
    given = _numbers(b, tree)
    at1 = link_frames.side(b, tree, p1)
    first1 = link_frames.firsts(b, tree, given.links, at1)
    motion = link_frames.relative(b, tree, given.links, at0, at1)
    A = link_frames.composite(b, tree, given.links, at0, at1, first0, first1)
    return p1, _Iteration(given, at0, at1, first0, first1, motion, A, terms)


def _structured(tree: Tree, matrix: Any) -> Any:
    """A matrix of joints with the zeros of the tree written."""
    return Matrix(tree.n, tree.n, lambda i, j: ZERO if tree.related(i, j) is None else matrix[i, j])


@cache
def newton(tree: Tree) -> Program:
    """One Newton iteration on F: iterate → next, `correction`, and the `factors` of its Jacobian for `chord` and `end`."""
    b = Program("link_step_newton", "Newton iteration on F with its exact Jacobian.")
    p1, step = _iteration(b, tree, "iterate")
    F = step.residual(b, tree)
    factors = elimination.factors(b, step.matrix(b, tree))
    correction = b.let(-elimination.solve(b, factors, F))
    b.output("next", b.each(tree.n, lambda i: p1[i] + correction[i]))
    b.output("correction", correction)
    b.output("factors", factors)
    return b


@cache
def chord(tree: Tree) -> Program:
    """One iteration on F with the Jacobian that an earlier `newton` factored."""
    b = Program("link_step_chord", "Chord iteration on F: the last Newton iteration's Jacobian again.")
    p1, step = _iteration(b, tree, "iterate")
    factors = _structured(tree, b.input("factors", tree.n, tree.n))
    correction = b.let(-elimination.solve(b, factors, step.residual(b, tree)))
    b.output("next", b.each(tree.n, lambda i: p1[i] + correction[i]))
    b.output("correction", correction)
    return b


@cache
def end(tree: Tree) -> Program:
    """p_next and the `factors` of a Jacobian → the last `correction`; joint `momentum` at the corrected pose before friction,
    and the inertia `M` at p_next (rotors included)."""
    return _end(
        tree, Program("link_step_end", "End of a step: its last correction, momentum and inertia."), arrives=False
    )


@cache
def arrival(tree: Tree) -> Program:
    """`end`, and what `newton`, `chord` and `step.onward` need of that pose, where the next step begins."""
    return _end(tree, Program("link_step_arrival", "End of a step that another one follows."), arrives=True)


def _end(tree: Tree, b: Program, arrives: bool) -> Program:
    n = tree.n
    _, step = _iteration(b, tree, "p_next")
    u, factors = b.input("u", n), _structured(tree, b.input("factors", n, n))
    h = b.scalar("h")
    F = step.residual(b, tree)
    b.output("correction", b.let(-elimination.solve(b, factors, F)))
    k, inverse = b.let(h / 2), b.let(1 / h)
    held = step.momentum(b, tree, F, inverse)
    weight, spring, external = step.numbers.known_torques(b, tree, step.at1, step.first1)
    b.output(
        "momentum",
        b.each(n, lambda i: held[i] + k * b.let(b.let(u[i] + spring[i] + external[i]) + weight[i])),
    )
    b.output("M", link_frames.inertia(b, tree, step.numbers.links, step.at1, step.first1, step.numbers.plant.rotor))
    if arrives:
        b.output("next_record", _record(tree, step.at1, step.first1))
        b.output("weight", Matrix([sp.sympify(value) for value in weight]))
        b.output("external", Matrix([sp.sympify(value) for value in external]))
    return b
