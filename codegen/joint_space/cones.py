"""What acts on one side only (a joint's limit, a contact with friction) as smooth equations, the same for all of them.

An impulse β and what it keeps from closing σ lie in a cone, and their product vanishes: β ≥ 0, σ ≥ 0, β σ = 0 of a limit, and
of a contact with friction μ (De Saxcé 1998) β = (μ λₙ, λₜ), σ = (gₙ/μ + ‖v‖, v) in the second-order cone. Smoothed, it is

    β ∘ σ = κ e,        β = P(β − ρ σ),        P(z) = (z + √(z ∘ z + 4 ρ κ e))/2,

∘ the Jordan product and e = (1, 0, 0) (in one dimension both are ordinary), ρ > 0 any mass: it changes the path of an
iteration, not its end. The smoothing is physical: with κ = LOAD · (h/2) · SLIP, what carries LOAD creeps at SLIP.

Newton's method on the row r = β − P(β − ρ σ) needs no differentiation. b = P(z) solves b ∘ b − z ∘ b = ρ κ e, so with
w = 2 b − z and L(x) y = x ∘ y the derivative is P′(z) = L(w)⁻¹ L(b), and 1 − P′(z) = P′(−z) = L(w)⁻¹ L(c) with c = P(−z) > 0:

    δβ = −x − G δσ,        x = L(c)⁻¹ (w ∘ r),        G = ρ L(c)⁻¹ L(b).

Nothing cancels: c is worked out as P is, where z > 0 by its other form. At a solution the second is the exact derivative.
"""

from __future__ import annotations

from typing import Any, Final

import sympy as sp

from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.selection import below
from diffpbd.codegen.program.store import stored

LIMIT_LOAD: Final = 5.0
"""[N·m or N] Default load under which what is held at a limit moves at SLIP: of the size of a small joint's torque."""


def projected(b: Program, z: Any, k: Any) -> Any:
    """P(z) in one dimension, k = ρ κ > 0."""
    low = b.let(below(z))
    half = b.let((sp.Abs(z) + sp.sqrt(z * z + 4 * k)) / 2)
    return b.let(low * k / half + (1 - low) * half)


def projected_cone(b: Program, z: Any, k: Any) -> Any:
    """P(z) on the second-order cone of three dimensions, k = ρ κ > 0.

    The eigenvalues of √(z ∘ z + 4 k e) are s₊ and s₋, the roots of (z₀ ± ‖z̄‖)² + 4 k; q = s₊ s₋ and Γ = s₊ + s₋ are smooth.
    """
    square, across = b.let(z[0] * z[0]), b.let(z[1] * z[1] + z[2] * z[2])
    D, both = b.let(square - across), b.let(square + across)
    e = b.let(8 * k * both + 16 * k * k)
    q = b.let(sp.sqrt(D * D + e))
    total = b.let(sp.sqrt(2 * (both + 4 * k) + 2 * q))
    size = b.let(sp.Abs(z[0]) + total / 2)
    inside = b.let(below(-D))
    near = b.let(inside * e / (q + sp.Abs(D)) + (1 - inside) * (q - D))  # q − D
    low = b.let(below(z[0]))
    first = b.let((1 - low) * size / 2 + low * (2 * k + near / 2) / (2 * size))
    share = b.let(2 * first / total)
    return Matrix([first, b.let(z[1] * share), b.let(z[2] * share)])


def closing(rate: Any, gap: Any, h: Any) -> Any:
    """σ of a gap that shrinks at −rate: what is left of both over a step; of the pose stage rate = 0."""
    return rate + 2 * gap / h


def smoothing(load: Any, slip: Any, h: Any) -> Any:
    """κ of one dimension."""
    return load * slip * h / 2


@stored
def side() -> Program:
    """β, rate, gap, ρ, h, load, slip → `row` r, `x` and `G`."""
    b = Program("side", "Row of what acts on one side, and what Newton's method needs of it.")
    beta, rate, gap, rho, h, load, slip = (
        b.scalar(name) for name in ("beta", "rate", "gap", "rho", "h", "load", "slip")
    )
    k = b.let(rho * smoothing(load, slip, h))
    z = b.let(beta - rho * closing(rate, gap, h))
    inner, outer = projected(b, z, k), projected(b, b.let(-z), k)
    row = b.let(beta - inner)
    b.output("row", row)
    b.output("x", (inner + outer) * row / outer)
    b.output("G", rho * inner / outer)
    return b


@stored
def side_parameters() -> Program:
    """`pull` · d(h β) by h, load, slip and the gap at given coordinates, β as β σ = κ makes it."""
    b = Program("side_parameters", "Gradient of the impulse of what acts on one side by its parameters.")
    pull, beta, rate, gap, h, load, slip = (
        b.scalar(name) for name in ("pull", "beta", "rate", "gap", "h", "load", "slip")
    )
    kappa = b.let(smoothing(load, slip, h))  # β/κ is 1/σ, without the rounding of the gap
    weight = sp.Dummy("weight", real=True)
    total = pull * h * beta + weight * (smoothing(load, slip, h) - beta * closing(rate, gap, h))
    for name, symbol in (("h_bar", h), ("load_bar", load), ("slip_bar", slip), ("gap_bar", gap)):
        b.output(name, sp.diff(total, symbol).subs(weight, b.let(pull * h * beta / kappa)))
    return b


@stored
def cone() -> Program:
    """β, σ (3 each), ρ, κ of a second-order cone → `row` (3), `x` (3) and `G` (3 × 3)."""
    b = Program("cone", "Row of a contact with friction, and what Newton's method needs of it.")
    beta, sigma = b.input("beta", 3), b.input("sigma", 3)
    rho, kappa = b.scalar("rho"), b.scalar("kappa")
    z, k = b.let(beta - rho * sigma), b.let(rho * kappa)
    inner, outer = projected_cone(b, z, k), projected_cone(b, b.let(-z), k)
    row, root = b.let(beta - inner), b.let(inner + outer)
    columns = [_product(b, root, row), *(b.let(rho * Matrix(arrow)) for arrow in _arrows(inner))]
    found = [_divided(b, outer, column) for column in columns]
    b.output("row", row)
    b.output("x", found[0])
    b.output("G", Matrix.hstack(*found[1:]))
    return b


def _product(b: Program, x: Any, y: Any) -> Any:
    """x ∘ y."""
    return b.let(
        Matrix([x[0] * y[0] + x[1] * y[1] + x[2] * y[2], x[0] * y[1] + y[0] * x[1], x[0] * y[2] + y[0] * x[2]])
    )


def _arrows(x: Any) -> list[Any]:
    """Columns of L(x)."""
    return [[x[0], x[1], x[2]], [x[1], x[0], 0], [x[2], 0, x[0]]]


def _divided(b: Program, c: Any, y: Any) -> Any:
    """L(c)⁻¹ y."""
    inverse = b.let(1 / c[0])
    along = b.let((c[1] * y[1] + c[2] * y[2]) * inverse)
    size = b.let(c[0] - (c[1] * c[1] + c[2] * c[2]) * inverse)
    first = b.let((y[0] - along) / size)
    return Matrix([first, b.let((y[1] - first * c[1]) * inverse), b.let((y[2] - first * c[2]) * inverse)])
