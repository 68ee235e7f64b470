"""Shares of every joint of a deep tree in the blocks of ∂(h F, h G), so that no block is ever formed whole.

In world axes entry (j, k) of a block is a product of two vectors, one of either joint, of which one carries the other: with
S₀, S₁ the screws of the ends and C the coupling of what the deeper joint carries,

    D = ∂hF/∂p₁     S₀_j · C_k S₁_k          where j carries k or is k,    S₁_k · C_jᵀ S₀_j          where k carries j,
    K₀ = ∂hF/∂p₀    S₀_j · above₀_k          where j carries k or is k,    S₀_k · below₀_j + turned₀_k · held₀_j    otherwise,
    K₁ = ∂hG/∂p₁    likewise at the end,

held = 𝓘 S, the column of the inertia, turned = ∓h V × S. Moving joint k moves what it carries at one end only: that is
−C_kᵀ S₀_k in K₀ and −C_k S₁_k in K₁; gravity and external wrenches join it, and the momentum M ṗ changes by S ×* H + 𝓘 (V × S),
H the subtree's momentum. So products with the blocks are sweeps over the tree, and with the factors of D and M₁ along it a
column of the step's Jacobian costs O(n): tree_jacobian.h. There K₀ + D and K₁ + Dᵀ are formed, whose terms cancel
joint by joint but for O(h): sums over the tree lose no digits to them. That the blocks are those of `link_jacobian` is a test.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from diffpbd.codegen.joint_space import tree_elimination
from diffpbd.codegen.joint_space.friction import friction_inputs, lagging
from diffpbd.codegen.joint_space.moments import (
    ZERO3,
    Coupling,
    Half,
    Pose,
    add,
    composites,
    half_moments,
    link_couplings,
    motion_cross,
    pose,
)
from diffpbd.codegen.joint_space.recursive import model_inputs, velocities
from diffpbd.codegen.joint_space.step import Plant, plant_inputs
from diffpbd.codegen.joint_space.wrenches import carried
from diffpbd.codegen.laws import attached
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree

Pair = tuple[Any, Any]

ROWS = 96
"""Numbers of a joint, the struct Joint of tree_jacobian.h: fifteen vectors of 6, angular part first, six numbers."""


SWEPT, PAIRED, PULLED = 162, 100, 430
"""Operations of tree_jacobian.h: of a column at a joint, of two joints of which one carries the other, of a joint
where seeds are pulled back."""
COLUMNS = 4
"""Columns of the Jacobian that are worked out side by side there."""


def operations(tree: Tree) -> dict[str, int]:
    """Operations of `tree_jacobian` and `tree_adjoint` in templates/step/tree_jacobian.h, beside those of `joints`."""
    n = tree.n
    columns = 3 * COLUMNS * -(-n // COLUMNS)
    pairs = sum(len(tree.ancestors(i)) for i in range(n))
    return {"tree_jacobian": SWEPT * n * columns + PAIRED * pairs, "tree_adjoint": PULLED * n}


@stored
def joints(tree: Tree) -> Program:
    """p, pd, p_next, pd_next, h → `joints` (ROWS × n)."""
    b = Program("joint_step_joints", "What every joint adds to the derivatives of a step.")
    p, pd, p1, pd1 = (b.input(k, tree.n) for k in ("p", "pd", "p_next", "pd_next"))
    h = b.scalar("h")
    frames, body, gravity = model_inputs(b, tree)
    plant = plant_inputs(b, tree)
    friction = friction_inputs(b, tree, h, pd)
    half_square = b.let(h * h / 2)
    at = [pose(b, tree, frames, end) for end in (p, p1)]
    half = [half_moments(b, tree, end, body) for end in at]
    links = link_couplings(b, tree, at[1], half[0], body)
    total = composites(b, tree, links)
    column, row = [], []
    for k in range(tree.n):
        with b.part(k):
            column.append(total[k].apply(b, at[1].screw[k]))
            row.append(total[k].transposed.apply(b, at[0].screw[k]))
    moving = [
        _End(b, tree, at[end], half[end], body, rate, b.let(h if end else -h), pull).vectors(
            b, tree, gravity, half_square, plant
        )
        for end, rate, pull in ((0, pd, row), (1, pd1, column))
    ]
    slopes = [attached.on_joints(b, "slope", tree, plant.attached, end) for end in (p, p1)]
    friction_slopes = friction.slopes(b, pd1)
    lag = lagging(b, tree, friction, pd1, h)
    D = tree_elimination.factors(b, tree, at[0].screw, links, at[1].screw, plant.rotor)
    inertia = link_couplings(b, tree, at[1], half[1], body, symmetric_moment=True)
    extra = b.each(tree.n, lambda i: plant.rotor[i] + h * friction_slopes[i])
    M1 = tree_elimination.factors(b, tree, at[1].screw, inertia, at[1].screw, extra)
    columns = []
    for i in range(tree.n):
        with b.part(i):
            diagonals = [
                b.let(half_square * b.let(plant.stiffness[i] + slopes[end][i]) - plant.rotor[i]) for end in (0, 1)
            ]
            ends = [*moving[0][i], *moving[1][i]]
            vectors = [at[0].screw[i], at[1].screw[i], row[i], column[i], *ends]
            shed = sp.Integer(0) if lag is None else lag[i, i]
            numbers = [D[12, i], M1[12, i], *diagonals, plant.rotor[i], shed]
            columns.append(
                Matrix([*D[0:12, i], *M1[0:6, i], *(e for v in vectors for part in v for e in part), *numbers])
            )
    b.output("joints", Matrix.hstack(*columns))
    return b


class _End:
    """Inertia and motion at one end of the step; `signed` is ∓h, `pull` minus what moving a joint there changes of h H₀₁."""

    def __init__(
        self, b: Program, tree: Tree, at: Pose, half: Half, body: Any, rate: Any, signed: Any, pull: list[Pair]
    ) -> None:
        self.at, self.signed, self.pull = at, signed, pull
        links = link_couplings(b, tree, at, half, body, symmetric_moment=True)
        self.total: list[Coupling] = composites(b, tree, links)
        self.V = velocities(b, tree, at, rate)
        self.H = []
        for i in range(tree.n):
            with b.part(i):
                self.H.append(links[i].apply(b, self.V[i]))
        for i in range(tree.n - 1, -1, -1):
            with b.part(i):
                if tree.parents[i] >= 0:
                    self.H[tree.parents[i]] = add(b, self.H[tree.parents[i]], self.H[i])

    def vectors(
        self, b: Program, tree: Tree, gravity: Any, half_square: Any, plant: Plant
    ) -> list[tuple[Pair, Pair, Pair, Pair]]:
        """held, above, below and turned of every joint."""
        external = carried(b, tree, self.at, plant.wrench)
        result = []
        for k in range(tree.n):
            with b.part(k):
                S, H = self.at.screw[k], self.H[k]
                held = self.total[k].apply(b, S)
                N = motion_cross(b, self.V[k], S)
                turned = b.let(self.signed * N[0]), b.let(self.signed * N[1])
                moved = self.total[k].apply(b, turned)
                z = (b.let(cross(S[0], H[0]) + cross(S[1], H[1])), b.let(cross(S[0], H[1])))
                moment, more = b.let(cross(held[1], gravity)), ZERO3
                if external[k] is not None:
                    X, force, torque = external[k]
                    pulled = b.let(X * S[0] - S[0] * X.trace() + cross(S[1], force))
                    moment, more = b.let(moment + pulled), b.let(half_square * cross(S[0], torque))
                both = (b.let(-self.pull[k][0] - half_square * moment), b.let(-self.pull[k][1]))
                above = (b.let(both[0] + self.signed * z[0] + moved[0]), b.let(both[1] + self.signed * z[1] + moved[1]))
                result.append((held, above, (b.let(both[0] - more), both[1]), turned))
        return result
