"""Restitution: what a step takes off the closing rates of contacts that bounce in it.

A contact that would close within the step is followed to its impact and on, at the normal acceleration −g of the start
without contacts: from gap φ and approach v, for t = 2 φ/(v + c) to the impact at c = √(v² + 2 g φ), then away at e c for
r = h − t, to the gap a = e c r − g r²/2 and the rate b = e c − g r. Where the pose stage asks for a gap of a instead of 0 and
the rate stage for a rate of b beside it, a ball's bounces are exact, and so is what the time of an impact does to all after
it. In closing rates

    pose stage  g_n = 2 (φ₁ − a)/h,        rate stage  g_n = N ṗ₁ − b + 2 (φ₁ − a)/h.

One that would land again in the step stays (a = b = 0). One that does not close yet is left alone by the rate stage, which
without restitution takes half a step ahead what would close in it: b = −(v + g h).
"""

from __future__ import annotations

from typing import Any, Final

import casadi as ca

from diffpbd.codegen.graph.contact.contacts import normals, rows_at
from diffpbd.codegen.graph.expressions.translate import graph_of
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.graph.step.joint_step import on_hinges

SEEN: Final = 3
"""Numbers of a contact at the start of a step: gap [m], approach [m/s], acceleration of the approach [m/s²]."""

NEAR: Final = 20.0
"""[1] Gap over what it closes by in the step, beyond which it is no matter what the rate stage takes ahead."""


def entries(model: Model) -> list[int]:
    """Place in alpha of every contact's restitution; −1: it has none."""
    where = {entry.name: k for k, entry in enumerate(model.entries)}
    return [where.get(f"contact.restitution.{pair.sphere.law}", -1) for pair in model.robot.pairs]


def bounces(model: Model) -> bool:
    """Whether any contact has restitution."""
    return any(k >= 0 for k in entries(model))


def rebound(gap: Any, approach: Any, pull: Any, e: Any, h: Any) -> tuple[Any, Any]:
    """Losses of the closing rate [m/s] in the pose stage and in the rate stage."""
    gap = ca.fmax(gap, 0)
    free, last = gap - h * approach - h * h / 2 * pull, approach + h * pull
    square = approach**2 + 2 * pull * gap
    hits = ca.logic_and(free < 0, ca.logic_and(approach > 0, square > 0))
    impact = ca.sqrt(ca.if_else(hits, square, 1))
    left = h - 2 * gap / ca.if_else(hits, approach + impact, 1)
    out = e * impact
    lifted, leaving = out * left - pull * left**2 / 2, out - pull * left
    hops = ca.logic_and(hits, lifted > 0)
    near = ca.logic_and(free >= 0, ca.logic_and(last > 0, free < NEAR * h * last))
    pose = ca.if_else(hops, 2 * lifted / h, 0)
    return pose, ca.if_else(hops, leaving, 0) + pose - ca.if_else(near, last, 0)


def seen(model: Model, p: Any, pd: Any, u: Any) -> Any:
    """`SEEN` of every contact, 3 × contacts."""
    at = rows_at(model, p)
    N = at["J"][normals(model.tree)[:-1], :]
    closing = ca.mtimes(N, pd)
    push = on_hinges(p, u) if model.tree.base else u
    pdd = Graphs(model).forward_dynamics(p, pd, push)
    pull = ca.mtimes(N, pdd) + ca.jtimes(closing, p, pd)
    return ca.horzcat(at["gap"], -closing, -pull).T


def shifts(model: Model, p: Any, pd: Any, u: Any, h: Any) -> Any:
    """`rebound` of every contact (2 × contacts), 0 where it has no restitution or that is 0."""
    if not bounces(model):
        return ca.SX(2, len(model.tree.contacts))
    found, columns = seen(model, p, pd, u), list[Any]()
    for k, entry in enumerate(entries(model)):
        if entry < 0:
            columns.append(ca.SX(2, 1))
            continue
        e = model.alpha[entry]
        columns.append(ca.if_else(e > 0, ca.vertcat(*rebound(found[0, k], found[1, k], found[2, k], e, h)), 0))
    return ca.horzcat(*columns)


def kernels(model: Model) -> list[ca.Function]:
    """`approach`, its gradient, and `rebound` with its slopes (2 × 5, by what it is given)."""
    if not bounces(model):
        return []
    n, c = model.tree.freedoms, len(model.tree.contacts)
    given = {k: ca.SX.sym(k, n) for k in ("p", "pd", "u")} | {"alpha": model.alpha}
    found = seen(model, given["p"], given["pd"], given["u"])
    bar = ca.SX.sym("seen_bar", SEEN, c)
    total = ca.dot(bar, found)
    bars = {f"{k}_bar": ca.gradient(total, v) for k, v in given.items()}
    at, e, h = ca.SX.sym("seen", SEEN), ca.SX.sym("e"), ca.SX.sym("h")
    shift = ca.vertcat(*rebound(at[0], at[1], at[2], e, h))
    return [
        graph_of("approach", given, {"seen": found}),
        graph_of("approach_parameters", given | {"seen_bar": bar}, bars),
        graph_of(
            "rebound", {"seen": at, "e": e, "h": h},
            {"shift": shift, "slopes": ca.jacobian(shift, ca.vertcat(at, e, h))},
        ),
    ]  # fmt: skip
