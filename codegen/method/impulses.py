"""Sweeps of the variational step: constraint impulses along the gradients at the start pose, joint by joint
or gathered.

Each body has a pose, and the `target` (position) and `spin` (h L) of its momentum. A sweep first lets every
body drift, one Newton iteration on its own h L(q₀→q) = spin, then applies impulses that close the rows of
each joint: d = W J₀ᵀ λ with J₁ W J₀ᵀ λ = -c, W = diag(1/m, K⁻¹), K the derivative of h L. Impulses go
into target and spin, displacements into the pose, so that at the fixed point both the constraints and the
momentum balance hold: the solution is that of the direct solver.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.method import limits
from diffpbd.codegen.method.bodies import discrete_spin, spin_gradient
from diffpbd.codegen.method.constraints import JointVectors, gradient
from diffpbd.codegen.method.corrections import Multiplier, residual_of
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
    square,
)
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot

AIM = 13
"""State of a body in a sweep: pose (7), target (3), spin (3)."""
AIM_POSE = slice(0, 7)
AIM_TARGET = slice(7, 10)
AIM_SPIN = slice(10, 13)
WEIGHT = 10
"""1/m and K⁻¹ (9, by rows, world axes)."""
IMPULSE = 9
"""Displacement (dx, φ) and change of spin (3)."""


def general_inverse(program: Program, A: Any) -> Any:
    """Inverse of a 1x1, 2x2 or 3x3 matrix by cofactors."""
    if A.rows == 1:
        return Matrix([[1 / A[0, 0]]])
    if A.rows == 2:
        reciprocal = program.let(1 / program.let(A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]))
        return Matrix([[A[1, 1], -A[0, 1]], [-A[1, 0], A[0, 0]]]) * reciprocal
    columns = [A[:, k] for k in range(3)]
    rows = [program.let(cross(columns[(k + 1) % 3], columns[(k + 2) % 3])) for k in range(3)]
    reciprocal = program.let(1 / program.let(dot(columns[0], rows[0])))
    return Matrix(3, 3, lambda i, j: rows[i][j] * reciprocal)


@cache
def push_kernel(carries: bool) -> Program:
    """Leaf: aim (13) of a body from its guess, with the half kick of the joint efforts on it: ½h² force and
    moment."""
    program = Program(f"push{'' if carries else '_tip'}", "Half kick of the joint efforts on a body.")
    body, h = program.input("body", BODY), program.scalar("h")
    pose, target, spin = program.input("pose", POSE), program.input("target", 3), program.input("spin", 3)
    wrench = program.input("pull", 6)
    if carries:
        wrench = program.let(wrench + program.input("reaction", 6))
    kick = program.let(h * h / 2)
    at = program.let(target + wrench[:3, 0] * program.let(kick / body[0, 0]))
    program.output("aim", column(pose, at, program.let(spin + kick * wrench[3:, 0])))
    return program


@cache
def drift_kernel() -> Program:
    """Leaf: a body drifts along its momentum: aim (13) -> aim, and its weight (10) there."""
    program = Program("drift", "A body goes where its momentum takes it.")
    body, aim, turning = program.input("body", BODY), program.input("aim", AIM), program.input("turning", 9)
    q, target, spin = aim[POSE_QUATERNION, 0], aim[AIM_TARGET, 0], aim[AIM_SPIN, 0]
    A = program.let(rotation(program, q) * square(turning))
    K = program.let(spin_gradient(A))
    inverse = program.let(general_inverse(program, K))
    phi = program.let(inverse * program.let(spin - discrete_spin(A)))
    program.output("drifted", column(target, turned(program, q, phi), target, spin))
    program.output("weight", column(program.let(1 / body[0, 0]), inverse))
    return program


@cache
def impulse_kernel(slide: bool, angular: bool) -> Program:
    """Leaf: impulses of one joint's rows: `move_b` and `move_a` (dx, φ, spin; 9 each)."""
    kind = f"{'slide' if slide else 'hinge'}_{'angular' if angular else 'positional'}"
    program = Program(f"{kind}_impulse", "Impulses that close the rows of one joint.")
    residual = residual_of(slide, angular, Multiplier.BLOCK)
    (start, end), weights, _ = _declared(program)
    c = program.let(residual(end))
    J0, J1 = ([program.let(J) for J in reversed(gradient(residual, at))] for at in (start, end))
    K, spread = _stiffness(program, c.rows, J0, J1, weights)
    _output_moves(program, J0, spread, weights, program.let(-program.let(general_inverse(program, K))) * c)
    return program


def _declared(program: Program) -> tuple[tuple[JointVectors, JointVectors], list[Any], tuple[Any, Any, Any, Any]]:
    """Declares a joint's numbers and its two bodies: the joint at the start and at the iterate, (1/m, K⁻¹) of child and parent,
    and the arguments of `limits.position` at the iterate."""
    joint = JointNumbers.of(program.input("joint", JOINT))
    starts, ends, weights = [], [], []
    for side in ("b", "a"):
        x0, R0 = program.input(f"start_{side}", 3), square(program.input(f"rotation_{side}", 9))
        aim, weight = program.input(f"aim_{side}", AIM), program.input(f"weight_{side}", WEIGHT)
        starts.append((x0, R0))
        ends.append((aim[POSE_POSITION, 0], rotation(program, aim[POSE_QUATERNION, 0])))
        weights.append((weight[0, 0], square(weight[1:, 0])))

    def at(poses: list[Any]) -> JointVectors:
        (x_b, R_b), (x_a, R_a) = poses
        return JointVectors.at(program, joint, x_a, R_a, x_b, R_b)

    (x_b, R_b), (x_a, R_a) = ends
    return (at(starts), at(ends)), weights, (x_a, R_a, x_b, R_b)


def _stiffness(program: Program, rows: int, J0: list[Any], J1: list[Any], weights: list[Any]) -> tuple[Any, list[Any]]:
    """J₁ W J₀ᵀ (rows x rows), and K⁻¹ J₀ᵀ of both bodies."""
    spread = [program.let(inverse * J[:, 3:].T) for J, (_, inverse) in zip(J0, weights, strict=True)]
    K = sp.zeros(rows, rows)
    for before, after, turn, (inverse_mass, _) in zip(J0, J1, spread, weights, strict=True):
        K = K + inverse_mass * (after[:, :3] * before[:, :3].T) + after[:, 3:] * turn
    return program.let(K), spread


def _output_moves(program: Program, J0: list[Any], spread: list[Any], weights: list[Any], multipliers: Any) -> None:
    multipliers = program.let(multipliers)
    for side, before, turn, (inverse_mass, _) in zip(("b", "a"), J0, spread, weights, strict=True):
        dx = program.let(inverse_mass * (before[:, :3].T * multipliers))
        spin = program.let(before[:, 3:].T * multipliers)
        program.output(f"move_{side}", column(dx, program.let(turn * multipliers), spin))


@cache
def limit_impulse_kernel(slide: bool) -> Program:
    """Leaf: impulses of one joint's limits: `move_b`, `move_a` (9 each), and its multiplier after `factor` times them."""
    kind = f"{'slide' if slide else 'hinge'}_limit_impulse"
    program = Program(kind, "Impulses of the limits of one joint.")
    (start, end), weights, (x_a, R_a, x_b, R_b) = _declared(program)
    limit, angle, multiplier = program.input("limit", LIMIT), program.scalar("angle"), program.scalar("multiplier")
    factor = program.scalar("factor")
    p = limits.position(program, end.joint, slide, x_a, R_a, x_b, R_b, angle)
    J0, J1 = ([program.let(J) for J in reversed(limits.row_gradient(slide, at))] for at in (start, end))
    K, spread = _stiffness(program, 1, J0, J1, weights)
    change = program.let(limits.projected(program, multiplier, p, limit, K[0, 0]) - multiplier)
    _output_moves(program, J0, spread, weights, Matrix([change]))
    program.output("multiplier_next", program.let(multiplier + factor * change))
    return program


@cache
def strike_kernel(scaled: bool) -> Program:
    """Leaf: aim (13) of a body moved by an impulse (9), or `factor` times it."""
    program = Program(f"strike{'_scaled' if scaled else ''}", "A body takes an impulse.")
    aim, move = program.input("aim", AIM), program.input("move", IMPULSE)
    if scaled:
        move = program.let(program.scalar("factor") * move)
    dx, phi, spin = move[:3, 0], move[3:6, 0], move[6:, 0]
    q = turned(program, aim[POSE_QUATERNION, 0], phi)
    x, target = program.let(aim[POSE_POSITION, 0] + dx), program.let(aim[AIM_TARGET, 0] + dx)
    program.output("struck", column(x, q, target, program.let(aim[AIM_SPIN, 0] + spin)))
    return program
