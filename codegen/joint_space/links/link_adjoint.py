"""Reverse derivatives of the step in link frames, in parts of which only one has to go through a trajectory in order.

With F and G of one discrete Lagrangian, a step's blocks depend on its two poses alone but for one term: the momentum M(p) ṗ
changes with p. So D, K₀ and K₁ of every step (`assembly`) and the inertia of every node can be worked out for all steps at
once, and so can what seeds on rates ask for where there is no friction: then a rate is M⁻¹ times a momentum that follows from
the poses. What goes from the last step to the first is the adjoint of the discrete Euler-Lagrange equation, one transposed
solve a step:

    Dₖᵀ xₖ = sₖ₊₁ − K₁,ₖᵀ yₖ − h Rₖ₊₁ᵀ (yₖ − xₖ₊₁) − K₀,ₖ₊₁ᵀ xₖ₊₁ − Dₖ₊₁ yₖ₊₁,    Rᵀ y = ∂(yᵀ M ṗ)/∂p

with the seeds s on poses, K without rates, and multipliers x of h F, y of h G. h (M + h · slope of friction) yₖ is the gradient
by the rates of node k+1: its seed and h M xₖ₊₁. Without friction that is yₖ = y from the seed + xₖ₊₁, and the term with R
belongs to the seed alone.
"""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.joint_space import gears, wrenches
from diffpbd.codegen.joint_space.friction import friction_inputs, lagging
from diffpbd.codegen.joint_space.links import link_frames, link_moments
from diffpbd.codegen.joint_space.links.link_frames import EZ, ZERO, Side
from diffpbd.codegen.joint_space.links.link_jacobian import pulls
from diffpbd.codegen.joint_space.links.link_step import RECORD_ROWS, Between, between, known_factors, numbers, unpacked
from diffpbd.codegen.joint_space.moments import Frames, motion_cross, pairing, pose
from diffpbd.codegen.laws import attached
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree


def _resting(b: Program, tree: Tree, step: Between, end: bool, half_square: Any, external: Any) -> Any:
    """K₀, or K₁ at the `end`, without rates: symmetric but for `external`, the derivatives of the external torques."""
    n, given, plant = tree.n, step.numbers, step.numbers.plant
    at, first = (step.at1, step.first1) if end else (step.at0, step.first0)
    g = link_moments.gravities(b, tree, given.links, at, given.gravity)
    slopes = attached.on_joints(b, "slope", tree, plant.attached, at.q)
    K = [[ZERO] * n for _ in range(n)]
    for k, (moment, force) in enumerate(pulls(b, tree, step, end)):
        with b.part(k):
            _, moved = link_moments.momentum_column(tree, given.links, first, [Matrix.eye(3)] * n, k)
            wrench = (b.let(moment - half_square * cross(moved, g[k])), force)
            for j, value in link_frames.along(b, tree, given.links, at, k, wrench):
                K[j][k] = K[k][j] = value
            K[k][k] = b.let(K[k][k] + half_square * b.let(plant.stiffness[k] + slopes[k]) - plant.rotor[k])
    stiffness = Matrix(K) if external is None else b.let(Matrix(K) - half_square * external)
    return gears.folded(b, tree, stiffness)


@stored
def assembly(tree: Tree) -> Program:
    """p, p_next, h → `D` = ∂hF/∂p₁, its `factors`, and `K0` = ∂hF/∂p₀, `K1` = ∂hG/∂p₁ without what rates add."""
    b = Program("link_step_assembly", "Blocks of a step's derivatives that depend on its two poses.")
    p, p1, h = b.input("p", tree.freedoms), b.input("p_next", tree.freedoms), b.scalar("h")
    given = numbers(b, tree)
    at0 = link_frames.side(b, tree, gears.positions(b, tree, p))
    step = between(b, tree, given, at0, link_moments.firsts(b, tree, given.links, at0), p1)
    external = [None, None]
    if tree.wrenches:
        frames = Frames(b.input("before", 12, tree.n), given.after)
        external = [
            wrenches.torque_gradient(b, tree, pose(b, tree, frames, Matrix(list(at.q))), given.plant.wrench)
            for at in (step.at0, step.at1)
        ]
    half_square = b.let(h * h / 2)
    D = step.matrix(b, tree)
    b.output("D", D)
    b.output("factors", elimination.factors(b, D))
    b.output("K0", _resting(b, tree, step, False, half_square, external[0]))
    b.output("K1", _resting(b, tree, step, True, half_square, external[1]))
    return b


def _carried(b: Program, tree: Tree, given: Any, at: Side, rate: Any) -> tuple[list[Any], list[Any]]:
    """Twist of every link with its own joint at rest, and the momentum of every subtree, at rates (n)."""
    V, resting = link_frames.velocities(b, tree, given.links, at, rate)
    return resting, link_moments.momentum_of(b, tree, given.links, at, V)


@stored
def momentum_slope(tree: Tree) -> Program:
    """`record` of a node (`link_rollout.inertia`), p, pd and y → `slope` = ∂(yᵀ M ṗ)/∂p.

    Moving joint k moves its subtree as a whole, which changes the twists in it only by what it is carried with: of yᵀ M ṗ
    the part (Y × S)·H + (V × S)·G, Y and V the twist of k without its own joint at rates y and ṗ, G and H the subtree's
    momentum at y and ṗ."""
    b = Program("link_step_momentum_slope", "Change of a product with the joint momentum as the pose changes.")
    p, pd, y = (b.input(k, tree.freedoms) for k in ("p", "pd", "y"))
    at, _ = unpacked(tree, b.input("record", RECORD_ROWS, tree.n), gears.positions(b, tree, p))
    given = numbers(b, tree)
    (V, H), (Y, G) = (_carried(b, tree, given, at, gears.rates(b, tree, rate)) for rate in (pd, y))
    zero = Matrix([0, 0, 0])

    def row(k: int) -> Any:
        S = (zero, EZ) if tree.slides[k] else (EZ, zero)
        return pairing(b, motion_cross(b, Y[k], S), H[k]) + pairing(b, motion_cross(b, V[k], S), G[k])

    b.output("slope", Matrix(gears.torques(b, tree, b.each(tree.n, row))))
    return b


@stored
def friction_lag(tree: Tree) -> Program:
    """pd_next, multiplier y of h G, h and the rates at the start → `shed` = (∂hG/∂ṗ₀)ᵀ y, where friction takes its coefficients
    there."""
    b = Program("link_step_friction_lag", "What friction makes of the rates at the start.")
    pd1, y, h = b.input("pd_next", tree.freedoms), b.input("y", tree.freedoms), b.scalar("h")
    lag = lagging(b, tree, friction_inputs(b, tree, h), pd1, h)
    b.output("shed", b.each(tree.freedoms, lambda i: lag[i, i] * y[i]))
    return b


@stored
def solve_transposed(tree: Tree) -> Program:
    """`factors` of a Jacobian of h F, rhs → x = D⁻ᵀ rhs."""
    b = Program("link_step_solve_transposed", "Solve with the transposed Jacobian of F.")
    factors = known_factors(b, tree)
    b.output("x", elimination.solve(b, factors, b.input("rhs", tree.freedoms), transposed=True))
    return b
