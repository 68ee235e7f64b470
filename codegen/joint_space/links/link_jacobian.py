"""Blocks of ∂(h F, h G) in link frames.

What joint k's motion changes is a wrench q on its subtree, up through the frames of that end to every joint that carries
it, and for the momentum M ṗ the pairs U, N, z of `_Changes`. Entry (j, k) of K₀ is S_j · (q_k − h z_k) where j carries k, and
S_j · q_k − h N_j · U_k where k carries j; at the end the sign of h turns. That they equal what CasADi's algorithmic
differentiation of F and G gives is a test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diffpbd.codegen.joint_space import gears, wrenches
from diffpbd.codegen.joint_space.friction import friction_inputs, lagging
from diffpbd.codegen.joint_space.links import link_frames, link_moments
from diffpbd.codegen.joint_space.links.link_frames import EZ, ZERO, Side, Wrench
from diffpbd.codegen.joint_space.links.link_moments import Firsts
from diffpbd.codegen.joint_space.links.link_step import Between, Numbers, between, numbers
from diffpbd.codegen.joint_space.moments import Frames, motion_cross, pairing, pose
from diffpbd.codegen.joint_space.systems import diagonal
from diffpbd.codegen.laws import attached
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot
from diffpbd.codegen.program.tree import Tree


@dataclass(frozen=True)
class LinkBlocks:
    """D = ∂hF/∂p₁ = (∂hG/∂p₀)ᵀ, K₀ = ∂hF/∂p₀, M₀ = −∂F/∂ṗ₀, K₁ = ∂hG/∂p₁, M₁ = ∂G/∂ṗ₁, a square of the coordinates each; `lag`
    ∂hG/∂ṗ₀, None where friction knows nothing of the start."""

    D: Any
    K0: Any
    M0: Any
    K1: Any
    M1: Any
    lag: Any


@dataclass(frozen=True)
class _Changes:
    """U = 𝓘 S, N = V × S, and z = S ×* H + 𝓘 N, the change of the subtree's momentum with p_k, in link axes.

    ∂(M ṗ)_j/∂p_k is S_j · z_k when j carries k, and U_j · N_k when k carries j (S_j turns too, and the power S_j · H is
    unchanged by a common motion)."""

    U: list[Wrench]
    N: list[Wrench]
    z: list[Wrench]


def _changes(b: Program, tree: Tree, given: Numbers, at: Side, first: Firsts, pd: Any) -> _Changes:
    links = given.links
    total = link_moments.inertias(b, tree, links, at, first)
    V, resting = link_frames.velocities(b, tree, links, at, pd)
    zero = Matrix([0, 0, 0])

    def held(k: int, twist: Wrench) -> Wrench:
        w, v = twist
        return (
            b.let(total[k] * w + cross(first.own[k], v)),
            b.let(links.carried[k] * v + cross(w, first.own[k])),
        )

    U = [link_moments.momentum_column(tree, links, first, total, k) for k in range(tree.n)]
    tail = link_frames.sums(b, tree, links, at, [(b.let(m * pd[k]), b.let(f * pd[k])) for k, (m, f) in enumerate(U)])
    N, z = [], []
    for k in range(tree.n):
        with b.part(k):
            S = (zero, EZ) if tree.slides[k] else (EZ, zero)
            before = held(k, resting[k])
            H = (b.let(tail[k][0] + before[0]), b.let(tail[k][1] + before[1]))
            N.append(motion_cross(b, V[k], S))
            moved = held(k, N[k])
            z.append((b.let(cross(S[0], H[0]) + cross(S[1], H[1]) + moved[0]), b.let(cross(S[0], H[1]) + moved[1])))
    return _Changes(U, N, z)


def pulls(b: Program, tree: Tree, step: Between, end: bool) -> list[Wrench]:
    """q without gravity: minus the change of h H₀₁ of the subtree of k, seen from one end, as that end's points move with k."""
    result = []
    for k in range(tree.n):
        D, a, A = step.motion.D[k], step.motion.a[k], step.A[k]
        x, y = step.first0.own[k], step.first1.own[k]
        mass = step.numbers.links.carried[k]
        with b.part(k):
            back = b.let(D.T * a)
            if tree.slides[k]:
                other = b.let(D.T * x - mass * back) if end else b.let(D * y + mass * a)
                result.append((b.let(cross(EZ, other)), b.let(-mass * EZ)))
                continue

            def C(i: int, j: int, D: Any = D, a: Any = a, A: Any = A, x: Any = x, y: Any = y, back: Any = back) -> Any:
                if end:
                    return b.let(dot(A[j, :], D[:, i]) - y[j] * back[i])
                return b.let(dot(D[i, :], A[:, j]) + a[i] * x[j])

            own = y if end else x
            result.append((Matrix([C(2, 0), C(2, 1), b.let(-(C(0, 0) + C(1, 1)))]), Matrix([own[1], -own[0], 0])))
    return result


def _stiffness(
    b: Program, tree: Tree, step: Between, end: bool, h: Any, changes: _Changes, external: Any
) -> tuple[Any, Any]:
    """K₀, or K₁ at the `end`, and the inertia there, both with rotors; `external` (n × n) are the derivatives of the external
    wrenches' torques, or None."""
    n, given, plant = tree.n, step.numbers, step.numbers.plant
    at, first = (step.at1, step.first1) if end else (step.at0, step.first0)
    signed, half_square = b.let(-h if end else h), b.let(h * h / 2)
    g = link_moments.gravities(b, tree, given.links, at, given.gravity)
    slopes = attached.on_joints(b, "slope", tree, plant.attached, at.q)
    own = pulls(b, tree, step, end)
    K, M = ([[ZERO] * n for _ in range(n)] for _ in range(2))
    for k in range(n):
        with b.part(k):
            U, z = changes.U[k], changes.z[k]
            moment, force = own[k]
            both = (b.let(moment - half_square * cross(U[1], g[k])), force)
            below = (b.let(both[0] - signed * z[0]), b.let(both[1] - signed * z[1]))
            j = k
            while True:
                M[j][k] = M[k][j] = link_frames.entry(tree, j, U)
                K[j][k] = b.let(link_frames.entry(tree, j, below))
                if j != k:
                    turning = pairing(b, changes.N[j], U)
                    K[k][j] = b.let(link_frames.entry(tree, j, both) - signed * turning)
                if tree.parents[j] < 0:
                    break
                U, both, below = (link_frames.up(b, tree, given.links, at, j, w) for w in (U, both, below))
                j = tree.parents[j]
            K[k][k] = b.let(K[k][k] + half_square * b.let(plant.stiffness[k] + slopes[k]) - plant.rotor[k])
            M[k][k] = b.let(M[k][k] + plant.rotor[k])
    stiffness = Matrix(K) if external is None else b.let(Matrix(K) - half_square * external)
    return gears.folded(b, tree, stiffness), gears.folded(b, tree, Matrix(M))


def declare_blocks(b: Program, tree: Tree) -> tuple[Any, LinkBlocks]:
    """Declare the shared inputs; returns h and the blocks, the slope of friction in M₁."""
    p, pd, p1, pd1 = (b.input(k, tree.freedoms) for k in ("p", "pd", "p_next", "pd_next"))
    h, given = b.scalar("h"), numbers(b, tree)
    friction = friction_inputs(b, tree, h, pd)
    at0 = link_frames.side(b, tree, gears.positions(b, tree, p))
    step = between(b, tree, given, at0, link_moments.firsts(b, tree, given.links, at0), p1)
    gradients = [None, None]
    if tree.wrenches:
        frames = Frames(b.input("before", 12, tree.n), given.after)
        gradients = [
            wrenches.torque_gradient(b, tree, pose(b, tree, frames, Matrix(list(at.q))), given.plant.wrench)
            for at in (step.at0, step.at1)
        ]
    changes = [
        _changes(b, tree, given, at, first, gears.rates(b, tree, rate))
        for at, first, rate in ((step.at0, step.first0, pd), (step.at1, step.first1, pd1))
    ]
    (K0, M0), (K1, M1) = (_stiffness(b, tree, step, end, h, changes[end], gradients[end]) for end in (False, True))
    slopes = friction.slopes(b, gears.rates(b, tree, pd1))
    slopes = gears.diagonal(b, tree, [h * slope for slope in slopes])
    lag = lagging(b, tree, friction, pd1, h)
    return h, LinkBlocks(step.matrix(b, tree), K0, M0, K1, b.let(M1 + diagonal(slopes)), lag)
