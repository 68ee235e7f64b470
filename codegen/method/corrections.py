"""The paper's correction of one joint: the Lagrange multiplier of its rows, and the corrections of its two bodies.

For rows c with gradient J by (dx, φ) of parent a and child b (paper: eqs. 7 and 14, here by differentiation, see `constraints`)
and weights W = diag(1/m, R I⁻¹ Rᵀ) (eq. 4, with the inertia turned from body to world axes)

    K = Σ_{a,b} J W Jᵀ        eqs. 8 and 15: generalized inverse masses
    λ = -K⁻¹ c                eqs. 5 and 13
    (dx, φ) = W Jᵀ λ          eqs. 6, 9 (positional), 12 and 16 (angular)
    q ← normalize(q + ½ [0, φ] ⊗ q)       eqs. 10 and 17

The default solves the rows of a joint as a block, K 3 x 3 or 2 x 2, and is smooth. The print has one multiplier for the length
‖c‖ (`SCALAR`): rows n·J with n = c/‖c‖, for c^A = a x b (three rows) the printed ∓n, where the derivative of ‖a x b‖ is n times
the cosine between the axes. At c = 0 that has a derivative along every direction d, -W Jᵀ d (d·d)/(d·K d), but no common one:
below `RESIDUAL_FLOOR` the direction fades, and at c = 0 values are zero and derivatives those for the mean of d·K d/(d·d) over
all d.

The third constraint of the paper, the limits, is one row per joint whose multiplier is projected (`limits.projected`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.method import limits
from diffpbd.codegen.method.bodies import adjugate
from diffpbd.codegen.method.constraints import (
    JointVectors,
    Residual,
    axis_cross,
    axis_tangents,
    gradient,
    joint_gap,
    slide_offsets,
    slide_orientation,
)
from diffpbd.codegen.method.kinematics import rotation, turned
from diffpbd.codegen.program.notation import (
    BODY,
    JOINT,
    LIMIT,
    POSE,
    POSE_POSITION,
    POSE_QUATERNION,
    JointNumbers,
    column,
    part,
)
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import dot, symmetric
from diffpbd.codegen.program.tree import Tree

WEIGHT: Final = 7
"""1/m, then I⁻¹ in link axes (6): the paper's W (eq. 4)."""
RESIDUAL_FLOOR: Final = sp.Float(1e-12)
"""[m or 1] Length below which `scalar` fades its direction c/|c| out, to be finite at c = 0; drift worth
correcting is far above it, rounding far below."""


class Multiplier(Enum):
    """How the rows of one joint are solved in a sweep."""

    BLOCK = "block"
    SCALAR = "scalar"


class Rows(Enum):
    """The three constraints of a joint, in the order in which they are closed."""

    POSITIONAL = "positional"
    ANGULAR = "angular"
    LIMIT = "limit"


@cache
def weight_kernel() -> Program:
    """Leaf: body (7) -> weight (7)."""
    program = Program("weight", "Inverse mass and inverse inertia of a body.")
    body = program.input("body", BODY)
    cofactors, reciprocal = adjugate(program, symmetric(body[1:, 0]))
    inverse = program.let(cofactors * reciprocal)
    upper = [inverse[i, j] for i in range(3) for j in range(i, 3)]
    program.output("weight", column(program.let(1 / body[0, 0]), *upper))
    return program


@cache
def weights(tree: Tree) -> Program:
    """Call program: body (7 n) -> weight (7 n)."""
    program = Program("sweep_weights", "Weights of every body, once a step.")
    body = program.input("body", BODY * tree.n)
    program.output(
        "weight",
        column(*(program.call(weight_kernel(), body=part(body, BODY, i))["weight"] for i in range(tree.n))),
    )
    return program


@dataclass(frozen=True)
class _Side:
    """One body of a joint in a correction: its rotation, weight, and the gradient of the rows by it."""

    R: Any
    inverse_mass: Any
    inverse_inertia: Any
    J_x: Any
    J_phi: Any


def residual_of(slide: bool, angular: bool, multiplier: Multiplier) -> Residual:
    """The rows of a correction."""
    if angular:
        if slide:
            return slide_orientation
        return axis_cross if multiplier is Multiplier.SCALAR else axis_tangents
    return slide_offsets if slide else joint_gap


@cache
def correction_kernel(slide: bool, angular: bool, multiplier: Multiplier) -> Program:
    """Leaf: correction of one joint's rows at two poses: `move_b` and `move_a` (dx, φ; 6 each)."""
    kind = f"{'slide' if slide else 'hinge'}_{'angular' if angular else 'positional'}_{multiplier.value}"
    program = Program(kind, "Correction of the rows of one joint.")
    joint = JointNumbers.of(program.input("joint", JOINT))
    at, weights_of = _two_bodies(program)
    w = JointVectors.at(program, joint, *at)
    residual = residual_of(slide, angular, multiplier)
    c = program.let(residual(w))
    J_a, J_b = (program.let(J) for J in gradient(residual, w))
    floor = sp.Integer(0)
    if multiplier is Multiplier.SCALAR:
        length = program.let(sp.sqrt(dot(c, c) + RESIDUAL_FLOOR**2))
        n = program.let(c / length)
        rank = 2 if angular != slide else 3
        floor = program.let(1 - dot(n, n)) * _mean(program, _sides(at, weights_of, J_a, J_b), rank)
        c = sp.Matrix([[length]])
        J_a, J_b = (program.let(n.T * J) for J in (J_a, J_b))
        if angular and not slide:  # as printed, not the derivative
            J_a, J_b = (sp.zeros(1, 3).row_join(sign * n.T) for sign in (-1, 1))
    sides = _sides(at, weights_of, J_a, J_b)
    K, weighted = _stiffness(program, sides, c.rows, floor)
    multipliers = program.let(_solve(program, K, -c))
    for key, move in zip(("move_b", "move_a"), _pushed(program, sides, weighted, multipliers), strict=True):
        program.output(key, move)
    return program


def _two_bodies(program: Program) -> tuple[tuple[Any, Any, Any, Any], list[Any]]:
    """Declares a joint's bodies: x_a, R_a, x_b, R_b, and the weights (7) of child and parent."""
    pose_b, weight_b = program.input("pose_b", POSE), program.input("weight_b", WEIGHT)
    R_b, x_b = rotation(program, pose_b[POSE_QUATERNION, 0]), pose_b[POSE_POSITION, 0]
    pose_a, weight_a = program.input("pose_a", POSE), program.input("weight_a", WEIGHT)
    R_a, x_a = rotation(program, pose_a[POSE_QUATERNION, 0]), pose_a[POSE_POSITION, 0]
    return (x_a, R_a, x_b, R_b), [weight_b, weight_a]


def _sides(at: tuple[Any, Any, Any, Any], weights_of: list[Any], J_a: Any, J_b: Any) -> list[_Side]:
    """Child and parent."""
    rotations, gradients = (at[3], at[1]), (J_b, J_a)
    return [
        _Side(R, w[0, 0], symmetric(w[1:, 0]), J[:, :3], J[:, 3:])
        for w, R, J in zip(weights_of, rotations, gradients, strict=True)
    ]


def _mean(program: Program, sides: list[_Side], rank: int) -> Any:
    """Mean of n·K n over all directions n of rows of this rank: trace(J W Jᵀ)/rank."""
    terms = []
    for side in sides:
        turned_rows = program.let(side.R.T * side.J_phi.T)
        weighted = program.let(side.inverse_inertia * turned_rows)
        terms += [
            side.inverse_mass * sum(e * e for e in side.J_x),
            *(turned_rows[k] * weighted[k] for k in range(len(weighted))),
        ]
    return program.let(program.let(sum(terms, sp.Integer(0))) / rank)


def _stiffness(program: Program, sides: list[_Side], m: int, floor: Any) -> tuple[Any, list[Any]]:
    """J W Jᵀ + floor (m x m), and I⁻¹ Jᵀ of both bodies in link axes."""
    turned_rows = [program.let(side.R.T * side.J_phi.T) for side in sides]
    weighted = [program.let(side.inverse_inertia * G) for side, G in zip(sides, turned_rows, strict=True)]

    def entry(i: int, j: int) -> Any:
        terms = [side.inverse_mass * dot(side.J_x[i, :], side.J_x[j, :]) for side in sides]
        terms += [dot(G[:, i], Z[:, j]) for G, Z in zip(turned_rows, weighted, strict=True)]
        return program.let(sum(terms, floor if i == j else sp.Integer(0)))

    upper = {(i, j): entry(i, j) for i in range(m) for j in range(i, m)}
    return sp.Matrix(m, m, lambda i, j: upper[min(i, j), max(i, j)]), weighted


def _pushed(program: Program, sides: list[_Side], weighted: list[Any], multipliers: Any) -> list[Any]:
    """W Jᵀ λ (6) of both bodies."""
    moves = []
    for side, Z in zip(sides, weighted, strict=True):
        dx = program.let(side.inverse_mass * (side.J_x.T * multipliers))
        phi = program.let(side.R * program.let(Z * multipliers))
        moves.append(column(dx, phi))
    return moves


def _solve(program: Program, K: Any, rhs: Any) -> Any:
    if K.rows == 1:
        return rhs / K[0, 0]
    if K.rows == 2:
        reciprocal = program.let(1 / program.let(K[0, 0] * K[1, 1] - K[0, 1] ** 2))
        return program.let(sp.Matrix([[K[1, 1], -K[0, 1]], [-K[0, 1], K[0, 0]]]) * rhs) * reciprocal
    cofactors, reciprocal = adjugate(program, K)
    return program.let(cofactors * rhs) * reciprocal


@cache
def limit_kernel(slide: bool) -> Program:
    """Leaf: correction of one joint's limits: `move_b`, `move_a` (6 each), and the joint's multiplier after it.

    The multiplier is accumulated over the corrections of the step. It is projected, not its change, so that a limit can
    reduce an excessive push; the applied correction is `factor` times this one.
    """
    kind = f"{'slide' if slide else 'hinge'}_limit"
    program = Program(kind, "Correction of the limits of one joint.")
    joint = JointNumbers.of(program.input("joint", JOINT))
    limit, angle, multiplier = program.input("limit", LIMIT), program.scalar("angle"), program.scalar("multiplier")
    factor = program.scalar("factor")
    at, weights_of = _two_bodies(program)
    p = limits.position(program, joint, slide, *at, angle)
    w = JointVectors.at(program, joint, *at)
    J_a, J_b = (program.let(J) for J in limits.row_gradient(slide, w))
    sides = _sides(at, weights_of, J_a, J_b)
    K, weighted = _stiffness(program, sides, 1, sp.Integer(0))
    change = program.let(limits.projected(program, multiplier, p, limit, K[0, 0]) - multiplier)
    for key, move in zip(("move_b", "move_a"), _pushed(program, sides, weighted, Matrix([change])), strict=True):
        program.output(key, move)
    program.output("multiplier_next", program.let(multiplier + factor * change))
    return program


@cache
def displace_kernel(angular: bool, scaled: bool) -> Program:
    """Leaf: a pose moved by (dx, φ), or `factor` times it; angular moves keep the
    position."""
    name = f"{'turn' if angular else 'displace'}{'_scaled' if scaled else ''}"
    program = Program(name, "A pose moved by a correction.")
    pose, move = program.input("pose", POSE), program.input("move", 6)
    if scaled:
        factor = program.scalar("factor")
        move = sp.Matrix(program.let(factor * move))
    x = pose[POSE_POSITION, 0]
    moved = x if angular else program.let(x + move[:3, 0])
    program.output("moved", column(moved, turned(program, pose[POSE_QUATERNION, 0], move[3:, 0])))
    return program
