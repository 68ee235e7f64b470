"""Exact derivatives of the joint-space step by the implicit function theorem.

With F(p₁; p₀, ṗ₀, u) = 0 and G(ṗ₁; p₁, p₀, u) = 0 of `joint_space` (both multiplied by h), the blocks ∂(F, G) need no
differentiation of a solver and are assembled in O(n²) from mass moments of three motions: the start pose with itself,
the end pose with the start pose, the end pose with itself. Because F and G come from one discrete Lagrangian,
∂G/∂p₀ = (∂F/∂p₁)ᵀ, and ∂F/∂p₀ and ∂G/∂p₁ are symmetric but for the change of the momentum M(p) ṗ. That they equal what
CasADi's algorithmic differentiation of F and G gives is a test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from diffpbd.codegen.joint_space import gears, link_jacobian, wrenches
from diffpbd.codegen.joint_space import systems as joint_systems
from diffpbd.codegen.joint_space.friction import friction_inputs, lagging
from diffpbd.codegen.joint_space.moments import (
    Coupling,
    add,
    bilinear,
    half_moments,
    link_couplings,
    pairing,
    pose,
    second_moment,
)
from diffpbd.codegen.joint_space.nodes import Node, node_size, unpacked
from diffpbd.codegen.joint_space.recursive import model_inputs
from diffpbd.codegen.joint_space.step import Plant, Wrench, plant_inputs
from diffpbd.codegen.joint_space.systems import diagonal
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree


@dataclass(frozen=True)
class _Stiffness:
    """∂(h F or h G)/∂p at one end, before it is written out. Joint j carries k:

    entry (j, k) = S_j · (q_k − h z_k), entry (k, j) = S_j · q_k − h N_j · U_k; `hz` and `hN` hold h z and h N, with the
    sign of the end. `external` (n × n, or None) is what the external wrenches add, `joint` (n) the diagonal of springs and
    rotors, which `transposed_product` leaves out.
    """

    screw: list[Wrench]
    q: list[Wrench]
    hz: list[Wrench]
    hN: list[Wrench]
    U: list[Wrench]
    external: Any
    joint: Any = ()

    def transposed_product(self, b: Program, tree: Tree, x: Any) -> Any:
        """Kᵀ x (n) in O(n) but for wrenches: what joint k carries is summed from the tips, what carries it from the base."""
        n = tree.n
        carrier: list[Wrench] = []
        for k in range(n):
            own = (self.screw[k][0] * x[k], self.screw[k][1] * x[k])
            carrier.append(add(b, carrier[tree.parents[k]], own) if tree.parents[k] >= 0 else own)
        q_sum: list[Wrench | None] = [None] * n
        U_sum: list[Wrench | None] = [None] * n
        for k in range(n - 1, 0, -1):
            parent = tree.parents[k]
            if parent < 0:
                continue
            for total, own in ((q_sum, self.q[k]), (U_sum, self.U[k])):
                part = (own[0] * x[k], own[1] * x[k])
                below, above = total[k], total[parent]
                part = part if below is None else (part[0] + below[0], part[1] + below[1])
                part = part if above is None else (part[0] + above[0], part[1] + above[1])
                total[parent] = (b.let(part[0]), b.let(part[1]))
        rows = []
        for k in range(n):
            down = (b.let(self.q[k][0] - self.hz[k][0]), b.let(self.q[k][1] - self.hz[k][1]))
            row = pairing(b, carrier[k], down)
            below, moved = q_sum[k], U_sum[k]
            if below is not None and moved is not None:
                row = row + pairing(b, self.screw[k], below) - pairing(b, self.hN[k], moved)
            rows.append(b.let(row))
        return Matrix(rows) if self.external is None else b.let(Matrix(rows) + self.external.T * Matrix(list(x)))


@dataclass(frozen=True)
class Blocks:
    """∂(h F, h G), a square each: D = ∂hF/∂p₁ = (∂hG/∂p₀)ᵀ, K₀ = ∂hF/∂p₀, M₀ = −∂F/∂ṗ₀, K₁ = ∂hG/∂p₁, M₁ = ∂G/∂ṗ₁
    (rotors and the slope of friction included), and `lag` ∂hG/∂ṗ₀, None where friction knows nothing of the start.
    ∂hF/∂u = ∂hG/∂u = −½h² 1. K₀ and K₁ are kept as `_Stiffness`, of all joints.
    """

    D: Any
    start: _Stiffness
    M0: Any
    end: _Stiffness
    M1: Any
    lag: Any

    def pull(self, b: Program, tree: Tree, end: _Stiffness, x: Any) -> Any:
        """K₀ᵀ x or K₁ᵀ x."""
        x = gears.rates(b, tree, x)
        product = end.transposed_product(b, tree, x)
        return Matrix(gears.torques(b, tree, [b.let(product[k] + end.joint[k] * x[k]) for k in range(tree.n)]))


def _stiffness(
    b: Program,
    tree: Tree,
    e: Node,
    own: list[Wrench],
    sign: int,
    h: Any,
    gravity: Any,
    wrench: Any,
) -> _Stiffness:
    """Stiffness of one end: `own` are the columns C S of the step wrench's coupling there, sign +1 at the start."""
    half_square = b.let(h * h / 2)
    q = []
    for k in range(tree.n):
        w, v = e.at.screw[k]
        moved = b.let(cross(w, e.x1[k]) + e.m[k] * v)
        pull = b.let(half_square * cross(moved, gravity))
        q.append((b.let(-own[k][0] - pull), b.let(-own[k][1])))
    signed = b.let(sign * h)
    hz = [(b.let(signed * part[0]), b.let(signed * part[1])) for part in e.z]
    hN = [(b.let(signed * part[0]), b.let(signed * part[1])) for part in e.N]
    external = None
    if wrench is not None:
        external = b.let(-half_square * wrenches.torque_gradient(b, tree, e.at, wrench))
    return _Stiffness(e.at.screw, q, hz, hN, e.U, external)


def blocks(b: Program, tree: Tree, gravity: Any, plant: Plant, e0: Node, e1: Node, pd1: Any, h: Any) -> Blocks:
    """Assemble `Blocks` at a start state and the end state it leads to; declares the inputs of friction."""
    n = tree.n
    A = [second_moment(b, e1.at.R[k], e1.at.o[k], e0.half, k) for k in range(n)]
    for k in range(n - 1, -1, -1):
        if tree.parents[k] >= 0:
            A[tree.parents[k]] = b.let(A[tree.parents[k]] + A[k])
    step = [Coupling(A[k], e0.x1[k], e1.x1[k], e0.m[k]) for k in range(n)]
    columns0 = [step[k].transposed.apply(b, e0.at.screw[k]) for k in range(n)]
    columns1 = [step[k].apply(b, e1.at.screw[k]) for k in range(n)]
    K0 = _stiffness(b, tree, e0, columns0, 1, h, gravity, plant.wrench)
    K1 = _stiffness(b, tree, e1, columns1, -1, h, gravity, plant.wrench)
    D = bilinear(b, tree, e0.at.screw, step, e1.at.screw, columns=columns1, rows=columns0)
    square = b.let(h * h / 2)
    K0, K1 = (
        replace(K, joint=[b.let(square * (plant.stiffness[i] + e.slope[i]) - plant.rotor[i]) for i in range(n)])
        for K, e in ((K0, e0), (K1, e1))
    )
    rotor = diagonal(list(plant.rotor))
    D, M0, M1 = (b.let(gears.folded(b, tree, block + rotor)) for block in (D, e0.M, e1.M))
    friction = friction_inputs(b, tree)
    slopes = friction.slopes(b, gears.rates(b, tree, pd1))
    slopes = gears.diagonal(b, tree, [h * slope for slope in slopes])
    return Blocks(D, K0, M0, K1, b.let(M1 + diagonal(slopes)), lagging(b, tree, friction, pd1, h))


@stored
def jacobian(tree: Tree) -> Program:
    """The six blocks of the 2n × 3n Jacobian of (p, pd, u) → (p_next, pd_next)."""
    n = tree.freedoms
    b = Program("joint_step_jacobian", "Jacobian of the joint-space step by the implicit function theorem.")
    h, s = link_jacobian.declare_blocks(b, tree)
    K1 = s.K1
    D = elimination.factors(b, s.D)
    M1 = elimination.factors(b, s.M1, symmetric=True)
    inverse = elimination.solve(b, D, Matrix.eye(n))
    dp_dp = b.let(-elimination.solve(b, D, s.K0))
    k, over = b.let(h * h / 2), b.let(1 / h)
    dp_dpd = b.let(h * b.let(inverse * s.M0))
    dp_du = b.let(k * inverse)
    # h M₁ δṗ₁ = −K₁ δp₁ − Dᵀ δp₀ − lag δṗ₀ + ½h² δu
    response = b.let(over * elimination.solve(b, M1, Matrix.eye(n), symmetric_result=True))
    dpd_dp = b.let(-response * b.let(K1 * dp_dp + s.D.T))
    carried = b.let(-response * b.let(K1 * inverse))
    dpd_dpd = b.let(h * b.let(carried * s.M0))
    if s.lag is not None:
        dpd_dpd = b.let(dpd_dpd - response * s.lag)
    dpd_du = b.let(k * b.let(carried + response))
    for name, value in (
        ("dp_next_dp", dp_dp), ("dp_next_dpd", dp_dpd), ("dp_next_du", dp_du),
        ("dpd_next_dp", dpd_dp), ("dpd_next_dpd", dpd_dpd), ("dpd_next_du", dpd_du),
    ):  # fmt: skip
        b.output(name, value)
    return b


@stored
def end_blocks(tree: Tree) -> Program:
    """The blocks D, K1 and M1, by which the end of a step answers to a residual."""
    b = Program("joint_step_blocks")
    _, s = link_jacobian.declare_blocks(b, tree)
    for key, value in (("D", s.D), ("K1", s.K1), ("M1", s.M1)):
        b.output(key, value)
    return b


@stored
def adjoint(tree: Tree) -> Program:
    """`begin` and `end` (nodes), pd_next and seeds p_next_bar, pd_next_bar → p_bar, pd_bar, u_bar, and the multipliers x of
    h F and y of h G, with which the derivative by anything else is −xᵀ ∂hF − yᵀ ∂hG."""
    b = Program("joint_step_adjoint", "Reverse derivative of the joint-space step: two transposed solves.")
    n = tree.freedoms
    begin, end, pd1 = b.input("begin", node_size(tree)), b.input("end", node_size(tree)), b.input("pd_next", n)
    h = b.scalar("h")
    _, body, gravity = model_inputs(b, tree)
    e0, e1 = (unpacked(b, tree, body, packed) for packed in (begin, end))
    s = blocks(b, tree, gravity, plant_inputs(b, tree), e0, e1, pd1, h)
    seed_p, seed_pd = b.input("p_next_bar", n), b.input("pd_next_bar", n)
    M1 = elimination.factors(b, s.M1, symmetric=True)
    y = b.let(elimination.solve(b, M1, seed_pd) * b.let(1 / h))
    D = elimination.factors(b, s.D)
    x = elimination.solve(b, D, b.let(seed_p - s.pull(b, tree, s.end, y)), transposed=True)
    b.output("p_bar", b.let(-s.pull(b, tree, s.start, x) - b.let(s.D * y)))
    pd_bar = b.let(h * b.let(s.M0 * x))
    b.output("pd_bar", pd_bar if s.lag is None else b.let(pd_bar - s.lag * y))
    b.output("u_bar", b.let(b.let(h * h / 2) * (x + y)))
    b.output("x", x)
    b.output("y", y)
    return b


@stored
def rate_system(tree: Tree) -> Program:
    """rhs → x = (∂G/∂ṗ₁)⁻¹ rhs at the end of a step, friction's slope included (the matrix is symmetric)."""
    n = tree.n
    b = Program("joint_step_rate_system", "Solve with the Jacobian of G.")
    p1, pd1, rhs = (b.input(k, n) for k in ("p_next", "pd_next", "rhs"))
    h = b.scalar("h")
    frames, body, _ = model_inputs(b, tree)
    plant = plant_inputs(b, tree)
    friction = friction_inputs(b, tree)
    at = pose(b, tree, frames, p1)
    M = joint_systems.inertia(b, tree, at, half_moments(b, tree, at, body), body, plant.rotor)
    slopes = [h * s for s in friction.slopes(b, pd1)]
    b.output("x", joint_systems.inertia_solve(b, tree, M, slopes, rhs))
    return b


@stored
def pose_system_transposed(tree: Tree) -> Program:
    """rhs → x = (∂hF/∂p₁)⁻ᵀ rhs; transposing exchanges the roles of start and end screws."""
    b = Program("joint_step_pose_system_transposed", "Solve with the transposed Jacobian of F.")
    p, p1, rhs = (b.input(k, tree.n) for k in ("p", "p_next", "rhs"))
    frames, body, _ = model_inputs(b, tree)
    plant = plant_inputs(b, tree)
    at0, at1 = pose(b, tree, frames, p), pose(b, tree, frames, p1)
    links = [C.transposed for C in link_couplings(b, tree, at1, half_moments(b, tree, at0, body), body)]
    factors = joint_systems.jacobian_factors(b, tree, at1.screw, links, at0.screw, plant.rotor)
    b.output("x", joint_systems.jacobian_solve(b, tree, factors, at1.screw, rhs))
    return b
