"""Derivatives of the plain functions: jac_NAME, jac_alpha_NAME and vjp_NAME.

Short trees get Jacobians as expressions: assembled from mass moments where there is a way (inverse dynamics), by the
implicit function theorem (forward dynamics), else by CasADi. For deep trees such expressions would grow with the square
of the number of joints; there a Jacobian is a loop over the reverse mode with unit seeds, whose code grows linearly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from diffpbd.codegen.functions import DOCS, alpha_doc, jac_doc, vjp_doc
from diffpbd.codegen.graph.expressions.translate import graph_of
from diffpbd.codegen.graph.functions.functions import Graphs, Pairs
from diffpbd.codegen.graph.model import alike
from diffpbd.codegen.graph.step.joint_step import solve
from diffpbd.codegen.joint_space import recursive

STATE_AND_ALPHA = (
    "inverse_dynamics", "forward_dynamics", "gravity", "tip_pose", "loop_residual", "contact_gap", "contact_jacobian",
    "deflection_next",
)  # fmt: skip
"""Functions with jac_, jac_alpha_ and vjp_."""
REVERSE_ONLY = ("fk", "joint_state")
"""Functions with vjp_ only."""


@dataclass(frozen=True)
class Spec:
    """One function: `graph` has the argument names of the catalogue."""

    name: str
    doc: str
    graph: ca.Function


@dataclass(frozen=True)
class RowSpec:
    """A function whose Jacobian is computed row by row, with a reverse run per unit seed.

    `inputs` and `bars` (the gradients that a reverse run gives) are names with sizes, `seeds` the outputs with sizes. The
    function's outputs are `values` (of the function `of`), then d<output>_d<input> for every seed and every input in
    `columns`, or the one output `plain`. Reverse runs are calls of vjp_<of>, or of `graph` (inputs, seed → the one bar).
    """

    name: str
    doc: str
    of: str
    inputs: tuple[tuple[str, int], ...]
    seeds: tuple[tuple[str, int], ...]
    bars: tuple[tuple[str, int], ...]
    columns: tuple[str, ...]
    values: tuple[tuple[str, int, int], ...] = ()
    graph: ca.Function | None = None
    plain: str | None = None


def specs(graphs: Graphs, wanted: Callable[[str], bool] = lambda _name: True) -> Iterator[Spec | RowSpec]:
    """Every plain function of a model, each followed by its derivatives; only `wanted` ones are derived."""
    always = graphs.model.tree.deep or graphs.tangent is not None
    for name, inputs, outputs in graphs.values():
        yield Spec(name, DOCS[name], graph_of(name, dict(inputs), outputs))
        if name in STATE_AND_ALPHA and any(wanted(f"{kind}_{name}") for kind in ("jac", "jac_alpha", "vjp")):
            by_rows = always or (name.startswith("contact_") and alike.many(graphs.model))
            yield from (_by_rows if by_rows else _assembled)(graphs, name, inputs, outputs)
        elif name in REVERSE_ONLY:
            yield _vjp(graphs, name, inputs, outputs)
    if graphs.model.tree.deep:
        yield _regressor_rows(graphs)


def _assembled(graphs: Graphs, name: str, inputs: Pairs, outputs: Mapping[str, Any]) -> Iterator[Spec]:
    if name == "forward_dynamics":
        yield from _forward(graphs, inputs, outputs)
        return
    if name == "inverse_dynamics":
        jac = _told_apart(graphs, outputs, graphs.inverse_jacobian(graphs.p, graphs.pd, graphs.pdd))
    else:
        jac = dict(outputs)
        for out, value in outputs.items():
            for by, variable in inputs:
                if by not in ("h", "alpha"):
                    jac[f"d{out}_d{by}"] = ca.jacobian(ca.vec(ca.SX(value)), variable)
    yield Spec(f"jac_{name}", jac_doc(name), graph_of(f"jac_{name}", dict(inputs), jac))
    by_alpha = {f"d{out}_dalpha": ca.jacobian(ca.vec(ca.SX(v)), graphs.alpha) for out, v in outputs.items()}
    yield Spec(f"jac_alpha_{name}", alpha_doc(name), graph_of(f"jac_alpha_{name}", dict(inputs), by_alpha))
    yield _vjp(graphs, name, inputs, outputs)


def _told_apart(graphs: Graphs, outputs: Mapping[str, Any], jac: Mapping[str, Any]) -> dict[str, Any]:
    """The Jacobian of the tree's torques, split into motor torques and remainders of joints without a motor."""
    if "unbalanced" not in outputs:
        return {**jac, "u": outputs["u"]}
    motors, found = graphs.motors, dict(outputs)
    for out, share in (("u", motors), ("unbalanced", 1 - motors)):
        for by in ("p", "pd", "pdd"):
            found[f"d{out}_d{by}"] = ca.mtimes(ca.diag(share), jac[f"du_d{by}"])
    return found


def _forward(graphs: Graphs, inputs: Pairs, outputs: Mapping[str, Any]) -> Iterator[Spec]:
    """By the implicit function theorem: M δp̈ = δu − ∂(inverse dynamics), at p̈ = forward dynamics."""
    n = graphs.gears.n
    at = outputs["pdd"]
    jac = graphs.inverse_jacobian(graphs.p, graphs.pd, at)
    M = jac["du_dpdd"]
    response = solve(M, ca.densify(ca.horzcat(-jac["du_dp"], -jac["du_dpd"], ca.SX.eye(n))), symmetric=True)
    parts = ca.horzsplit(response, n)
    named = {"pdd": at, "dpdd_dp": parts[0], "dpdd_dpd": parts[1], "dpdd_du": parts[2]}
    name = "forward_dynamics"
    yield Spec(f"jac_{name}", jac_doc(name), graph_of(f"jac_{name}", dict(inputs), named))
    pdd = ca.SX.sym("pdd", n)
    torque = graphs.inverse_dynamics(graphs.p, graphs.pd, pdd)

    def here(expression: Any) -> Any:
        return ca.substitute(expression, pdd, at)

    by_alpha = solve(M, ca.densify(here(-ca.jacobian(torque, graphs.alpha))), symmetric=True)
    yield Spec(
        f"jac_alpha_{name}", alpha_doc(name), graph_of(f"jac_alpha_{name}", dict(inputs), {"dpdd_dalpha": by_alpha})
    )
    seed, w = ca.SX.sym("pdd_bar", n), ca.SX.sym("w", n)
    by = ca.vertcat(graphs.p, graphs.pd, graphs.u, graphs.alpha)
    pulled = ca.gradient(ca.dot(w, graphs.u) - ca.dot(w, torque), by)
    pulled = ca.substitute(here(pulled), w, solve(M, seed, symmetric=True))
    bars = ca.vertsplit(pulled, [0, n, 2 * n, 3 * n, 3 * n + graphs.alpha.numel()])
    named = dict(zip(("p_bar", "pd_bar", "u_bar", "alpha_bar"), bars, strict=True))
    yield Spec(f"vjp_{name}", vjp_doc(name), graph_of(f"vjp_{name}", dict([*inputs, ("pdd_bar", seed)]), named))


def _by_rows(graphs: Graphs, name: str, inputs: Pairs, outputs: Mapping[str, Any]) -> Iterator[Spec | RowSpec]:
    yield _vjp(graphs, name, inputs, outputs)
    sizes = tuple((k, v.numel()) for k, v in inputs)
    bars = tuple((k, graphs.gears.n if k == "p" else size) for k, size in sizes)
    seeds = tuple((k, ca.SX(v).numel()) for k, v in outputs.items())
    values = tuple((k, *ca.SX(v).shape) for k, v in outputs.items())
    state = tuple(k for k, _ in inputs if k not in ("h", "alpha"))
    yield RowSpec(f"jac_{name}", jac_doc(name), name, sizes, seeds, bars, state, values)
    yield RowSpec(f"jac_alpha_{name}", alpha_doc(name), name, sizes, seeds, bars, ("alpha",))


def _regressor_rows(graphs: Graphs) -> RowSpec:
    """Row j of the regressor is the gradient of joint j's torque by the inertial parameters of the links."""
    n, gears = graphs.model.robot.n, graphs.gears
    body, seed = ca.SX.sym("body", 10, n), ca.SX.sym("u_bar", gears.n)
    motion = {"p": gears.positions(graphs.p), "pd": gears.rates(graphs.pd), "pdd": gears.rates(graphs.pdd)}
    program = recursive.inverse_dynamics(graphs.model.tree)
    torque = gears.torques(graphs.program(program, **motion, body=body)["u"])
    row = ca.substitute(ca.jtimes(torque, ca.vec(body), seed, True), ca.vec(body), ca.DM.zeros(10 * n))
    inputs = [("p", graphs.p), ("pd", graphs.pd), ("pdd", graphs.pdd), ("alpha", graphs.alpha)]
    graph = graph_of("regressor", dict([*inputs, ("u_bar", seed)]), {"row": row})
    sizes = tuple((k, v.numel()) for k, v in inputs)
    bars = (("body", 10 * n),)
    return RowSpec(
        "regressor", DOCS["regressor"], "regressor", sizes, (("u", gears.n),), bars, ("body",), graph=graph, plain="Y"
    )


def _vjp(graphs: Graphs, name: str, inputs: Pairs, outputs: Mapping[str, Any]) -> Spec:
    """vjp_NAME by CasADi's reverse mode."""
    seeds = {f"{out}_bar": ca.SX.sym(f"{out}_bar", *ca.SX(value).shape) for out, value in outputs.items()}
    bars = {}
    for by, variable in inputs:
        terms = [
            ca.jtimes(ca.vec(ca.SX(v)), variable, ca.vec(s), True)
            for v, s in zip(outputs.values(), seeds.values(), strict=True)
        ]
        total = sum(terms[1:], terms[0])
        along = by == "p" and graphs.tangent is not None
        bars[f"{by}_bar"] = ca.mtimes(graphs.tangent.T, total) if along else total
    return Spec(f"vjp_{name}", vjp_doc(name), graph_of(f"vjp_{name}", dict([*inputs, *seeds.items()]), bars))
