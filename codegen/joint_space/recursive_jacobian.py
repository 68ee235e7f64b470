"""Exact Jacobian of inverse dynamics, assembled in O(n²) from mass moments.

When joint k moves by δp, everything it carries turns with its screw S_k. A common rigid motion changes no power S·f, so
what is left are the parts that do not turn along: with V, a the link's twist and spatial acceleration (gravity taken off),
N_k = V_k × S_k and E_k = a_k × S_k − N_k × V_k, the wrench of a carried link changes by

    δf = S_k ×* f + I E_k + 2B N_k        (by position),        δf = 2 I N_k + 2B S_k        (by rate),

where 2B maps a twist (ν, ·) to the wrench of the accelerations 2 ν × ẋ of the mass points: with A = ∫ ẋ xᵀ dm and
q = ∫ ẋ dm it is 2 (tr A ν − A ν, ν × q). All three are sums over subtrees. That the result equals CasADi's algorithmic
differentiation of `recursive.inverse_dynamics` is a test. (Singh, Russell and Wensing 2022 give the same in body axes.)
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from diffpbd.codegen.joint_space.moments import (
    add,
    bilinear,
    couplings,
    first_moment,
    half_moments,
    motion_cross,
    pairing,
    pose,
    second_moment,
)
from diffpbd.codegen.joint_space.recursive import accelerations, inertial_wrench, model_inputs, velocities
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, skew
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree

Pair = tuple[Any, Any]


@stored
def inverse_dynamics_jacobian(tree: Tree) -> Program:
    """p, pd, pdd → u and du_dp, du_dpd, M (n × n each) of the rigid body."""
    n = tree.n
    b = Program("inverse_dynamics_jacobian", "Inverse dynamics and its Jacobian by position, rate and acceleration.")
    p, pd, pdd = (b.input(k, n) for k in ("p", "pd", "pdd"))
    frames, body, gravity = model_inputs(b, tree)
    at = pose(b, tree, frames, p)
    half = half_moments(b, tree, at, body)
    V = velocities(b, tree, at, pd)
    acc = accelerations(b, tree, at, pd, pdd, V)
    wrench = [inertial_wrench(b, at.R[i], at.o[i], half, body, i, V[i], acc[i], gravity) for i in range(n)]
    flow = []
    for i in range(n):
        turned = b.let(skew(V[i][0]) * at.R[i])
        moved = b.let(cross(V[i][0], at.o[i]) + V[i][1])
        flow.append([second_moment(b, turned, moved, half, i), first_moment(b, turned, moved, body, i)])
    for i in range(n - 1, -1, -1):
        if tree.parents[i] >= 0:
            wrench[tree.parents[i]] = add(b, wrench[tree.parents[i]], wrench[i])
            flow[tree.parents[i]] = [b.let(x + y) for x, y in zip(flow[tree.parents[i]], flow[i], strict=True)]
    inertia = couplings(b, tree, at, half, body, symmetric_moment=True)
    U = [inertia[k].apply(b, at.screw[k]) for k in range(n)]
    dp = [[sp.Integer(0)] * n for _ in range(n)]
    dpd = [[sp.Integer(0)] * n for _ in range(n)]
    N, E = _turning(b, tree, at.screw, V, [(a[0], b.let(a[1] - gravity)) for a in acc])
    pull = [_pulled(b, flow[k], at.screw[k]) for k in range(n)]
    for deep in range(n):
        S = at.screw[deep]
        by_p = _sum(
            b, _force_cross(b, S, wrench[deep]), inertia[deep].apply(b, E[deep]), _swept(b, flow[deep], N[deep])
        )
        twice = inertia[deep].apply(b, N[deep])
        by_pd = _sum(b, (2 * twice[0], 2 * twice[1]), _swept(b, flow[deep], S))
        for j in tree.ancestors(deep):
            dp[j][deep] = pairing(b, at.screw[j], by_p)
            dpd[j][deep] = pairing(b, at.screw[j], by_pd)
            if j != deep:
                dp[deep][j] = b.let(pairing(b, U[deep], E[j]) + _inner(b, pull[deep], N[j][0]))
                dpd[deep][j] = b.let(2 * pairing(b, U[deep], N[j]) + _inner(b, pull[deep], at.screw[j][0]))
    b.output("u", Matrix([pairing(b, at.screw[i], wrench[i]) for i in range(n)]))
    b.output("du_dp", Matrix(dp))
    b.output("du_dpd", Matrix(dpd))
    b.output("M", bilinear(b, tree, at.screw, inertia, at.screw, columns=U))
    return b


def _turning(
    b: Program, tree: Tree, screw: list[Pair], V: list[Pair], acc: list[Pair]
) -> tuple[list[Pair], list[Pair]]:
    """N = V × S and E = a × S − N × V of every joint; acc with gravity taken off."""
    N = [motion_cross(b, V[k], screw[k]) for k in range(tree.n)]
    E = []
    for k in range(tree.n):
        turn, drag = motion_cross(b, acc[k], screw[k]), motion_cross(b, N[k], V[k])
        E.append((b.let(turn[0] - drag[0]), b.let(turn[1] - drag[1])))
    return N, E


def _force_cross(b: Program, S: Pair, f: Pair) -> Pair:
    """S ×* f: how a wrench changes when it moves along with the twist S."""
    return b.let(cross(S[0], f[0]) + cross(S[1], f[1])), b.let(cross(S[0], f[1]))


def _swept(b: Program, flow: list[Any], twist: Pair) -> Pair:
    """2B applied to a twist."""
    A, q = flow
    v = twist[0]
    return b.let(2 * b.let(v * A.trace() - A * v)), b.let(2 * b.let(cross(v, q)))


def _pulled(b: Program, flow: list[Any], S: Pair) -> Any:
    """The angular part of (2B)ᵀ S; the linear part is zero."""
    A, q = flow
    return b.let(2 * b.let(S[0] * A.trace() - A.T * S[0] + cross(q, S[1])))


def _inner(b: Program, x: Any, y: Any) -> Any:
    return b.let((x.T * y)[0, 0])


def _sum(b: Program, *pairs: Pair) -> Pair:
    total = pairs[0]
    for pair in pairs[1:]:
        total = add(b, total, pair)
    return total
