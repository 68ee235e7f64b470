"""Reduced-coordinate functions of an open tree, as recursions over links in world axes (one program each).

Inputs that every program shares: `before`, `after` (constant geometry, see `moments.Frames`), `body` (10 × n inertial
parameters about the link origins), `gravity` (3, world [m/s²]). Torques here are the rigid body's alone; friction, spring,
rotor inertia and sensor offset are added in `graph.functions`.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from diffpbd.codegen.joint_space.moments import (
    ZERO3,
    Coupling,
    Frames,
    Half,
    Pose,
    add,
    bilinear,
    couplings,
    first_moment,
    half_moments,
    moment_wrench,
    motion_cross,
    pairing,
    pose,
    project,
    second_moment,
    weights,
)
from diffpbd.codegen.joint_space.tree_elimination import block, named
from diffpbd.codegen.laws import attached
from diffpbd.codegen.laws.elements import plain
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot, skew
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree


def model_inputs(b: Program, tree: Tree) -> tuple[Frames, Any, Any]:
    """Declare the shared inputs (see the module docstring) and return (frames, body, gravity)."""
    frames = Frames(b.input("before", 12, tree.n), b.input("after", 9, tree.n))
    return frames, b.input("body", 10, tree.n), b.input("gravity", 3)


def velocities(b: Program, tree: Tree, at: Pose, pd: Any) -> list[tuple[Any, Any]]:
    """Twist of every link at the world origin."""
    V: list[tuple[Any, Any]] = []
    for i in range(tree.n):
        with b.part(i):
            own = (at.screw[i][0] * pd[i], at.screw[i][1] * pd[i])
            V.append(add(b, V[tree.parents[i]], own) if tree.parents[i] >= 0 else (b.let(own[0]), b.let(own[1])))
    return V


def accelerations(
    b: Program, tree: Tree, at: Pose, pd: Any, pdd: Any, V: list[tuple[Any, Any]]
) -> list[tuple[Any, Any]]:
    """Spatial acceleration of every link at the world origin: parent's + S p̈ + V_parent × S ṗ."""
    acc: list[tuple[Any, Any]] = []
    for i in range(tree.n):
        S, parent = at.screw[i], tree.parents[i]
        own = (S[0] * pdd[i], S[1] * pdd[i])
        if parent < 0:
            acc.append((b.let(own[0]), b.let(own[1])))
            continue
        turn = motion_cross(b, V[parent], S)
        acc.append((b.let(acc[parent][0] + own[0] + turn[0] * pd[i]), b.let(acc[parent][1] + own[1] + turn[1] * pd[i])))
    return acc


def inertial_wrench(
    b: Program, R: Any, o: Any, half: Half, body: Any, i: int, V: Any, acc: Any, gravity: Any
) -> tuple[Any, Any]:
    """(∫ x × (ẍ − g) dm, ∫ (ẍ − g) dm) of link i: ẍ = Ξ x + c with Ξ = [ω̇]× + ωωᵀ − ω² 1, c = v̇ + ω × v − g."""
    w, v = V
    xi = b.let(skew(acc[0]) + w * w.T - Matrix.eye(3) * dot(w, w))
    c = b.let(acc[1] + cross(w, v) - gravity)
    R2, o2 = b.let(xi * R), b.let(xi * o + c)
    return moment_wrench(b, second_moment(b, R2, o2, half, i), first_moment(b, R2, o2, body, i))


def rigid_torque(b: Program, tree: Tree, frames: Frames, body: Any, gravity: Any, p: Any, pd: Any, pdd: Any) -> Any:
    """M p̈ + C ṗ + g: recursive Newton–Euler in mass moments (n)."""
    at = pose(b, tree, frames, p)
    half = half_moments(b, tree, at, body)
    V = velocities(b, tree, at, pd)
    acc = accelerations(b, tree, at, pd, pdd, V)
    wrenches = [inertial_wrench(b, at.R[i], at.o[i], half, body, i, V[i], acc[i], gravity) for i in range(tree.n)]
    return project(b, tree, at.screw, wrenches)


@stored
def inverse_dynamics(tree: Tree) -> Program:
    """p, pd, pdd → u, the rigid body's joint torques [N·m]."""
    b = Program("inverse_dynamics", "Recursive Newton–Euler in mass moments.")
    p, pd, pdd = (b.input(k, tree.n) for k in ("p", "pd", "pdd"))
    frames, body, gravity = model_inputs(b, tree)
    b.output("u", rigid_torque(b, tree, frames, body, gravity, p, pd, pdd))
    return b


@stored
def coriolis(tree: Tree) -> Program:
    """p, pd → C(p, ṗ) ṗ."""
    b = Program("coriolis", "Velocity-product torque: Newton–Euler at zero acceleration without gravity.")
    p, pd = (b.input(k, tree.n) for k in ("p", "pd"))
    frames, body, _ = model_inputs(b, tree)
    b.output("u", rigid_torque(b, tree, frames, body, ZERO3, p, pd, Matrix([0] * tree.n)))
    return b


@stored
def gravity_torque(tree: Tree) -> Program:
    """p → g(p), the torque that holds the arm at rest."""
    b = Program("gravity", "Torque that balances gravity at rest.")
    p = b.input("p", tree.n)
    frames, body, gravity = model_inputs(b, tree)
    at = pose(b, tree, frames, p)
    first = [first_moment(b, at.R[i], at.o[i], body, i) for i in range(tree.n)]
    b.output("u", b.let(-project(b, tree, at.screw, weights(b, tree, first, body, gravity))))
    return b


@stored
def mass_matrix(tree: Tree) -> Program:
    """p → M (n × n), from composite inertias."""
    b = Program("mass_matrix", "Joint-space inertia from composite mass moments.")
    p = b.input("p", tree.n)
    frames, body, _ = model_inputs(b, tree)
    at = pose(b, tree, frames, p)
    composite = couplings(b, tree, at, half_moments(b, tree, at, body), body, symmetric_moment=True)
    b.output("M", bilinear(b, tree, at.screw, composite, at.screw))
    return b


@stored
def forward_dynamics(tree: Tree) -> Program:
    """p, pd, u → pdd: articulated-body recursion in world axes; `rotor` (n) adds to each joint's own inertia."""
    n = tree.n
    b = Program("forward_dynamics", "Articulated-body recursion at the world origin: no frame changes between links.")
    p, pd, u = (b.input(k, n) for k in ("p", "pd", "u"))
    frames, body, gravity = model_inputs(b, tree)
    rotor = b.input("rotor", n)
    at = pose(b, tree, frames, p)
    half = half_moments(b, tree, at, body)
    V = velocities(b, tree, at, pd)
    bias_acc = accelerations(b, tree, at, pd, Matrix([0] * n), V)
    inertia: list[Any] = []
    force: list[Any] = []
    for i in range(n):
        A = second_moment(b, at.R[i], at.o[i], half, i)
        A = Matrix([[A[0, 0], A[0, 1], A[0, 2]], [A[0, 1], A[1, 1], A[1, 2]], [A[0, 2], A[1, 2], A[2, 2]]])
        inertia.append(block(Coupling(A, half.first[i], half.first[i], body[0, i])))
        wrench = inertial_wrench(b, at.R[i], at.o[i], half, body, i, V[i], bias_acc[i], gravity)
        force.append(Matrix.vstack(*wrench))
    # Accelerations are measured from `bias_acc`, whose wrench is already in `force`; so only S p̈ propagates below.
    S = [Matrix.vstack(*screw) for screw in at.screw]
    U: list[Any] = [None] * n
    D: list[Any] = [None] * n
    e: list[Any] = [None] * n
    for i in range(n - 1, -1, -1):
        U[i] = b.let(inertia[i] * S[i])
        D[i] = b.let(1 / b.let(dot(S[i], U[i]) + rotor[i]))
        e[i] = b.let(u[i] - dot(S[i], force[i]))
        parent = tree.parents[i]
        if parent >= 0:
            scaled = b.let(U[i] * D[i])
            inertia[parent] = named(b, inertia[parent] + inertia[i] - scaled * U[i].T, symmetric=True)
            force[parent] = b.let(force[parent] + force[i] + scaled * e[i])
    acc: list[Any] = []
    pdd = []
    for i in range(n):
        parent = tree.parents[i]
        carried = acc[parent] if parent >= 0 else Matrix([0] * 6)
        value = b.let(D[i] * (e[i] - dot(U[i], carried)))
        pdd.append(value)
        acc.append(b.let(carried + S[i] * value))
    b.output("pdd", Matrix(pdd))
    return b


@stored
def energy(tree: Tree) -> Program:
    """p, pd → kinetic, potential [J]; potential is zero for mass at the world origin and springs at rest."""
    b = Program("energy", "Kinetic energy of links and rotors; potential energy of gravity and joint springs.")
    p, pd = (b.input(k, tree.n) for k in ("p", "pd"))
    frames, body, gravity = model_inputs(b, tree)
    rotor, stiffness, rest = (b.input(k, tree.n) for k in ("rotor", "stiffness", "rest"))
    stored = attached.on_joints(b, "potential", tree, attached.attached_input(b, tree), p)
    at = pose(b, tree, frames, p)
    half = half_moments(b, tree, at, body)
    V = velocities(b, tree, at, pd)
    kinetic, potential = sp.Integer(0), sp.Integer(0)
    for i in range(tree.n):
        own = Coupling(second_moment(b, at.R[i], at.o[i], half, i), half.first[i], half.first[i], body[0, i])
        kinetic = b.let(kinetic + pairing(b, V[i], own.apply(b, V[i])) / 2 + rotor[i] * pd[i] ** 2 / 2)
        spring = plain.spring_potential(p[i], stiffness[i], rest[i])
        potential = b.let(potential - dot(gravity, half.first[i]) + spring + stored[i])
    b.output("kinetic", kinetic)
    b.output("potential", potential)
    return b


@stored
def tip_pose(tree: Tree, link: int) -> Program:
    """p → position (3) and rotation (3 × 3) of a tip frame; `tip` (12): rotation by rows, then translation, in its link."""
    b = Program("tip_pose", "Pose of the tip frame in the world.")
    p = b.input("p", tree.n)
    frames, _, _ = model_inputs(b, tree)
    tip = b.input("tip", 12)
    at = pose(b, tree, frames, p)
    b.output("position", b.let(at.o[link] + at.R[link] * tip[9:12, 0]))
    b.output("rotation", b.let(at.R[link] * Matrix(3, 3, list(tip[0:9]))))
    return b


@stored
def tip_jacobian(tree: Tree, link: int) -> Program:
    """p → J (6 × n): linear velocity of the tip point, then angular velocity, world axes."""
    b = Program("tip_jacobian", "Geometric Jacobian of the tip: linear rows, then angular.")
    p = b.input("p", tree.n)
    frames, _, _ = model_inputs(b, tree)
    tip = b.input("tip", 12)
    at = pose(b, tree, frames, p)
    position = b.let(at.o[link] + at.R[link] * tip[9:12, 0])
    columns = []
    for j in range(tree.n):
        w, v = at.screw[j]
        moves = j in tree.ancestors(link)
        columns.append(b.let(Matrix.vstack(v + cross(w, position), w)) if moves else Matrix([0] * 6))
    b.output("J", Matrix.hstack(*columns))
    return b


@stored
def regressor(tree: Tree) -> Program:
    """p, pd, pdd → Y (n × 10 n) with u = Y θ; θ is, link by link, (m, m c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz) about the link
    origin in link axes. Column k of a link is the wrench of a body whose k-th parameter is one and the others zero."""
    n = tree.n
    b = Program("regressor", "Rigid torque is linear in the inertial parameters; its coefficients.")
    p, pd, pdd = (b.input(k, n) for k in ("p", "pd", "pdd"))
    frames, _, gravity = model_inputs(b, tree)
    at = pose(b, tree, frames, p)
    V = velocities(b, tree, at, pd)
    acc = accelerations(b, tree, at, pd, pdd, V)
    rows = [[sp.Integer(0)] * (10 * n) for _ in range(n)]
    for k in range(10):
        unit = Matrix(10, n, lambda r, _c, k=k: int(r == k))
        half = half_moments(b, tree, at, unit)
        for i in range(n):
            wrench = inertial_wrench(b, at.R[i], at.o[i], half, unit, i, V[i], acc[i], gravity)
            for j in tree.ancestors(i):
                rows[j][10 * i + k] = pairing(b, at.screw[j], wrench)
    b.output("Y", Matrix(rows))
    return b
