"""Impulses of distant unilateral rows, explicit from β ∘ σ = κ e: Newton's method needs no slope of them."""

from __future__ import annotations

from diffpbd.codegen.joint_space.contact.cones import closing, contact_inputs, contact_pair, smoothing
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.store import stored


@stored
def distant_side() -> Program:
    """rate, gap, h, load, slip → the impulse β (`found`) of a distant row, −dβ/dσ (`slope`), and σ itself (`opening`); valid if
    σ > 0."""
    b = Program("distant_side", "Impulse of a distant unilateral row.")
    rate, gap, h, load, slip = (b.scalar(name) for name in ("rate", "gap", "h", "load", "slip"))
    inverse = b.let(1 / closing(rate, gap, h))
    impulse = b.let(smoothing(load, slip, h) * inverse)
    b.output("found", impulse)
    b.output("slope", impulse * inverse)
    b.output("opening", closing(rate, gap, h))
    return b


@stored
def distant(frictional: bool) -> Program:
    """Impulse (it counts where the contact gives way), rates, gap, h, law → the impulse (`found`) of a contact that is far
    apart, λ of β = κ σ⁻¹ with σ⁻¹ = (σ₀, −σ̄)/det σ the inverse in the Jordan algebra; a bound of what it changes by with the
    closing rate gₙ and the rates across, κ (1 + μ²)/gₙ² (`slope`); and gₙ (`opening`), above 0 where the two hold."""
    b = Program("distant" if frictional else "smooth_distant", "Impulse of a distant contact.")
    impulse, rate, gap, h, law = contact_inputs(b, frictional)
    c = contact_pair(impulse, rate, gap, h, law)
    normal, friction = b.let(c.normal), c.friction
    kappa, inverse = b.let(c.kappa), b.let(1 / normal)
    if frictional:
        sliding, ratio = b.let(c.sigma[0] - c.normal / friction), b.let(normal / friction)
        det = b.let(ratio * (ratio + 2 * sliding) + c.slip**2)  # σ₀² − ‖v‖²
        share = b.let(kappa / det)
        found = Matrix([share * (ratio + sliding) / friction, -share * rate[1], -share * rate[2]])
        slope = kappa * (1 + friction**2) * inverse * inverse
    else:
        found, slope = Matrix([kappa * inverse]), kappa * inverse * inverse
    b.output("found", b.let(found - c.B.inv() * c.beta.subs(dict.fromkeys(impulse, 0))))
    b.output("slope", b.let(slope))
    b.output("opening", normal)
    return b
