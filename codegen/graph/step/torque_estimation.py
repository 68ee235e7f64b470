"""Torque estimation: what the emitted Gauss–Newton loop needs to know of a robot besides the step and its Jacobian.

The loss over the N steps of a window is

    L = 1/(n N) Σ_t  λ₁ ‖p_t − p̂_t‖² + λ₂ Σ_i ‖ω_i,t − ω̂_i,t‖² + λ₃ ‖u_t − u_{t−1}‖²,

p_t, ω_t at the end of step t; for a slide, whose motion ω does not show, (ṗ − ṗ̂)² stands beside the ω term with the same
weight. The residuals are p, these rates, and u; only the rates are functions of the state that have to be derived.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from diffpbd.codegen.graph.expressions.gears import gears_of
from diffpbd.codegen.graph.expressions.translate import graph_of, inline
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.joint_space import link_rates
from diffpbd.codegen.laws import forces
from diffpbd.codegen.program.program import Program


def kernels(model: Model) -> list[ca.Function]:
    """`rates` (p, pd, alpha → rates) and `rates_jacobian` (with ∂/∂p and ∂/∂ṗ), for templates/torque/torque_estimation.h; where
    friction of a step depends on the rates at its start, `friction` (pd_start, pd, alpha → torque).

    p and pd are those of the coordinates; the rates are those of every link, and of every slide, followers included.
    """
    return [
        _kernel(model, "rates", link_rates.link_rates(model.tree)),
        _kernel(model, "rates_jacobian", link_rates.link_rates_jacobian(model.tree)),
        *([_friction(model)] if model.tree.friction else []),
    ]


def _friction(model: Model) -> ca.Function:
    gears = gears_of(model.robot)
    own = {k: ca.SX.sym(k, gears.n) for k in ("pd_start", "pd")}
    program = forces.friction_kick_program(model.robot.n, model.tree.friction)
    given = {k: gears.rates(own[k]) if k in own else model.blocks[k] for k in program.inputs}
    torque = gears.torques(inline(program, given)["torque"])
    return graph_of("friction", {**own, "alpha": model.alpha}, {"torque": torque})


def _kernel(model: Model, name: str, program: Program) -> ca.Function:
    gears = gears_of(model.robot)
    own: dict[str, Any] = {k: ca.SX.sym(k, gears.n) for k in ("p", "pd")}
    every = {"p": gears.positions(own["p"]), "pd": gears.rates(own["pd"])}
    values = inline(program, {k: every[k] if k in every else model.blocks[k] for k in program.inputs})
    outputs = {k: gears.columns(v) if k.startswith("drates_d") else v for k, v in values.items()}
    return graph_of(name, {**own, "alpha": model.alpha}, outputs)
