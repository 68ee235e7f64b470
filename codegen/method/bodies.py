"""One body in a step: leaf programs of the two integrators, each called once per link."""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.method.kinematics import rotation, turned
from diffpbd.codegen.program.notation import (
    BODY,
    JOINT,
    OMEGA,
    POSE,
    POSE_POSITION,
    POSE_QUATERNION,
    POSITION,
    QUATERNION,
    STATE,
    VELOCITY,
    JointNumbers,
    column,
    square,
)
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import axial, cross, dot, skew, symmetric

IDENTITY = Matrix.eye(3)
ZERO3 = Matrix([0, 0, 0])


def inertia_at_root(program: Program, mass: Any, inertia: Any, R: Any, offset: Any) -> Any:
    """m, m ρ, R I Rᵀ + m (ρ·ρ 1 - ρ ρᵀ) as 6 entries: the symmetric spatial inertia (10) of a body."""
    first = program.let(mass * offset)
    half = program.let(R * symmetric(inertia))
    entries = []
    for i in range(3):
        for j in range(i, 3):
            at_com = dot(half[i, :], R[j, :])
            others = [k for k in range(3) if k != i]
            spread = sum((first[k] * offset[k] for k in others), sp.Integer(0)) if i == j else -first[i] * offset[j]
            entries.append(at_com + spread)
    return column(mass, first, program.let(Matrix(entries)))


def moment_at_root(program: Program, force: Any, moment: Any, offset: Any) -> Any:
    """Wrench (6) at the root joint of a force and a moment at the COM."""
    return column(force, program.let(moment + cross(offset, force)))


# Both ---------------------------------------------------------------------------------------------


@cache
def rotation_kernel() -> Program:
    """Leaf: R (9, by rows) of a quaternion."""
    program = Program("rotation", "Rotation matrix of a quaternion.")
    program.output("rotation", column(rotation(program, program.input("q", 4))))
    return program


@cache
def inertia_kernel() -> Program:
    """Leaf: inertia (10) of a body at the root joint."""
    program = Program("inertia_at_root", "Spatial inertia of a body at the root joint of its tree.")
    body, R, offset = (
        program.input("body", BODY),
        square(program.input("rotation", 9)),
        program.input("offset", 3),
    )
    program.output("inertia", inertia_at_root(program, body[0, 0], body[1:, 0], R, offset))
    return program


# Variational --------------------------------------------------------------------------------------


def discrete_spin(A: Any) -> Any:
    """h L of a turn from R₀ to R₁: vee(A - Aᵀ) with A = R₁ J_d R₀ᵀ (Moser and Veselov); symmetric in
    both ends."""
    return axial(A)


def spin_gradient(A: Any) -> Any:
    """Derivative of `discrete_spin` by the left perturbation of R₁ (3 x 3), by differentiation: tr(A) 1 -
    A."""
    phi = Matrix(sp.symbols("phi_0:3", real=True))
    moved = discrete_spin(A + skew(phi) * A)
    return Matrix(3, 3, lambda i, j: sp.expand(moved[i].diff(phi[j])))


@cache
def launch_kernel() -> Program:
    """Leaf: half kick of gravity and first guess of one body.

    state, body, gravity, h -> rotation R₀ (9), turning J_d R₀ᵀ (9), target x₀ + h v + ½h² g (3), spin h L₀
    (3) and the guess `pose` of the end: x₀ + h v, q turned by h ω.
    """
    program = Program("launch", "Momentum of a body at the start of a step, and where it would go unconstrained.")
    state, body = program.input("state", STATE), program.input("body", BODY)
    gravity, h = program.input("gravity", 3), program.scalar("h")
    R = rotation(program, state[QUATERNION, 0])
    inertia = symmetric(body[1:, 0])
    double_trace = program.let(body[1, 0] + body[4, 0] + body[6, 0])
    J_d = program.let(sp.Rational(1, 2) * double_trace * IDENTITY - inertia)
    phi = program.let(h * state[OMEGA, 0])
    x = program.let(state[POSITION, 0] + h * state[VELOCITY, 0])
    program.output("rotation", column(R))
    program.output("turning", column(program.let(J_d * R.T)))
    program.output("target", program.let(x + program.let(h * h / 2) * gravity))
    program.output("spin", program.let(R * program.let(inertia * program.let(R.T * phi))))
    program.output("pose", column(x, turned(program, state[QUATERNION, 0], phi)))
    return program


@cache
def balance_kernel() -> Program:
    """Leaf: h times the momentum balance of one body at the iterate displaced by `gap`, and its derivative.

    wrench (6) = [m (x₁ - target); h L(q₀→q₁) - spin] + K gap at the root joint, inertia K (16); rows are
    taken with the start offset ρ₀, columns with the iterate's ρ₁.
    """
    program = Program("balance", "Momentum balance of a body over the step, linearised at the iterate.")
    body, target, spin = program.input("body", BODY), program.input("target", 3), program.input("spin", 3)
    pose, R1 = program.input("pose", POSE), square(program.input("rotation", 9))
    turning = square(program.input("turning", 9))
    offset0, offset1 = program.input("start_offset", 3), program.input("offset", 3)
    gap = program.input("gap", 6)
    mass, phi = body[0, 0], gap[3:, 0]
    A = program.let(R1 * turning)
    K = program.let(spin_gradient(A))
    reach = program.let(pose[POSE_POSITION, 0] - target + gap[:3, 0] + cross(phi, offset1))
    force = program.let(mass * reach)
    moment = program.let(discrete_spin(A) - spin + K * phi)
    first0, first1 = program.let(mass * offset0), program.let(mass * offset1)
    # -m [ρ₀]x [ρ₁]x = m (ρ₀·ρ₁ 1 - ρ₁ ρ₀ᵀ)
    spread = program.let(dot(first0, offset1)) * IDENTITY - offset1 * first0.T
    program.output("inertia", column(mass, first1, first0, program.let(K + spread)))
    program.output("wrench", moment_at_root(program, force, moment, offset0))
    return program


@cache
def landing_kernel() -> Program:
    """Leaf: a body at its new pose: inertia (10) and, after the second half kick of gravity, momentum (6), at
    the root joint."""
    program = Program("landing", "Inertia and momentum of a body at its new pose, after the second half kick.")
    body, x0, pose = program.input("body", BODY), program.input("x", 3), program.input("pose", POSE)
    R1, turning = square(program.input("rotation", 9)), square(program.input("turning", 9))
    offset, gravity, h = program.input("offset", 3), program.input("gravity", 3), program.scalar("h")
    inverse_h = program.let(1 / h)
    A = R1 * turning
    velocity = program.let((pose[POSE_POSITION, 0] - x0) * inverse_h + program.let(h / 2) * gravity)
    force = program.let(body[0, 0] * velocity)
    spin = program.let(program.let(discrete_spin(A)) * inverse_h)
    program.output("inertia", inertia_at_root(program, body[0, 0], body[1:, 0], R1, offset))
    program.output("momentum", moment_at_root(program, force, spin, offset))
    return program


# Paper --------------------------------------------------------------------------------------------


@cache
def predict_kernel(carries: bool) -> Program:
    """Leaf: Algorithm 1's prediction of one body, corrected: the new velocities move it, Euler's equation has
    -ω x Iω.

    state, body, rotation, gravity, h, pull (force and moment on it at its COM by its own joint), and when it
    carries joints `reaction` (what they exert on it) -> pose (7).
    """
    program = Program(f"predict{'' if carries else '_tip'}", "Unconstrained prediction of a body's pose.")
    state, body = program.input("state", STATE), program.input("body", BODY)
    gravity, h = program.input("gravity", 3), program.scalar("h")
    wrench = program.input("pull", 6)
    if carries:
        wrench = program.let(wrench + program.input("reaction", 6))
    R = square(program.input("rotation", 9))
    inertia = symmetric(body[1:, 0])
    v = program.let(state[VELOCITY, 0] + h * program.let(gravity + wrench[:3, 0] * program.let(1 / body[0, 0])))
    omega_link = program.let(R.T * state[OMEGA, 0])
    moment_link = program.let(R.T * wrench[3:, 0])
    gyroscopic = program.let(cross(omega_link, program.let(inertia * omega_link)))
    acceleration = program.let(solve_symmetric(program, inertia, program.let(moment_link - gyroscopic)))
    omega = program.let(R * program.let(omega_link + h * acceleration))
    x = program.let(state[POSITION, 0] + h * v)
    program.output("pose", column(x, turned(program, state[QUATERNION, 0], program.let(h * omega))))
    return program


def adjugate(program: Program, A: Any) -> tuple[Any, Any]:
    """Adjugate (3 x 3) and reciprocal determinant of a symmetric 3 x 3 matrix."""
    (a, b, c), (_, d, e), (_, _, f) = (list(A[i, :]) for i in range(3))
    cofactors = program.let(
        Matrix([d * f - e * e, c * e - b * f, b * e - c * d, a * f - c * c, b * c - a * e, a * d - b * b])
    )
    reciprocal = program.let(1 / program.let(a * cofactors[0] + b * cofactors[1] + c * cofactors[2]))
    return symmetric(cofactors), reciprocal


def solve_symmetric(program: Program, A: Any, rhs: Any) -> Any:
    """A⁻¹ rhs for a symmetric positive definite 3 x 3 matrix."""
    cofactors, reciprocal = adjugate(program, A)
    return program.let(cofactors * rhs) * reciprocal


@cache
def weight_kernel() -> Program:
    """Leaf: W⁻¹ of one body at the root joint: inertia (10), and W⁻¹ gap (6), what the projection starts
    from."""
    program = Program("weigh", "Inertia of a body at its predicted pose, and what closing the joints costs it.")
    body, R = program.input("body", BODY), square(program.input("rotation", 9))
    offset, gap = program.input("offset", 3), program.input("gap", 6)
    inertia = inertia_at_root(program, body[0, 0], body[1:, 0], R, offset)
    first = inertia[1:4, 0]
    phi = gap[3:, 0]
    force = program.let(body[0, 0] * gap[:3, 0] + cross(phi, first))
    moment = program.let(symmetric(inertia[4:, 0]) * phi + cross(first, gap[:3, 0]))
    program.output("inertia", inertia)
    program.output("wrench", column(force, moment))
    return program


@cache
def pull_kernel(slide: bool) -> Program:
    """Leaf: `pull` on the child and `reaction` on the parent, of a joint's effort.

    Each is a force and a moment at the COM: +effort along (slide) or about (hinge) the axis on the child,
    -effort on the parent, both at the child's joint.
    """
    program = Program(f"{'slide' if slide else 'hinge'}_pull", "What a joint's effort exerts on its two bodies.")
    joint, effort = JointNumbers.of(program.input("joint", JOINT)), program.scalar("effort")
    R_b = square(program.input("rotation_b", 9))
    along = program.let(program.let(R_b * joint.axis_b) * effort)
    if not slide:
        program.output("pull", column(ZERO3, along))
        program.output("reaction", column(ZERO3, -along))
        return program
    r_b = program.let(R_b * joint.t)
    program.output("pull", column(along, program.let(cross(r_b, along))))
    lever = program.let(program.input("x_b", 3) + r_b - program.input("x_a", 3))
    program.output("reaction", column(-along, program.let(cross(along, lever))))
    return program


@cache
def read_off_kernel() -> Program:
    """Leaf: v = (x⁺ - x)/h, ω = 2 vec(q⁺ q⁻¹)/h, negated when its scalar part is negative -> the new state
    (13)."""
    program = Program("read_off", "Velocities of a body from its old and new pose.")
    state, pose, h = program.input("state", STATE), program.input("pose", POSE), program.scalar("h")
    q0, q1 = state[QUATERNION, 0], pose[POSE_QUATERNION, 0]
    inverse_h = program.let(1 / h)
    scale = program.let(2 * inverse_h * sp.sign(program.let(dot(q0, q1))))
    # vec(q⁺ q⁻¹) = w₀ v₁ - w₁ v₀ + v₀ x v₁
    turn = program.let(q0[0] * q1[1:, 0] - q1[0] * q0[1:, 0] + cross(q0[1:, 0], q1[1:, 0]))
    v = program.let((pose[POSE_POSITION, 0] - state[POSITION, 0]) * inverse_h)
    program.output("next", column(pose[POSE_POSITION, 0], v, q1, program.let(turn * scale)))
    return program
