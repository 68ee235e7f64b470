"""Both stages of a step in contact as equations in its end and impulses: what a transcription takes as constraints.

    R₁ = (h F − h A₀ᵀ λ − h J₀ᵀ (λₙ, λₜ),  g(p₁),    β − P(β − ρ σ)),    β = (μ λₙ, λₜ),
    R₂ = (h G − h A₁ᵀ η − h J₁ᵀ (γₙ, γₜ),  A₁ ṗ₁,    γ − P(γ − ρ σ)),    γ = (μ γₙ, γₜ).

Where joints have limits their impulses stand beside those of contacts, and their rows of one dimension in front of these. Both
vanish along `joint_step`. An optimizer that has ends and impulses as unknowns meets no iteration inside, and may lower
`contact.slip` from solve to solve.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca

from diffpbd.codegen.functions import DOCS
from diffpbd.codegen.graph import rebounds
from diffpbd.codegen.graph.constrained_step import Closed
from diffpbd.codegen.graph.derivatives import Spec
from diffpbd.codegen.graph.joint_step import residuals
from diffpbd.codegen.graph.model import Model
from diffpbd.codegen.graph.sided import Sided
from diffpbd.codegen.graph.touched import WEIGHT, Touched
from diffpbd.codegen.graph.translate import graph_of


def specs(model: Model) -> Iterator[Spec]:
    """`contact_residual`, of a robot with contacts."""
    r, touched, m = residuals(model), Touched(model), model.tree.rows
    push, push_rate = (ca.SX.sym(k, touched.count) for k in ("push", "push_rate"))
    L, H = (ca.SX.sym(k, m) for k in ("L", "H"))
    F, G, still = r.F, r.G, [ca.SX(0, 1), ca.SX(0, 1)]
    if m:
        closed = Closed(model)
        _, A0 = closed.rows(r.p)
        g, A1 = closed.rows(r.p_next)
        F, G, still = F - r.h * ca.mtimes(A0.T, L), G - r.h * ca.mtimes(A1.T, H), [g, ca.mtimes(A1, r.pd_next)]
    lost = rebounds.shifts(model, r.p, r.pd, r.u, r.h)
    pose, pressed = touched.pose(push, r.p, r.p_next, r.h, lost=lost[0, :])
    rate, held = touched.rate(push_rate, r.p, r.p_next, r.pd_next, r.h, lost=lost[1, :])
    limits, count = Sided(model), 2 * len(model.tree.limits)
    stop, stop_rate, masses = (
        *(ca.SX.sym(k, count) for k in ("stop", "stop_rate")),
        ca.SX.ones(count) * limits.load / WEIGHT,
    )
    pressed, held = pressed + ca.mtimes(limits.push, stop), held + ca.mtimes(limits.push, stop_rate)
    stopped = [
        ca.vertcat(*limits.limit_rows(b, last, masses), ca.SX(0, 1)) for b, last in ((stop, False), (stop_rate, True))
    ]
    inputs = {"p": r.p, "pd": r.pd, "u": r.u, "h": r.h, "alpha": r.alpha, "p_next": r.p_next, "pd_next": r.pd_next}
    inputs |= {"loop_impulse": L, "loop_impulse_next": H} if m else {}
    inputs |= {"limit_impulse": stop, "limit_impulse_next": stop_rate} if count else {}
    inputs |= {"contact_impulse": push, "contact_impulse_next": push_rate}
    outputs = {
        "pose_residual": ca.vertcat(F - r.h * pressed, still[0], stopped[0], pose),
        "rate_residual": ca.vertcat(G - r.h * held, still[1], stopped[1], rate),
    }
    yield Spec("contact_residual", DOCS["contact_residual"], graph_of("contact_residual", inputs, outputs))
