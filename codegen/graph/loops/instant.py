"""Dynamics of closed loops at an instant as systems of equations: derivatives follow by the implicit function theorem.

With the unknowns z a system is r(z, y) = 0, linear in z, and what is asked for is o(z, y):

    forward    z = (p̈, f)   M p̈ − Aᵀ f = u − c − friction,  A p̈ = −Ȧ ṗ;        o = p̈
    inverse    z = (x, f)    S x + Aᵀ f = τ(p, ṗ, p̈),  A x = 0;                 o = (u, f, what is left)

In the inverse system x are all joints' torques with S the motors' where these are as many as freedoms or more (u = S x is the
least), else the remainders of joints without a motor, S = 1 among these. dz/dy = −K⁻¹ ∂r/∂y with K = ∂r/∂z.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from diffpbd.codegen.graph.contact.constrained_step import closed_rows
from diffpbd.codegen.graph.expressions.translate import graph_of
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.model.model import Model


@dataclass(frozen=True)
class System:
    """`name` of the function, `inputs` (alpha apart) and `outputs` by name, unknowns z and residual r, all expressions."""

    name: str
    inputs: Mapping[str, Any]
    alpha: Any
    z: Any
    r: Any
    outputs: Mapping[str, Any]

    def kernels(self) -> list[ca.Function]:
        """`system` (inputs, alpha, z → K, r, ∂r/∂y, o, ∂o/∂z, ∂o/∂y), `by_alpha` (→ ∂r/∂alpha, ∂o/∂alpha), and `pull` (with λ
        and seeds of o → gradients of o·seed − λ·r by the inputs and alpha), under names that begin with the function's."""
        y, o = ca.vertcat(*self.inputs.values()), ca.vertcat(*(ca.vec(ca.SX(v)) for v in self.outputs.values()))
        given = {**self.inputs, "alpha": self.alpha, "z": self.z}
        system = {
            "K": ca.jacobian(self.r, self.z), "r": self.r, "R": ca.jacobian(self.r, y), "o": o,
            "Z": ca.jacobian(o, self.z), "Y": ca.jacobian(o, y),
        }  # fmt: skip
        alone = {"R": ca.jacobian(self.r, self.alpha), "O": ca.jacobian(o, self.alpha)}
        multipliers, seed = ca.SX.sym("lambda", self.r.numel()), ca.SX.sym("seed", o.numel())
        pulled = ca.gradient(ca.dot(seed, o) - ca.dot(multipliers, self.r), ca.vertcat(y, self.alpha))
        ends = np.cumsum([0, *(v.numel() for v in self.inputs.values()), self.alpha.numel()]).tolist()
        bars = dict(zip((*self.inputs, "alpha"), ca.vertsplit(pulled, ends), strict=True))
        return [
            _function(f"{self.name}_system", given, system),
            _function(f"{self.name}_by_alpha", given, alone),
            _function(f"{self.name}_pull", {**given, "lambda": multipliers, "seed": seed}, bars),
        ]


def systems(model: Model, driven: list[int]) -> list[System]:
    """Forward and inverse dynamics; `driven` is 1 for every coordinate with a motor."""
    return [_forward(model), _inverse(model, driven)]


def _forward(model: Model) -> System:
    graphs = Graphs(model)
    p, pd, u, n = graphs.p, graphs.pd, graphs.u, model.tree.freedoms
    _, A = closed_rows(model, p)
    z = ca.SX.sym("z", n + A.shape[0])
    push = u + graphs.friction(pd) + graphs.pose_torque(p) - graphs.gears.torques(graphs.bias(p, pd))
    balance = ca.mtimes(graphs.mass_matrix(p), z[:n]) - ca.mtimes(A.T, z[n:]) - push
    turning = ca.mtimes(A, z[:n]) + ca.jtimes(ca.mtimes(A, pd), p, pd)
    inputs = {"p": p, "pd": pd, "u": u}
    return System("forward_dynamics", inputs, model.alpha, z, ca.vertcat(balance, turning), {"pdd": z[:n]})


def _inverse(model: Model, driven: list[int]) -> System:
    graphs = Graphs(model)
    p, pd, pdd, n = graphs.p, graphs.pd, graphs.pdd, model.tree.freedoms
    _, A = closed_rows(model, p)
    m = A.shape[0]
    torque = graphs.inverse_dynamics(p, pd, pdd)
    offset = ca.densify(ca.SX(graphs.gears.chosen(model.blocks["offset"])))
    motors = ca.DM(driven)
    ample = sum(driven) >= n - m + model.tree.redundant
    asked = list(range(n)) if ample else [k for k in range(n) if not driven[k]]
    z = ca.SX.sym("z", len(asked) + m)
    x, f = z[: len(asked)], z[len(asked) :]
    pull = ca.mtimes(A.T, f)
    share = ca.diag(motors) if ample else ca.DM.eye(len(asked))
    r = ca.vertcat(ca.mtimes(share, x) + pull[asked] - torque[asked], ca.mtimes(A[:, asked], x))
    u = motors * (x if ample else torque - pull)
    outputs = {"u": u + motors * offset, "loop_force": f, "unbalanced": torque - u - pull}
    return System("inverse_dynamics", {"p": p, "pd": pd, "pdd": pdd}, model.alpha, z, r, outputs)


def _function(name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> ca.Function:
    return graph_of(name, inputs, {f"{k}_bar" if k in inputs else k: v for k, v in outputs.items()})
