"""Friction of a contact against turning: a torque about its normal (torsional) and one across it (rolling).

Each is the torque of largest dissipation in a disc of its own, as sliding friction is the force: ‖m‖ ≤ r λₙ, against the
turning ω of the sphere's body on the other. With the impulse q = m/r and the rate w = r ω all contacts' rows have one unit.
Smoothed as sliding friction is, by the cone of `cones` with the length σ₀ = ψ an unknown of its own,

    (λₙ, q) ∘ (ψ, w) = κ e:    ψ = κ/(2 λₙ) + √((κ/(2 λₙ))² + ‖w‖²),    q = −λₙ w/ψ,    κ = LOAD · h · SLIP,

SLIP = r · slip: what carries LOAD creeps at `slip` rad/s. The normal impulse is that of the contact's cone; turning does not
act back on it, so that nothing is lifted and rows of a contact are solved one after the other.

Newton's method on the row q − b̄, b = P(z) and z = (λₙ − ρ ψ, q − ρ w), with P′(±z) = L(b + c)⁻¹ L(b or c), c = P(−z):

    δq = −x + lean δλₙ − G δw.
"""

from __future__ import annotations

from typing import Any, Final

import sympy as sp

from diffpbd.codegen.joint_space.contact.cones import projected_cone
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.store import stored

NAMES: Final = {1: "spun", 2: "rolled"}
"""Names of friction against turning, by its rows: about a contact's normal (one), across it (two)."""


def _law(b: Program, normal: Any, rate: Any, kappa: Any) -> tuple[Any, Any, Any]:
    """κ/λₙ, the root in ψ, and ψ."""
    a = b.let(kappa / normal)
    root = b.let(sp.sqrt(a * a / 4 + sum(x * x for x in rate)))
    return a, root, b.let(a / 2 + root)


def _by_root(b: Program, w: Any, det: Any, y: Any) -> Any:
    """Components behind the first of L(w)⁻¹ y."""
    inverse = b.let(1 / w[0])
    first = b.let((w[0] * y[0] - sum(w[i] * y[i] for i in range(1, len(w)))) / det)
    return b.let(Matrix([(y[i] - first * w[i]) * inverse for i in range(1, len(w))]))


def _solved(b: Program, A: Any, y: Any) -> Any:
    """A⁻¹ y of one row or two."""
    if len(y) == 1:
        return b.let(Matrix([y[0] / A[0, 0]]))
    inverse = b.let(1 / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]))
    return b.let(Matrix([(A[1, 1] * y[0] - A[0, 1] * y[1]) * inverse, (A[0, 0] * y[1] - A[1, 0] * y[0]) * inverse]))


@stored
def disc(size: int) -> Program:
    """λₙ > 0, q, w, h, load, slip, ρ → `row`, `x`, `lean`, `G`."""
    b = Program(NAMES[size], "Row of a contact's friction against turning, and what Newton's method needs of it.")
    normal, impulse, rate = b.scalar("normal"), list(b.input("impulse", size)), list(b.input("rate", size))
    h, load, slip, rho = (b.scalar(name) for name in ("h", "load", "slip", "rho"))
    kappa = b.let(load * slip * h)
    a, root, psi = _law(b, normal, rate, kappa)
    z = b.let(Matrix([normal - rho * psi, *(q - rho * w for q, w in zip(impulse, rate, strict=True))]))
    k = b.let(rho * kappa)
    inner, outer = projected_cone(b, z, k), projected_cone(b, b.let(-z), k)
    row = b.let(Matrix([q - x for q, x in zip(impulse, inner[1:], strict=True)]))
    square, rest = b.let(z[0] * z[0]), b.let(sum(z[i] * z[i] for i in range(1, size + 1)))
    root_of, det = b.let(inner + outer), b.let(sp.sqrt((square - rest) ** 2 + 8 * k * (square + rest) + 16 * k * k))
    leaning = _by_root(b, root_of, det, inner)
    units = [[int(i == j) for i in range(size)] for j in range(size)]

    def across(of: Any) -> Any:
        """The block of P′ behind its first row and column, a column for every component."""
        return Matrix.hstack(
            *[_by_root(b, root_of, det, [of[1 + j], *(of[0] * x for x in units[j])]) for j in range(size)]
        )

    A, straight = across(outer), across(inner)
    lean = b.let(leaning * b.let(1 + rho * psi * a / (2 * normal * root)))
    turning = b.let(rho * (straight + leaning * Matrix([[w / root for w in rate]])))
    b.output("row", row)
    b.output("x", _solved(b, A, row))
    b.output("lean", _solved(b, A, lean))
    b.output("G", Matrix.hstack(*[_solved(b, A, turning[:, j]) for j in range(size)]))
    return b


@stored
def disc_far(size: int) -> Program:
    """λₙ > 0, w, h, load, slip → q (`found`) as the law makes it, and a bound of what it changes by with w (`slope`)."""
    b = Program(f"{NAMES[size]}_far", "Friction against turning of a contact that is far apart.")
    normal, rate = b.scalar("normal"), list(b.input("rate", size))
    h, load, slip = (b.scalar(name) for name in ("h", "load", "slip"))
    _, _, psi = _law(b, normal, rate, b.let(load * slip * h))
    share = b.let(normal / psi)
    b.output("found", Matrix([-share * w for w in rate]))
    b.output("slope", share)
    return b


@stored
def disc_parameters(size: int) -> Program:
    """`pull` · dq by λₙ, w, h, load and slip, q as the law makes it: `normal_bar`, `rate_bar`, `h_bar`, `load_bar`, `slip_bar`.

    By q itself, w = −κ q/(λₙ² − ‖q‖²), and λₙ² − ‖q‖² = κ λₙ/ψ: nothing cancels."""
    b = Program(f"{NAMES[size]}_parameters", "Gradient of a contact's friction against turning.")
    normal, q, rate = b.scalar("normal"), list(b.input("impulse", size)), list(b.input("rate", size))
    h, load, slip = (b.scalar(name) for name in ("h", "load", "slip"))
    pull = list(b.input("pull", size))
    kappa = b.let(load * slip * h)
    _, _, psi = _law(b, normal, rate, kappa)
    share, inverse = b.let(normal / psi), b.let(1 / (normal * normal + sum(x * x for x in q)))
    along = b.let(sum(x * y for x, y in zip(q, pull, strict=True)) * inverse)
    by_kappa = b.let(-share * along)
    det = b.let(kappa * share)
    turned = [det * x * inverse for x in pull]
    if size == 2:  # across q what slides turns with w
        aside = b.let(2 * (q[0] * pull[1] - q[1] * pull[0]) * inverse)
        turned = [turned[0] - aside * q[1], turned[1] + aside * q[0]]
    b.output("normal_bar", 2 * normal * along)
    b.output("rate_bar", Matrix([-share * x for x in turned]))
    b.output("h_bar", by_kappa * load * slip)
    b.output("load_bar", by_kappa * slip * h)
    b.output("slip_bar", by_kappa * load * h)
    return b
