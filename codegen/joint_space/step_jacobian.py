"""Exact derivatives of the joint-space step by the implicit function theorem.

With F(p₁; p₀, ṗ₀, u) = 0 and G(ṗ₁; p₁, p₀, u) = 0 of `joint_space` (both multiplied by h), the blocks ∂(F, G) need no
differentiation of a solver: `link_jacobian` assembles them in O(n²). Because F and G come from one discrete Lagrangian,
∂G/∂p₀ = (∂F/∂p₁)ᵀ, and ∂F/∂p₀ and ∂G/∂p₁ are symmetric but for the change of the momentum M(p) ṗ. Deep trees solve the
same systems along the tree.
"""

from __future__ import annotations

from diffpbd.codegen.joint_space import link_jacobian
from diffpbd.codegen.joint_space import systems as joint_systems
from diffpbd.codegen.joint_space.friction import friction_inputs
from diffpbd.codegen.joint_space.moments import (
    half_moments,
    link_couplings,
    pose,
)
from diffpbd.codegen.joint_space.recursive import model_inputs
from diffpbd.codegen.joint_space.step import plant_inputs
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree


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
def rate_system(tree: Tree) -> Program:
    """rhs → x = (∂G/∂ṗ₁)⁻¹ rhs at the end of a step, friction's slope included (the matrix is symmetric)."""
    n = tree.n
    b = Program("joint_step_rate_system", "Solve with the Jacobian of G.")
    p1, pd1, rhs = (b.input(k, n) for k in ("p_next", "pd_next", "rhs"))
    h = b.scalar("h")
    frames, body, _ = model_inputs(b, tree)
    plant = plant_inputs(b, tree)
    friction = friction_inputs(b, tree, h)
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
