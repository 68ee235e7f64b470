"""Both stages of a step in contact as equations in its end and impulses, constraints of a transcription.

    R₁ = (h F − h A₀ᵀ λ − h J₀ᵀ (λₙ, λₜ),  g(p₁),    β − P(β − ρ σ)),    β = (μ λₙ, λₜ),
    R₂ = (h G − h A₁ᵀ η − h J₁ᵀ (γₙ, γₜ),  A₁ ṗ₁,    γ − P(γ − ρ σ)),    γ = (μ γₙ, γₜ).

Impulses of joint limits are appended to those of contacts, and their scalar rows precede the contacts'. Both residuals
vanish for `joint_step`. With ends and impulses as unknowns an optimizer needs no inner iterations, and can lower
`contact.slip` from solve to solve.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca

from diffpbd.codegen.functions import DOCS
from diffpbd.codegen.graph.contact.unilateral import Unilateral
from diffpbd.codegen.graph.expressions.translate import graph_of
from diffpbd.codegen.graph.functions.derivatives import Spec
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.graph.solved.solved_step import stages
from diffpbd.codegen.graph.step.joint_step import residuals


def specs(model: Model) -> Iterator[Spec]:
    """`contact_residual`, of a robot with contacts."""
    r, acting, m = residuals(model), Unilateral(model, known=True), model.tree.rows
    stops, pushes = len(acting.sides), acting.contacts.count
    impulses: dict[str, Any] = {}
    for kind, size in (("loop", m), ("limit", stops), ("contact", pushes)):
        impulses |= {f"{kind}_impulse{end}": ca.SX.sym(kind + end, size) for end in ("", "_next")}
    loops, acted = (
        [ca.vertcat(*(impulses[f"{kind}_impulse{end}"] for kind in kinds)) for end in ("", "_next")]
        for kinds in (("loop",), ("limit", "contact"))
    )
    pose, rate = stages(model, acting, (r.h * loops[0], acted[0]), (r.h * loops[1], acted[1]), acting.loads())
    inputs = {"p": r.p, "pd": r.pd, "u": r.u, "h": r.h, "alpha": r.alpha, "p_next": r.p_next, "pd_next": r.pd_next}
    inputs |= {k: v for k, v in impulses.items() if v.numel()}
    outputs = {"pose_residual": ca.vertcat(*pose), "rate_residual": ca.vertcat(*rate)}
    yield Spec("contact_residual", DOCS["contact_residual"], graph_of("contact_residual", inputs, outputs))
