"""Unilateral rows (joint limits, contacts with friction) as smooth equations of one form.

An impulse β and the rate σ at which its gap opens lie in a cone, and their product vanishes: β ≥ 0, σ ≥ 0, β σ = 0 of a limit,
and of a contact with friction μ (De Saxcé 1998) β = (μ λₙ, λₜ), σ = (gₙ/μ + ‖v‖, v) in the second-order cone. Smoothed, it is

    β ∘ σ = κ e,        β = P(β − ρ σ),        P(z) = (z + √(z ∘ z + 4 ρ κ e))/2,

∘ the Jordan product and e = (1, 0, 0) (in one dimension both are ordinary), ρ > 0 any mass: it changes the path of an
iteration, not its end. The smoothing is physical: with κ = LOAD · (h/2) · SLIP, what carries LOAD creeps at SLIP.

Newton's method on the row r = β − P(β − ρ σ) needs no differentiation. b = P(z) solves b ∘ b − z ∘ b = ρ κ e, so with
w = 2 b − z and L(x) y = x ∘ y the derivative is P′(z) = L(w)⁻¹ L(b), and 1 − P′(z) = P′(−z) = L(w)⁻¹ L(c) with c = P(−z) > 0:

    δβ = −x − G δσ,        x = L(c)⁻¹ (w ∘ r),        G = ρ L(c)⁻¹ L(b).

Nothing cancels: c is computed as P is, with the other form of the root where z > 0. At a solution the second equation is the
exact derivative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.description.robot.contact_law import IN_CONE
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
    """P(z) on the second-order cone of two dimensions or more, k = ρ κ > 0.

    The eigenvalues of √(z ∘ z + 4 k e) are s₊ and s₋, the roots of (z₀ ± ‖z̄‖)² + 4 k; q = s₊ s₋ and Γ = s₊ + s₋ are smooth.
    """
    square, across = b.let(z[0] * z[0]), b.let(sum(z[i] * z[i] for i in range(1, len(z))))
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
    return Matrix([first, *(b.let(z[i] * share) for i in range(1, len(z)))])


def closing(rate: Any, gap: Any, h: Any) -> Any:
    """σ of a gap that opens at `rate`; in the pose stage rate = 0."""
    return rate + 2 * gap / h


def smoothing(load: Any, slip: Any, h: Any) -> Any:
    """κ of one dimension."""
    return load * slip * h / 2


@stored
def side() -> Program:
    """β, rate, gap, ρ, h, load, slip → `row` r, `x` and `G`."""
    b = Program("side", "A unilateral row: residual, and its terms of Newton's method.")
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
    b = Program("side_parameters", "Gradient of a unilateral impulse by its parameters.")
    pull, beta, rate, gap, h, load, slip = (
        b.scalar(name) for name in ("pull", "beta", "rate", "gap", "h", "load", "slip")
    )
    kappa = b.let(smoothing(load, slip, h))  # β/κ is 1/σ, without the rounding of the gap
    weight = sp.Dummy("weight", real=True)
    total = pull * h * beta + weight * (smoothing(load, slip, h) - beta * closing(rate, gap, h))
    for name, symbol in (("h_bar", h), ("load_bar", load), ("slip_bar", slip), ("gap_bar", gap)):
        b.output(name, sp.diff(total, symbol).subs(weight, b.let(pull * h * beta / kappa)))
    return b


LAW: Final = len(IN_CONE)
"""Numbers of a contact's law."""


@dataclass(frozen=True)
class _Contact:
    """β and σ of a contact as expressions of its impulse λ (normal, and two across with friction), the rates against each other
    (the normal one without what closes the gap), gap, step and law; B of β = B λ."""

    beta: Any
    sigma: Any
    kappa: Any
    B: Any
    normal: Any
    """gₙ, by which the gap closes."""
    friction: Any
    slip: Any


def contact_pair(impulse: Any, rate: Any, gap: Any, h: Any, law: Any) -> _Contact:
    """De Saxcé's pair; without friction the normal's alone."""
    friction, compliance, load, slip = (law[IN_CONE.index(name)] for name in ("friction", "compliance", "load", "slip"))
    normal = closing(rate[0], gap + 2 * compliance * impulse[0] / h, h)
    if len(impulse) == 1:
        beta, kappa, B = Matrix(impulse), smoothing(load, slip, h), Matrix([[1]])
        return _Contact(beta, Matrix([normal]), kappa, B, normal, friction, slip)
    sliding = sp.sqrt(rate[1] ** 2 + rate[2] ** 2 + slip**2)
    beta = Matrix([friction * impulse[0], impulse[1], impulse[2]])
    kappa = 2 * friction * smoothing(load, slip, h)
    sigma, B = Matrix([normal / friction + sliding, rate[1], rate[2]]), Matrix(sp.diag(friction, 1, 1))
    return _Contact(beta, sigma, kappa, B, normal, friction, slip)


@dataclass(frozen=True)
class _Cone:
    """Row r, x and G of δβ = −x − G δσ."""

    row: Any
    x: Any
    G: Any


def _cone(b: Program, beta: Any, sigma: Any, rho: Any, k: Any) -> _Cone:
    """β − P(β − ρ σ) in one dimension or three, k = ρ κ."""
    frictional, z = len(beta) == 3, b.let(beta - rho * sigma)
    onto: Any = projected_cone if frictional else (lambda b, z, k: Matrix([projected(b, z[0], k)]))
    inner, outer = onto(b, z, k), onto(b, b.let(-z), k)
    row, root = b.let(beta - inner), b.let(inner + outer)
    if frictional:
        pressed, columns = _product(b, root, row), [b.let(rho * Matrix(a)) for a in _arrows(inner)]
    else:
        pressed, columns = b.let(Matrix([root[0] * row[0]])), [b.let(rho * inner)]
    x, *found = [_divided(b, outer, y) for y in (pressed, *columns)]
    return _Cone(row, x, Matrix.hstack(*found))


def contact_inputs(b: Program, frictional: bool) -> tuple[Any, Any, Any, Any, Any]:
    """Impulse, rates, gap, h and law of a contact."""
    size = 3 if frictional else 1
    return (
        list(b.input("impulse", size)), list(b.input("rate", size)), b.scalar("gap"), b.scalar("h"),
        list(b.input("law", LAW)),
    )  # fmt: skip


def _given(b: Program, expression: Any) -> Any:
    return b.let(Matrix(expression) if isinstance(expression, sp.MatrixBase) else expression)


@stored
def contact(frictional: bool) -> Program:
    """Impulse, rates (the normal one 0 in the pose stage), gap, h, law, ρ → `row`, and δλ = −`x` − `G` δ(closing rate, rates
    across), the closing rate N ṗ + 2 φ/h."""
    b = Program(
        "contact" if frictional else "smooth_contact",
        "Rows of a contact: residual, and their terms of Newton's method.",
    )
    impulse, rate, gap, h, law = contact_inputs(b, frictional)
    rho, size = b.scalar("rho"), len(impulse)
    c = contact_pair(impulse, rate, gap, h, law)
    own = _cone(b, _given(b, c.beta), _given(b, c.sigma), rho, b.let(rho * c.kappa))
    x, G = own.x, own.G
    # σ by the rates (the normal one at work is what closes the gap), and by the impulse where the contact gives way
    by = b.let(Matrix(size, size, lambda i, j: sp.diff(c.sigma[i], rate[j])))
    give = b.let(sp.diff(c.sigma[0], impulse[0]))
    B = c.B
    yielding = b.let(give * G[:, 0])
    inverse = b.let(1 / (B[0, 0] + yielding[0]))

    def solved(y: Any) -> Any:
        """(B + G ∂σ/∂λ)⁻¹ y."""
        first = b.let(y[0] * inverse)
        return [first, *(y[i] - yielding[i] * first for i in range(1, size))]

    b.output("row", own.row)
    b.output("x", b.let(Matrix(solved(x))))
    b.output("G", b.let(Matrix.hstack(*[Matrix(solved(y)) for y in (b.let(G * by).col(j) for j in range(size))])))
    return b


@stored
def apart() -> Program:
    """The row of a contact in two: its normal by itself, and friction with an unknown ψ in place of gₙ/μ + ‖v‖, monotone but
    for the bound μ λₙ. Impulse, ψ, rates, gap, h, law, ρ → `rows` (4), δλ = −`x` − `G` δ(closing rate, rates across) and
    δψ = −`x_psi` − `G_psi` of the same."""
    b = Program("apart", "Rows of a contact, normal and friction apart.")
    impulse, psi, rate = list(b.input("impulse", 3)), b.scalar("psi"), list(b.input("rate", 3))
    gap, h, law, rho = b.scalar("gap"), b.scalar("h"), list(b.input("law", LAW)), b.scalar("rho")
    alone, c = contact_pair(impulse[:1], rate[:1], gap, h, law), contact_pair(impulse, rate, gap, h, law)
    k, friction = b.let(rho * alone.kappa), c.friction
    z = b.let(alone.beta[0] - rho * alone.sigma[0])
    inner, outer = projected(b, z, k), projected(b, b.let(-z), k)
    row = b.let(alone.beta[0] - inner)
    give = b.let(1 / (1 + rho * inner / outer * sp.diff(alone.sigma[0], impulse[0])))
    x, G = b.let((inner + outer) * row / outer * give), b.let(rho * inner / outer * give)
    beta = _given(b, c.beta)
    first = _cone(b, beta, Matrix([psi, *rate[1:]]), rho, b.let(rho * c.kappa))
    inverse = b.let(1 / first.G[0, 0])
    lean = b.let(first.G[1:, 0] * inverse)
    b.output("rows", Matrix([row, *first.row]))
    b.output("x", Matrix([x, *b.let(first.x[1:, 0] + lean * (friction * x - first.x[0]))]))
    across = b.let(first.G[1:, 1:] - lean * first.G[0, 1:])
    pushed = b.let(lean * friction * G)
    b.output("G", b.let(Matrix([[G, 0, 0], [pushed[0], *across[0, :]], [pushed[1], *across[1, :]]])))
    b.output("x_psi", b.let((first.x[0] - friction * x) * inverse))
    b.output("G_psi", b.let(Matrix([-friction * G, *first.G[0, 1:]]) * inverse))
    return b


@stored
def contact_parameters(frictional: bool) -> Program:
    """`pull` · dλ by the rates, the gap at given coordinates, h and the law, λ as β ∘ σ = κ e makes it: `rate_bar`, `gap_bar`,
    `h_bar`, `law_bar`."""
    b = Program("contact_parameters" if frictional else "smooth_contact_parameters", "Gradient of a contact's impulse.")
    impulse, rate, gap, h, law = contact_inputs(b, frictional)
    size = len(impulse)
    pull = b.input("pull", size)
    c = contact_pair(impulse, rate, gap, h, law)
    beta, kappa = _given(b, c.beta), b.let(c.kappa)
    # At a solution δβ = (β/κ) δκ − Q δσ/κ, Q = 2 β βᵀ − det β diag(1, −1, −1): σ itself has the rounding of the gap.
    det = b.let(beta[0] ** 2 - sum(x**2 for x in beta[1:])) if frictional else b.let(beta[0] ** 2)
    G = b.let(
        Matrix(size, size, lambda i, j: (2 * beta[i] * beta[j] + ((-det if i == 0 else det) if i == j else 0)) / kappa)
    )
    yielding = b.let(sp.diff(c.sigma[0], impulse[0]) * G[:, 0])
    across = sum((yielding[i] * pull[i] for i in range(1, size)), sp.Integer(0))
    first = b.let((pull[0] - across) / (c.B[0, 0] + yielding[0]))
    weight = Matrix([first, *pull[1:]])
    by_kappa = b.let(sum((weight[i] * beta[i] for i in range(size)), sp.Integer(0)) / kappa)
    by_sigma = b.let(-(G.T * weight))
    # λ itself stays as it is here: what moves is what else β, σ and κ are made of.
    total = by_kappa * c.kappa + sum((by_sigma[i] * c.sigma[i] for i in range(size)), sp.Integer(0))
    total = total - sum((weight[i] * c.beta[i] for i in range(size)), sp.Integer(0))

    def gradient(symbols: Any) -> Any:
        return Matrix([b.let(sp.diff(total, s)) for s in symbols])

    b.output("rate_bar", gradient(rate))
    b.output("gap_bar", gradient([gap]))
    b.output("h_bar", gradient([h]))
    b.output("law_bar", gradient(law))
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
    if len(c) == 1:
        return b.let(Matrix([y[0] / c[0]]))
    inverse = b.let(1 / c[0])
    along = b.let((c[1] * y[1] + c[2] * y[2]) * inverse)
    size = b.let(1 / (c[0] - (c[1] * c[1] + c[2] * c[2]) * inverse))
    first = b.let((y[0] - along) * size)
    return Matrix([first, b.let((y[1] - first * c[1]) * inverse), b.let((y[2] - first * c[2]) * inverse)])
