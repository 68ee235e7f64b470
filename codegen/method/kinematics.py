"""Joint state -> maximal state (`fk`), maximal state -> joint state (`joint_state`, Algorithm 2 corrected),
and turning."""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.program.notation import (
    JOINT,
    OMEGA,
    POSITION,
    QUATERNION,
    STATE,
    VELOCITY,
    WORLD,
    WORLD_STATE,
    JointNumbers,
    column,
    part,
)
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot, quaternion_product
from diffpbd.codegen.program.tree import Tree

HALF = sp.Rational(1, 2)


def rotation(program: Program, q: Any) -> Any:
    """R(q) (3x3) of a unit quaternion, products shared; equals `rotation_matrix`."""
    w, x, y, z = q
    x2, y2, z2 = (program.let(2 * e) for e in (x, y, z))
    xx, yy, zz = (program.let(a * b) for a, b in ((x2, x), (y2, y), (z2, z)))
    xy, xz, yz = (program.let(a * b) for a, b in ((x2, y), (x2, z), (y2, z)))
    wx, wy, wz = (program.let(a * w) for a in (x2, y2, z2))
    return program.let(
        Matrix(
            [
                [1 - yy - zz, xy - wz, xz + wy],
                [xy + wz, 1 - xx - zz, yz - wx],
                [xz - wy, yz + wx, 1 - xx - yy],
            ]
        )
    )


def normalized(program: Program, q: Any) -> Any:
    """q / |q|."""
    q = program.let(q)
    inverse_norm = program.let(1 / sp.sqrt(program.let(dot(q, q))))
    return program.let(q * inverse_norm)


def turned(program: Program, q: Any, phi: Any) -> Any:
    """normalize(q + [0, phi]/2 q): turned by phi [rad, world], smooth at phi = 0; the angle is 2
    atan(|phi|/2)."""
    half = program.let(HALF * phi)
    return normalized(program, q + quaternion_product(column(0, half), q))


@cache
def forward_kernel(slide: bool) -> Program:
    """Leaf: state of the child from the state of the parent and the joint's position and rate."""
    kind = "slide" if slide else "hinge"
    program = Program(f"{kind}_forward", f"State of the child of a {kind} from its parent's.")
    joint = JointNumbers.of(program.input("joint", JOINT))
    parent = program.input("parent", STATE)
    p, pd = program.scalar("p"), program.scalar("pd")
    x_a, v_a, q_a, omega_a = (parent[s, 0] for s in (POSITION, VELOCITY, QUATERNION, OMEGA))
    q_b = program.let(quaternion_product(q_a, joint.q_rest))
    if not slide:
        c, s = program.let(sp.cos(program.let(p / 2))), program.let(sp.sin(program.let(p / 2)))
        q_b = program.let(quaternion_product(q_b, column(c, program.let(s * joint.axis_b))))
    R_a, R_b = rotation(program, q_a), rotation(program, q_b)
    axis = program.let(R_b * joint.axis_b)
    omega_b = omega_a if slide else program.let(omega_a + axis * pd)
    r_a, r_b = program.let(R_a * joint.r), program.let(R_b * joint.t)
    if slide:
        r_a = program.let(r_a + axis * p)
    x_b = program.let(x_a + r_a - r_b)
    v_b = v_a + cross(omega_a, r_a) - cross(omega_b, r_b) + (axis * pd if slide else sp.zeros(3, 1))
    program.output("child", column(x_b, program.let(v_b), q_b, omega_b))
    return program


@cache
def fk(tree: Tree) -> Program:
    """Call program: p (n), pd (n), joint (28 n) -> xi (13 n), consistent: c(xi) = 0 and J v = 0."""
    program = Program("fk", "Joint state to maximal state.")
    p, pd, joint = (
        program.input("p", tree.n),
        program.input("pd", tree.n),
        program.input("joint", JOINT * tree.n),
    )
    states: list[Any] = []
    for j, parent in enumerate(tree.parents):
        called = program.call(
            forward_kernel(tree.slides[j]),
            joint=part(joint, JOINT, j),
            parent=WORLD_STATE if parent == WORLD else states[parent],
            p=p[j, 0],
            pd=pd[j, 0],
        )
        states.append(called["child"])
    program.output("xi", column(*states))
    return program


def hinge_beyond(program: Program, joint: JointNumbers, R_a: Any, R_b: Any, p_ref: Any) -> Any:
    """Angle of a hinge beyond p_ref [rad], in (-π, π]: atan2((n_a x n_b)·axis, n_a·n_b) with n_a = e1 and n_b
    = f1.

    Corrected Algorithm 2: no arcsin and no case split, so it is smooth except for one jump, which rotating
    both arguments by p_ref moves to p_ref ± π.
    """
    n_b = program.let(R_a.T * program.let(R_b * joint.f1))
    c, s = program.let(dot(n_b, joint.e1)), program.let(dot(n_b, joint.e2))
    c_ref, s_ref = program.let(sp.cos(p_ref)), program.let(sp.sin(p_ref))
    return program.let(sp.atan2(program.let(s * c_ref - c * s_ref), program.let(c * c_ref + s * s_ref)))


def slide_position(program: Program, joint: JointNumbers, x_a: Any, R_a: Any, x_b: Any, R_b: Any) -> Any:
    """Position of a slide [m]: the gap along the parent's axis."""
    gap = program.let(x_b + program.let(R_b * joint.t) - x_a - program.let(R_a * joint.r))
    return program.let(dot(program.let(R_a * joint.axis_a), gap))


@cache
def state_kernel(slide: bool) -> Program:
    """Leaf: position and rate of a joint from the states of parent and child."""
    kind = "slide" if slide else "hinge"
    program = Program(f"{kind}_state", f"Position and rate of a {kind}.")
    joint = JointNumbers.of(program.input("joint", JOINT))
    parent, child = program.input("parent", STATE), program.input("child", STATE)
    p_ref = program.scalar("p_ref")
    x_a, v_a, q_a, omega_a = (parent[s, 0] for s in (POSITION, VELOCITY, QUATERNION, OMEGA))
    x_b, v_b, q_b, omega_b = (child[s, 0] for s in (POSITION, VELOCITY, QUATERNION, OMEGA))
    R_a, R_b = rotation(program, q_a), rotation(program, q_b)
    if slide:
        p = slide_position(program, joint, x_a, R_a, x_b, R_b)
        r_b = program.let(R_b * joint.t)
        axis = program.let(R_a * joint.axis_a)
        sliding = program.let(v_b + cross(omega_b, r_b) - v_a - cross(omega_a, program.let(x_b + r_b - x_a)))
        pd = program.let(dot(axis, sliding))
    else:
        p = program.let(p_ref + hinge_beyond(program, joint, R_a, R_b, p_ref))
        pd = program.let(dot(program.let(R_b * joint.axis_b), program.let(omega_b - omega_a)))
    program.output("p", p)
    program.output("pd", pd)
    return program


@cache
def joint_state(tree: Tree) -> Program:
    """Call program: xi (13 n), joint (28 n), p_ref (n) -> p (n), pd (n); hinge angles come within π of
    p_ref."""
    program = Program("joint_state", "Maximal state to joint state.")
    xi, joint = program.input("xi", STATE * tree.n), program.input("joint", JOINT * tree.n)
    p_ref = program.input("p_ref", tree.n)
    positions, rates = [], []
    for j, parent in enumerate(tree.parents):
        called = program.call(
            state_kernel(tree.slides[j]),
            joint=part(joint, JOINT, j),
            parent=WORLD_STATE if parent == WORLD else part(xi, STATE, parent),
            child=part(xi, STATE, j),
            p_ref=p_ref[j, 0],
        )
        positions.append(called["p"])
        rates.append(called["pd"])
    program.output("p", column(*positions))
    program.output("pd", column(*rates))
    return program
