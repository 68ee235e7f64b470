"""Pieces of problems in which every pose is unknown: one step's balances and one state's constraints, as sparse graphs.

`momentum_residual` (xi, u, h, alpha, xi_next, impulse, impulse_next, p_ref) and `state_residual` (xi, alpha) are zero along
every trajectory of `step`; a problem maps them over its steps and states. The runtime differentiates what they are mapped
from.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca

from diffpbd.codegen.functions import DOCS
from diffpbd.codegen.graph.expressions.translate import inline
from diffpbd.codegen.graph.functions.derivatives import Spec
from diffpbd.codegen.graph.functions.maximal import blocks
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.method import transcription
from diffpbd.codegen.program.notation import ROWS, STATE

__all__ = ["specs"]


def specs(model: Model) -> Iterator[Spec]:
    """The two functions of a model with independent joints and massive links."""
    n = model.robot.n
    known = {**blocks(model), "gravity": model.blocks["gravity"], "rotor": model.blocks["rotor"]}
    known = {name: value for name, value in known.items() if name != "limit"}
    xi, xi_next = ca.SX.sym("xi", STATE * n), ca.SX.sym("xi_next", STATE * n)
    u, h = ca.SX.sym("u", n), ca.SX.sym("h")
    impulse, impulse_next = ca.SX.sym("impulse", ROWS * n), ca.SX.sym("impulse_next", ROWS * n)
    own = {"xi": xi, "u": u, "h": h, "xi_next": xi_next, "impulse": impulse, "impulse_next": impulse_next}
    own["p_ref"] = ca.SX.sym("p_ref", n)
    balance = inline(transcription.momentum_residual(model.tree), {**known, **own})["balance"]
    names = ("xi", "u", "h", "alpha", "xi_next", "impulse", "impulse_next", "p_ref")
    arguments = [model.alpha if name == "alpha" else own[name] for name in names]
    yield _spec("momentum_residual", names, arguments, "balance", balance)
    residual = inline(transcription.state_residual(model.tree), {"xi": xi, "joint": known["joint"]})["residual"]
    yield _spec("state_residual", ("xi", "alpha"), [xi, model.alpha], "residual", residual)


def _spec(name: str, names: tuple[str, ...], arguments: list[ca.SX], output: str, value: ca.SX) -> Spec:
    graph = ca.Function(name, arguments, [ca.densify(value)], list(names), [output], {"cse": True})
    return Spec(name, DOCS[name], graph)
