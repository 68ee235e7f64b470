"""Exact derivatives of the joint-space step by the implicit function theorem.

With F(p₁; p₀, ṗ₀, u) = 0 and G(ṗ₁; p₁, p₀, u) = 0 of `joint_space` (both multiplied by h), the blocks ∂(F, G) need no
differentiation of a solver: `link_jacobian` assembles them in O(n²). Because F and G come from one discrete Lagrangian,
∂G/∂p₀ = (∂F/∂p₁)ᵀ, and ∂F/∂p₀ and ∂G/∂p₁ are symmetric but for the change of the momentum M(p) ṗ. Deep trees never
form these blocks: `tree_jacobian`.
"""

from __future__ import annotations

from diffpbd.codegen.joint_space.links import link_jacobian
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
