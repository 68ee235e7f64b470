"""Kernels of contacts for templates/step/constrained_step.c: rows at a pose, their derivatives, the law, rebounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from diffpbd.codegen.graph.contact import rebounds
from diffpbd.codegen.graph.contact.contacts import Contacts, across, slid
from diffpbd.codegen.graph.expressions.translate import graph_of
from diffpbd.codegen.graph.model import alike
from diffpbd.codegen.graph.model.model import Model, Prepared
from diffpbd.codegen.graph.step.joint_step import kernel_graph
from diffpbd.codegen.joint_space.contact import contacts


@dataclass(frozen=True)
class Share:
    """Contacts that one text is for: all of a robot, or one of those that are alike (`alike`), whose numbers are `own`, and
    `prepared_own` of the prepared model. `suffix` is that of kernels' names."""

    model: Model
    prepared: Prepared
    suffix: str = ""
    own: Mapping[str, Any] = field(default_factory=dict)
    prepared_own: Mapping[str, Any] = field(default_factory=dict)

    def graph(self, name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> ca.Function:
        """A kernel, which has the prepared model and the contact's numbers too."""
        given = {**inputs, "alpha": self.model.alpha, "model": self.prepared.symbols, **self.own}
        return graph_of(name + self.suffix, given, outputs)


def kernels(model: Model, prepared: Prepared) -> list[ca.Function]:
    """Kernels for a model with contacts."""
    made = [law(model), *rebounds.kernels(model)]
    if not alike.many(model):
        return [*made, *_touching(Share(model, prepared))]
    for k, (whole, part) in enumerate(zip(alike.kinds(model), alike.kinds(prepared.model), strict=True)):
        one = dataclasses.replace(prepared, model=part.model)
        made += _touching(Share(whole.model, one, f"_{k}", {"numbers": whole.numbers}, {"numbers": part.numbers}))
    return [*made, numbers_parameters(model)]


def _touching(s: Share) -> list[ca.Function]:
    made = [touch(s, False), touch(s, True), directions(s), touch_slopes(s), touch_curvature(s), touch_parameters(s)]
    return [*made, slid_kernel(s)] if s.model.tree.base else made


def touch(s: Share, ending: bool) -> ca.Function:
    """Gaps and rows J at a pose (row by row); at the start of a step also the signs of normals."""
    program = contacts.rows(s.model.tree, ending=ending)
    f = kernel_graph(program, ("touch" if ending else "touch_start") + s.suffix, s.prepared, s.prepared_own)
    inputs = {k: ca.SX.sym(k, *f.size_in(k)) for k in f.name_in()}
    outputs = dict(zip(f.name_out(), f.call(list(inputs.values())), strict=True))
    return graph_of(f.name(), inputs, {**outputs, "J": outputs["J"].T})


def directions(s: Share) -> ca.Function:
    """Directions of impulses in world axes at a pose."""
    return kernel_graph(contacts.directions(s.model.tree), f"directions{s.suffix}", s.prepared, s.prepared_own)


def law(model: Model) -> ca.Function:
    """alpha → `IN_CONE` of every contact, and its lever arms of torsional and rolling friction if there are any (numbers
    × contacts)."""
    return graph_of("law", {"alpha": model.alpha}, {"law": model.blocks["contact_law"]})


def touch_slopes(s: Share) -> ca.Function:
    """Rows at the start of a step (a row after the other) → what the rates of the pose stage change by with its end: J₀ and J₁
    over 2 h, and how the tangents at the end turn."""
    t = Contacts(s.model)
    r, first = t.r, ca.SX.sym("first", t.r.n, t.count)
    slides = across(t.tree) * slid(t.tree, first.T, t.last, started(s.model, r.p), r.p_next, r.h)
    given = {"p": r.p, "p_next": r.p_next, "sign": t.sign, "first": first, "h": r.h}
    return s.graph("touch_slopes", given, {"slopes": ca.jacobian(slides, r.p_next).T})


def touch_curvature(s: Share) -> ca.Function:
    """Impulses → ∂(J₀ᵀ λ)/∂p₀, ∂(J₁ᵀ γ)/∂p₁, and derivatives of the rates of either stage by poses, a row after the other."""
    t = Contacts(s.model)
    r, push, push_rate = t.r, ca.SX.sym("push", t.count), ca.SX.sym("push_rate", t.count)
    outputs = {
        "C0": ca.jacobian(ca.mtimes(t.first.T, push), r.p),
        "C1": ca.jacobian(ca.mtimes(t.last.T, push_rate), r.p_next),
        "S0": ca.jacobian(t.slid, r.p).T,
        "S1": ca.jacobian(t.slid, r.p_next).T,
        "R1": ca.jacobian(t.rates, r.p_next).T,
    }
    given = {"p": r.p, "p_next": r.p_next, "pd_next": r.pd_next, "sign": t.sign, "push": push, "push_rate": push_rate}
    return s.graph("touch_curvature", {**given, "h": r.h}, outputs)


def touch_parameters(s: Share) -> ca.Function:
    """Multipliers x, y of both stages, impulses, and seeds on rates, gaps and laws → gradient by alpha and h."""
    t = Contacts(s.model)
    r, c = t.r, len(t.tree.contacts)
    sizes = {"push": t.count, "push_rate": t.count, "slid_bar": t.count, "rates_bar": t.count}
    sizes |= {"x": r.n, "y": r.n, "gap_bar": c, "law_bar": t.law.numel()}
    own = {k: ca.SX.sym(k, size) for k, size in sizes.items()}
    total = r.h * ca.dot(own["push"], ca.mtimes(t.first, own["x"]))
    total += r.h * ca.dot(own["push_rate"], ca.mtimes(t.last, own["y"]))
    total += ca.dot(own["slid_bar"], t.slid) + ca.dot(own["rates_bar"], t.rates)
    total += ca.dot(own["gap_bar"], t.gap) + ca.dot(own["law_bar"], ca.vec(t.law))
    pulled = ca.gradient(total, ca.vertcat(r.alpha, r.h))
    alpha_bar, h_bar = ca.vertsplit(pulled, [0, r.alpha.numel(), r.alpha.numel() + 1])
    given = {"p": r.p, "p_next": r.p_next, "pd_next": r.pd_next, "sign": t.sign}
    given |= {k: own[k] for k in ("x", "y", "push", "push_rate", "slid_bar", "rates_bar", "gap_bar", "law_bar")}
    bars = {"alpha_bar": alpha_bar, "h_bar": h_bar}
    bars |= {f"{k}_bar": ca.gradient(total, v) for k, v in s.own.items()}
    return s.graph("touch_parameters", {**given, "h": r.h}, bars)


def numbers_parameters(model: Model) -> ca.Function:
    """Adjoint of alpha from that of the numbers of contacts (see `alike`)."""
    found = alike.table(model, alike.kinds(model))
    bar = ca.SX.sym("numbers_bar", *found.shape)
    pulled = ca.gradient(ca.dot(bar, found), model.alpha)
    return graph_of("numbers_parameters", {"numbers_bar": bar, "alpha": model.alpha}, {"alpha_bar": pulled})


def slid_kernel(s: Share) -> ca.Function:
    """`slid` from rows that are known, a row after the other; 0 along normals."""
    n, count = s.model.tree.freedoms, s.model.tree.contact_rows
    p, p_next, h = ca.SX.sym("p", n), ca.SX.sym("p_next", n), ca.SX.sym("h")
    first, last = ca.SX.sym("first", n, count), ca.SX.sym("last", n, count)
    rates = across(s.model.tree) * slid(s.model.tree, first.T, last.T, started(s.model, p), p_next, h)
    given = {"p": p, "p_next": p_next, "first": first, "last": last, "h": h}
    return graph_of(f"slid{s.suffix}", given, {"rates": rates})


def started(model: Model, p: Any) -> Any:
    """The start of a step: there a floating base is at zero."""
    return ca.vertcat(ca.SX(6, 1), p[6:]) if model.tree.base else p
