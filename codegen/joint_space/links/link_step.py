"""The joint-space step of `step`, worked out in link frames: the same equations F and G with fewer operations.

What joint j's equation needs is its axis times ∫ (x − o₀) × (y − o₀) dm over its subtree, x and y its points at both ends of
the step and o₀ the joint's place at the start: with `link_frames` an element of D A + a x̄ᵀ. The momentum of the start needs no
inertia matrix, and `end` gets the residual at the pose it is given for nearly nothing: a last correction, and a momentum that
belongs to the corrected pose. All trees but deep ones, which are solved along the tree, go this way in the emitted C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diffpbd.codegen.joint_space import gears
from diffpbd.codegen.joint_space.friction import handed_on
from diffpbd.codegen.joint_space.links import link_frames, link_moments
from diffpbd.codegen.joint_space.links.link_frames import ZERO, Links, Motion, Side
from diffpbd.codegen.joint_space.links.link_moments import Firsts
from diffpbd.codegen.joint_space.step import Plant, plant_inputs, springs, velocity_gradient
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree

RECORD_ROWS = 8
"""Numbers a joint of what `start` leaves for the other programs: cosine, sine, both first moments of its subtree."""


def packed(tree: Tree, at: Side, first: Firsts) -> Any:
    """The record of a start."""
    return Matrix.hstack(*[Matrix([at.c[i], at.s[i], *first.own[i], *first.hat[i]]) for i in range(tree.n)])


def unpacked(tree: Tree, record: Any, p: Any) -> tuple[Side, Firsts]:
    """Frames and first moments that a record holds, at positions p (n)."""
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
class Numbers:
    """The robot's numbers as inputs: links, gravity, forces, and `after` where a wrench needs it."""

    links: Links
    gravity: Any
    plant: Plant
    after: Any

    def known_torques(self, b: Program, tree: Tree, at: Side, first: Firsts) -> tuple[Any, Any, Any]:
        """Torques of gravity, springs and external wrenches on the coordinates at a pose."""
        external = link_moments.external(b, tree, self.links, at, self.plant.wrench, self.after)
        return (
            gears.torques(b, tree, link_moments.weights(b, tree, self.links, at, first, self.gravity)),
            springs(b, tree, self.plant, at.q),
            gears.torques(b, tree, external),
        )


def numbers(b: Program, tree: Tree) -> Numbers:
    """Declare the inputs of `Numbers`."""
    links, gravity, plant = link_frames.link_inputs(b, tree), b.input("gravity", 3), plant_inputs(b, tree)
    return Numbers(links, gravity, plant, b.input("after", 9, tree.n) if tree.wrenches else None)


def momenta(b: Program, tree: Tree, given: Numbers, at: Side, pd: Any) -> Any:
    """M ṗ, rotors included, of every coordinate, without the matrix."""
    rate = gears.rates(b, tree, pd)
    total = link_moments.momentum(b, tree, given.links, at, rate)
    held = b.each(tree.n, lambda i: link_frames.entry(tree, i, total[i]) + given.plant.rotor[i] * rate[i])
    return gears.torques(b, tree, held)


def kicked(b: Program, tree: Tree, factor: Any, held: Any, kick: Any, u: Any, known: tuple[Any, Any, Any]) -> Any:
    """factor · held + kick · (u and the known torques), of every coordinate."""
    weight, spring, external = known
    return b.each(
        tree.freedoms,
        lambda i: factor * held[i] + kick * b.let(b.let(u[i] + spring[i] + external[i]) + weight[i]),
    )


@dataclass(frozen=True)
class Begun:
    """A start of a step: its pose, moments, momenta M ṗ and known torques, and outputs of `start` by name."""

    numbers: Numbers
    at: Side
    first: Firsts
    held: Any
    known: tuple[Any, Any, Any]
    outputs: dict[str, Any]


def begin(b: Program, tree: Tree) -> Begun:
    """Declare p, pd, u, h and the robot's numbers; the start."""
    p, pd, u = (b.input(k, tree.freedoms) for k in ("p", "pd", "u"))
    h = b.scalar("h")
    given = numbers(b, tree)
    at = link_frames.side(b, tree, gears.positions(b, tree, p))
    first = link_moments.firsts(b, tree, given.links, at)
    held = momenta(b, tree, given, at, pd)
    known = given.known_torques(b, tree, at, first)
    terms = kicked(b, tree, h, held, b.let(h * h / 2), u, known)
    guess = b.each(tree.freedoms, lambda i: p[i] + h * pd[i])
    return Begun(given, at, first, held, known, {"record": packed(tree, at, first), "terms": terms, "guess": guess})


def acting(b: Program, tree: Tree, u: Any, known: tuple[Any, Any, Any]) -> Any:
    """Torques of motors and all that is known, of every coordinate."""
    weight, spring, external = known
    return b.each(tree.freedoms, lambda i: b.let(b.let(u[i] + spring[i] + external[i]) + weight[i]))


@stored
def start(tree: Tree) -> Program:
    """p, pd, u, h → `record` of the start (8 × n), the constant `terms` of h F, and a first guess p + h ṗ."""
    b = Program("link_step_start", "Start of a step and first guess of its end.")
    for name, value in begin(b, tree).outputs.items():
        b.output(name, value)
    return b


@dataclass(frozen=True)
class Between:
    """Both ends of a step, how links move between them, and the moments of both: what residual, Jacobian and end share."""

    numbers: Numbers
    at0: Side
    at1: Side
    first0: Firsts
    first1: Firsts
    motion: Motion
    A: list[Any]

    def residual(self, b: Program, tree: Tree, terms: Any) -> Any:
        """h F, of every coordinate."""
        rotor = self.numbers.plant.rotor

        def row(i: int) -> Any:
            D, a, x = self.motion.D[i], self.motion.a[i], self.first0.own[i]
            if tree.slides[i]:
                moved = dot(D[2, :], self.first1.own[i]) + self.numbers.links.carried[i] * a[2] - x[2]
            else:
                A = self.A[i]
                moved = b.let(dot(D[1, :], A[:, 0]) + a[1] * x[0]) - b.let(dot(D[0, :], A[:, 1]) + a[0] * x[1])
            return moved + rotor[i] * b.let(self.at1.q[i] - self.at0.q[i])

        rows = gears.torques(b, tree, b.each(tree.n, row))
        return b.each(tree.freedoms, lambda i: rows[i] - terms[i])

    def matrix(self, b: Program, tree: Tree) -> Any:
        """∂(h F)/∂p₁ of the coordinates, rotors included; joints on different branches: zero."""
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
        return gears.folded(b, tree, Matrix(J))

    def momentum(self, b: Program, tree: Tree, left: Any) -> Any:
        """h S₁ᵀ H₀₁ and the rotors' part at the end, of every coordinate, less `left`."""
        rotor = self.numbers.plant.rotor

        def row(i: int) -> Any:
            D, x, y = self.motion.D[i], self.first0.own[i], self.first1.own[i]
            back = b.let(D.T * self.motion.a[i])
            if tree.slides[i]:
                moved = y[2] - dot(D[:, 2], x) + self.numbers.links.carried[i] * back[2]
            else:
                A = self.A[i]
                moved = b.let(dot(A[1, :], D[:, 0]) - y[1] * back[0]) - b.let(dot(A[0, :], D[:, 1]) - y[0] * back[1])
            return moved + rotor[i] * b.let(self.at1.q[i] - self.at0.q[i])

        rows = gears.torques(b, tree, b.each(tree.n, row))
        return b.each(tree.freedoms, lambda i: rows[i] - left[i])

    def ended(self, b: Program, tree: Tree, left: Any, u: Any, h: Any) -> tuple[Any, Any, tuple[Any, Any, Any]]:
        """Momentum at the end of the step before friction, inertia and known torques there. What is `left` of h F carries the
        momentum to the pose that corrects it."""
        links = self.numbers.links
        known = self.numbers.known_torques(b, tree, self.at1, self.first1)
        momentum = kicked(b, tree, b.let(1 / h), self.momentum(b, tree, left), b.let(h / 2), u, known)
        M = link_moments.inertia(b, tree, links, self.at1, self.first1, self.numbers.plant.rotor)
        return momentum, gears.folded(b, tree, M), known


def between(b: Program, tree: Tree, given: Numbers, at0: Side, first0: Firsts, p1: Any) -> Between:
    """From a start whose moments are known to the pose p1 of the coordinates."""
    at1 = link_frames.side(b, tree, gears.positions(b, tree, p1))
    first1 = link_moments.firsts(b, tree, given.links, at1)
    motion = link_frames.relative(b, tree, given.links, at0, at1)
    A = link_moments.composite(b, tree, given.links, at0, at1, first0, first1)
    return Between(given, at0, at1, first0, first1, motion, A)


def iteration(b: Program, tree: Tree, name: str) -> tuple[Any, Between, Any]:
    """Declare what the iterations share, the pose at the end under `name`; that pose, the step to it, h F."""
    p1, p = b.input(name, tree.freedoms), b.input("p", tree.freedoms)
    at0, first0 = unpacked(tree, b.input("record", RECORD_ROWS, tree.n), gears.positions(b, tree, p))
    terms = b.input("terms", tree.freedoms)
    step = between(b, tree, numbers(b, tree), at0, first0, p1)
    return p1, step, step.residual(b, tree, terms)


def known_factors(b: Program, tree: Tree) -> Any:
    """Declare the `factors` of an earlier Jacobian, with the zeros that the tree leaves in them; gears couple branches."""
    m = tree.freedoms
    factors = b.input("factors", m, m)
    if tree.gears:
        return factors
    return Matrix(m, m, lambda i, j: ZERO if tree.related(i, j) is None else factors[i, j])


@stored
def newton(tree: Tree) -> Program:
    """One Newton iteration on F: iterate → next, `correction`, and the `factors` of its Jacobian for `chord` and `end`."""
    b = Program("link_step_newton", "Newton iteration on F with its exact Jacobian.")
    p1, step, F = iteration(b, tree, "iterate")
    factors = elimination.factors(b, step.matrix(b, tree))
    correction = b.let(-elimination.solve(b, factors, F))
    b.output("next", b.each(tree.freedoms, lambda i: p1[i] + correction[i]))
    b.output("correction", correction)
    b.output("factors", factors)
    return b


@stored
def chord(tree: Tree) -> Program:
    """One iteration on F with the Jacobian that an earlier `newton` factored."""
    b = Program("link_step_chord", "Chord iteration on F: the last Newton iteration's Jacobian again.")
    p1, _, F = iteration(b, tree, "iterate")
    correction = b.let(-elimination.solve(b, known_factors(b, tree), F))
    b.output("next", b.each(tree.freedoms, lambda i: p1[i] + correction[i]))
    b.output("correction", correction)
    return b


def finish(b: Program, tree: Tree) -> tuple[dict[str, Any], Any]:
    """Declare what `end` takes; its outputs by name, and the known torques at the end."""
    _, step, F = iteration(b, tree, "p_next")
    u, factors, h = b.input("u", tree.freedoms), known_factors(b, tree), b.scalar("h")
    momentum, M, known = step.ended(b, tree, F, u, h)
    return {"correction": b.let(-elimination.solve(b, factors, F)), "momentum": momentum, "M": M}, known


@stored
def end(tree: Tree) -> Program:
    """p_next and the `factors` of a Jacobian → the last `correction`; joint `momentum` at the corrected pose before friction,
    and the inertia `M` at p_next (rotors included)."""
    b = Program("link_step_end", "End of a step: its last correction, momentum and inertia.")
    for name, value in finish(b, tree)[0].items():
        b.output(name, value)
    return b


@stored
def residuals(tree: Tree) -> Program:
    """h F and h G as functions of both ends, as `step.residuals`."""
    b = Program("link_step_residuals", "Residuals of the joint-space step.")
    p, pd, u, p1, pd1 = (b.input(k, tree.freedoms) for k in ("p", "pd", "u", "p_next", "pd_next"))
    h = b.scalar("h")
    given = numbers(b, tree)
    friction = handed_on(b, tree, pd)
    at = link_frames.side(b, tree, gears.positions(b, tree, p))
    first = link_moments.firsts(b, tree, given.links, at)
    known = given.known_torques(b, tree, at, first)
    terms = kicked(b, tree, h, momenta(b, tree, given, at, pd), b.let(h * h / 2), u, known)
    step = between(b, tree, given, at, first, p1)
    b.output("F", step.residual(b, tree, terms))
    momentum, M, _ = step.ended(b, tree, [ZERO] * tree.freedoms, u, h)
    balance = b.call(velocity_gradient(tree), M=M, momentum=Matrix(list(momentum)), h=h, pd=pd1, **friction)
    b.output("G", b.each(tree.freedoms, lambda i: h * balance["gradient"][i]))
    return b


@stored
def node(tree: Tree) -> Program:
    """p_prev, p, p_next → `u`, `momentum` and `M` at a node, as `step.node`."""
    b = Program("link_step_node", "Torque and momentum at a node from three poses.")
    p0, p1, p2 = (b.input(k, tree.freedoms) for k in ("p_prev", "p", "p_next"))
    h = b.scalar("h")
    given, none = numbers(b, tree), [ZERO] * tree.freedoms
    at = link_frames.side(b, tree, gears.positions(b, tree, p0))
    before = between(b, tree, given, at, link_moments.firsts(b, tree, given.links, at), p1)
    arriving, M, _ = before.ended(b, tree, none, none, h)
    known = given.known_torques(b, tree, before.at1, before.first1)
    terms = kicked(b, tree, ZERO, none, b.let(h * h / 2), none, known)
    after = between(b, tree, given, before.at1, before.first1, p2)
    inverse = b.let(1 / h)
    leaving = [b.let(inverse * value) for value in after.residual(b, tree, terms)]
    b.output("u", b.each(tree.freedoms, lambda i: (leaving[i] - arriving[i]) * inverse))
    b.output("momentum", b.each(tree.freedoms, lambda i: (leaving[i] + arriving[i]) / 2))
    b.output("M", M)
    return b
