"""The joint-space step by two root finders, as a differentiable CasADi function, whatever constrains the robot."""

from __future__ import annotations

import math
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph.contact.constrained_step import equations
from diffpbd.codegen.graph.contact.contacts import rows_at
from diffpbd.codegen.graph.contact.unilateral import Unilateral
from diffpbd.codegen.graph.expressions.root import Root
from diffpbd.codegen.graph.model.model import Model, independent
from diffpbd.codegen.graph.step.joint_step import forwards, residuals

STATE: Final = ("p", "pd", "u", "h", "alpha")
NEXT: Final = ("p_next", "pd_next")
SLIPS: Final = ("limit.slip", "contact.slip")
MOST_OFF: Final = math.pi / 2 - 1
"""[rad] Turn of a step beside the mean rate of its ends: sin(turn) = h rate has its end within, every other root beyond."""

Equations = tuple[Any, Any, Any]


def stages(model: Model, acting: Unilateral, pose: Any, rate: Any, rho: Any) -> tuple[Equations, Equations]:
    """Both stages, (h F − A₀ᵀ Λ − h J₀ᵀ λ, g(p₁), rows) and (h G − A₁ᵀ Η − h J₁ᵀ γ, A₁ ṗ₁, rows), of the impulses of either:
    those of loops times h, and those of limits and contacts, whose rows have weights `rho`."""
    (L, B), (H, C), h = pose, rate, residuals(model).h
    F, closed, G, still = equations(model, L, H)
    return (
        (F - h * ca.mtimes(acting.pushes(False), B), closed, acting.rows(B, False, rho)),
        (G - h * ca.mtimes(acting.pushes(True), C), still, acting.rows(C, True, rho)),
    )


def symbols_of(model: Model) -> dict[str, Any]:
    """Arguments of a step."""
    sizes = dict.fromkeys(("p", "pd", "u"), model.tree.freedoms) | {"h": 1, "alpha": model.alpha.numel()}
    return {k: ca.MX.sym(k, sizes[k]) for k in STATE}


def solved(model: Model) -> ca.Function:
    """joint_step by a root finder of the pose stage for p_next and its impulses, and one of the rate stage: exact derivatives
    of any order; NaN where no root is found. The start is taken for closed."""
    model = independent(model)
    r, acting, tree = residuals(model), Unilateral(model), model.tree
    n, m, k = r.n, tree.rows, acting.count
    L, H, B, C, rho = (
        ca.SX.sym(name, size) for name, size in (("L", m), ("H", m), ("B", k), ("C", k), ("rho", acting.masses))
    )
    pose, rate = stages(model, acting, (L, B), (H, C), rho)
    known, guess = ca.vertcat(r.p, r.pd, r.u, r.h, r.alpha), r.p + r.h * r.pd
    begun = ca.substitute(ca.vertcat(guess, ca.SX(m, 1), acting.start(False)), r.p_next, guess)
    fixed = ca.vertcat(rho, acting.contacts.sign)
    held, turning = bool(m or k), [int(not tree.slides[joint]) for joint in tree.coordinates]
    deep = tree.deep and not held
    first = Root("pose", ca.vertcat(r.p_next, L, B), (known, fixed), pose, begun, turning if held else (), deep)
    still = ca.SX(n, 1) if m and not k else r.pd
    begun = ca.vertcat(still, ca.SX(m, 1), ca.substitute(acting.start(True), r.pd_next, r.pd))
    second = Root("rate", ca.vertcat(r.pd_next, H, C), (ca.vertcat(known, r.p_next), fixed), rate, begun, deep=deep)
    given = symbols_of(model)
    at, slips = ca.vertcat(*given.values()), list[int]()
    values = ca.MX(0, 1)
    if k:
        D = ca.substitute(ca.jacobian(r.F, r.p_next), r.p_next, r.p)
        weights = ca.substitute(acting.weights(D), r.p_next, guess)
        signs = ca.Function("signs", [known], [rows_at(model, r.p)["sign"]])(at)
        values = ca.vertcat(ca.Function("weights", [known, acting.contacts.sign], [weights])(at, signs), signs)
        before = known.numel() - len(model.entries)
        slips = [before + i for i, e in enumerate(model.entries) if e.name in SLIPS]
    p_next = first.root(at, values, slips)[:n]
    pd_next = second.root(ca.vertcat(at, p_next), values, slips)[:n]
    ends = [p_next, pd_next]
    if held:  # as the compiled step is judged
        refused = ca.Function("outside", [known], [acting.outside()])(at) < 0
        led = given["h"] * (given["pd"] + pd_next) / 2
        off = ca.mmax(ca.DM(turning) * ca.fabs(p_next - given["p"] - led))
        refused = ca.logic_or(refused, ca.logic_not(off <= MOST_OFF))
        ends = [ca.if_else(refused, ca.DM.nan(n, 1), end) for end in ends]
    ends = [forwards(given["h"], end) for end in ends]
    return ca.Function("joint_step", list(given.values()), ends, list(STATE), list(NEXT))
