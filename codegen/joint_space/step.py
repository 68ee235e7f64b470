"""The variational step on joint coordinates: the momentum balance of the maximal step, projected with Tᵀ (docs/method.md).

On an open tree every consistent pose is x(p). The discrete momentum of a body over a step is the wrench

    H₀₁ = (∫ x₀ × x₁ dm, ∫ (x₁ − x₀) dm) / h

about the world origin, the same at both ends of the step (x₀ × x₁ for each mass point). So with S the joint screws and
sums over the subtrees each joint carries

    F_j = S₀_jᵀ [ H₀₁ − H(p₀, ṗ₀) − ½h G₀ ] − ½h u_j = 0      determines p₁,
    G_j = S₁_jᵀ [ H(p₁, ṗ₁) − H₀₁ − ½h G₁ ] − ½h u_j = 0      determines ṗ₁,

H the momentum and G the gravity wrench. For rotations this is Moser and Veselov's map: ∫ x₀ × x₁ dm about the COM is
vee(R₁ J_d R₀ᵀ − R₀ J_d R₁ᵀ). Residuals here are multiplied by h, so that they are momenta times time [kg·m²] and their
Jacobian is an inertia. Where joints follow others, p are the coordinates of `gears`, and F and G are Eᵀ times those of all
joints. Springs kick at both ends like gravity, rotors add r (p₁ − p₀)/h, friction is a backward-Euler
kick in the second half step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diffpbd.codegen.joint_space import gears, wrenches
from diffpbd.codegen.joint_space import systems as joint_systems
from diffpbd.codegen.joint_space.friction import friction_inputs, handed_on, held_input
from diffpbd.codegen.joint_space.moments import (
    Half,
    Pose,
    first_moment,
    half_moments,
    link_couplings,
    pose,
    project,
    second_moment,
    weights,
)
from diffpbd.codegen.joint_space.recursive import model_inputs
from diffpbd.codegen.laws import attached, forces
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import axial, cross
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree

Wrench = tuple[Any, Any]


@dataclass(frozen=True)
class Plant:
    """Forces besides gravity: rotor inertia, spring stiffness and rest (each n), external wrenches (9 each, or None), numbers
    of springs on chosen joints (or None) and what friction with memory holds (n, or None)."""

    rotor: Any
    stiffness: Any
    rest: Any
    wrench: Any
    attached: Any
    held: Any

    @property
    def inputs(self) -> dict[str, Any]:
        """By the names that `plant_inputs` declares."""
        return {k: v for k, v in vars(self).items() if v is not None}


def plant_inputs(b: Program, tree: Tree) -> Plant:
    """Declare the inputs of `Plant`."""
    rotor, stiffness, rest = (b.input(k, tree.n) for k in ("rotor", "stiffness", "rest"))
    wrench, chosen = wrenches.wrench_input(b, tree), attached.attached_input(b, tree)
    return Plant(rotor, stiffness, rest, wrench, chosen, held_input(b, tree))


def springs(b: Program, tree: Tree, plant: Plant, q: Any) -> Any:
    """Torque of the springs on the coordinates, at positions q (n) of all joints, and of what friction with memory holds."""
    chosen = attached.on_joints(b, "torque", tree, plant.attached, q)
    own = [forces.spring_torque(q[i], plant.stiffness[i], plant.rest[i]) + chosen[i] for i in range(tree.n)]
    if plant.held is not None:
        own = [own[i] - plant.held[i] for i in range(tree.n)]
    return gears.torques(b, tree, own)


def step_wrenches(b: Program, tree: Tree, at1: Pose, half0: Half, body: Any) -> list[Wrench]:
    """h H₀₁ of every link over a step from `half0` to `at1`."""
    result = []
    for i in range(tree.n):
        with b.part(i):
            A = second_moment(b, at1.R[i], at1.o[i], half0, i)
            force = b.let(first_moment(b, at1.R[i], at1.o[i], body, i) - half0.first[i])
            result.append((b.let(axial(A)), force))
    return result


def end_terms(
    b: Program,
    tree: Tree,
    at1: Pose,
    momenta: list[Wrench],
    first1: list[Any],
    body: Any,
    gravity: Any,
    plant: Plant,
    q: Any,
    q1: Any,
    u: Any,
    h: Any,
) -> Any:
    """S₁ᵀ[H₀₁ + ½h G₁] + ½h (u + spring + external) + r (p₁ − p₀)/h: the joint momentum at the end of the step, before
    friction, of every coordinate. `momenta` are h H₀₁ of every link, `first1` ∫ x₁ dm, q and q1 positions (n) of all joints.
    """
    k, inverse = b.let(h / 2), b.let(1 / h)
    pushed = []
    for i in range(tree.n):
        with b.part(i):
            moment = b.let(inverse * momenta[i][0] + k * cross(first1[i], gravity))
            pushed.append((moment, b.let(inverse * momenta[i][1] + k * body[0, i] * gravity)))
    rigid = gears.torques(b, tree, project(b, tree, at1.screw, pushed))
    external = gears.torques(b, tree, wrenches.torque(b, tree, at1, plant.wrench))
    spring = springs(b, tree, plant, q1)
    rotor = gears.torques(b, tree, b.each(tree.n, lambda i: plant.rotor[i] * b.let(inverse * b.let(q1[i] - q[i]))))
    return b.each(tree.freedoms, lambda i: rigid[i] + rotor[i] + b.let(k * b.let(u[i] + spring[i] + external[i])))


# The step as programs. The `record` (18 × n: tensor by rows, first moment, screw) of the start pose is computed once by `start`
# and handed to the iterations.

RECORD_ROWS = 18


def _record(n: int, half: Half, screw: list[Wrench]) -> Any:
    return Matrix.hstack(*[Matrix([*half.tensor[i], *half.first[i], *screw[i][0], *screw[i][1]]) for i in range(n)])


def _unpacked(n: int, record: Any) -> tuple[Half, list[Wrench]]:
    half = Half([Matrix(3, 3, list(record[0:9, i])) for i in range(n)], [record[9:12, i] for i in range(n)])
    return half, [(record[12:15, i], record[15:18, i]) for i in range(n)]


@stored
def start(tree: Tree) -> Program:
    """p, pd, u, h → the start pose's `record`, the constant `terms` of h F, and a first guess of p_next.

    The guess is one Newton step from p itself, where H₀₁ = 0 and the Jacobian of h F is the mass matrix: error O(h²).
    """
    n, m = tree.n, tree.freedoms
    b = Program("joint_step_start", "Start pose of a step and first guess of its end.")
    p, pd, u = (b.input(k, m) for k in ("p", "pd", "u"))
    h = b.scalar("h")
    frames, body, gravity = model_inputs(b, tree)
    plant = plant_inputs(b, tree)
    q = gears.positions(b, tree, p)
    at = pose(b, tree, frames, q)
    half = half_moments(b, tree, at, body)
    M = joint_systems.inertia(b, tree, at, half, body, plant.rotor)
    weight = gears.torques(b, tree, project(b, tree, at.screw, weights(b, tree, half.first, body, gravity)))
    external = gears.torques(b, tree, wrenches.torque(b, tree, at, plant.wrench))
    spring = springs(b, tree, plant, q)
    b.output("record", _record(n, half, at.screw))
    held = joint_systems.inertia_product(b, tree, M, pd)
    k = b.let(h / 2)
    terms = b.each(m, lambda i: h * b.let(held[i] + k * b.let(b.let(u[i] + spring[i] + external[i]) + weight[i])))
    moved = joint_systems.inertia_solve(b, tree, M, [0] * m, terms)
    b.output("terms", terms)
    b.output("guess", b.each(m, lambda i: p[i] + moved[i]))
    return b


def residual(
    b: Program,
    tree: Tree,
    at1: Pose,
    half: Half,
    body: Any,
    screw: list[Wrench],
    plant: Plant,
    q: Any,
    q1: Any,
    terms: Any,
) -> Any:
    """h F, of every coordinate; q and q1 are positions (n) of all joints."""
    rigid = gears.torques(b, tree, project(b, tree, screw, step_wrenches(b, tree, at1, half, body)))
    rotor = gears.torques(b, tree, b.each(tree.n, lambda i: plant.rotor[i] * b.let(q1[i] - q[i])))
    return b.each(tree.freedoms, lambda i: rigid[i] + rotor[i] - terms[i])


def _iteration_inputs(b: Program, tree: Tree) -> tuple[Any, ...]:
    n, m = tree.n, tree.freedoms
    p1, p = b.input("iterate", m), b.input("p", m)
    half, screw = _unpacked(n, b.input("record", RECORD_ROWS, n))
    terms = b.input("terms", m)
    frames, body, _ = model_inputs(b, tree)
    return p1, gears.positions(b, tree, p), half, screw, terms, frames, body, plant_inputs(b, tree)


@stored
def newton(tree: Tree) -> Program:
    """One Newton iteration on F: iterate → next, `correction`, and the `factors` of its Jacobian for `chord`."""
    b = Program("joint_step_newton", "Newton iteration on F with its exact Jacobian.")
    p1, q, half, screw, terms, frames, body, plant = _iteration_inputs(b, tree)
    q1 = gears.positions(b, tree, p1)
    at1 = pose(b, tree, frames, q1)
    F = residual(b, tree, at1, half, body, screw, plant, q, q1, terms)
    links = link_couplings(b, tree, at1, half, body)
    factors = joint_systems.jacobian_factors(b, tree, screw, links, at1.screw, plant.rotor)
    correction = -joint_systems.jacobian_solve(b, tree, factors, screw, F)
    b.output("next", b.each(tree.freedoms, lambda i: p1[i] + correction[i]))
    b.output("correction", correction)
    b.output("factors", factors)
    return b


@stored
def chord(tree: Tree) -> Program:
    """One iteration on F with the Jacobian that an earlier `newton` factored."""
    b = Program("joint_step_chord", "Chord iteration on F: the last Newton iteration's Jacobian again.")
    p1, q, half, screw, terms, frames, body, plant = _iteration_inputs(b, tree)
    factors = b.input("factors", *joint_systems.jacobian_shape(tree))
    q1 = gears.positions(b, tree, p1)
    at1 = pose(b, tree, frames, q1)
    F = residual(b, tree, at1, half, body, screw, plant, q, q1, terms)
    correction = -joint_systems.jacobian_solve(b, tree, factors, screw, F)
    b.output("next", b.each(tree.freedoms, lambda i: p1[i] + correction[i]))
    b.output("correction", correction)
    return b


@stored
def end(tree: Tree) -> Program:
    """p_next → joint `momentum` at the end of the step before friction, and the inertia `M` there (rotors included)."""
    n = tree.n
    b = Program("joint_step_end", "End pose of a step: its joint momentum and inertia.")
    p1, p, u = (b.input(k, tree.freedoms) for k in ("p_next", "p", "u"))
    h = b.scalar("h")
    half, _ = _unpacked(n, b.input("record", RECORD_ROWS, n))
    q, q1 = gears.positions(b, tree, p), gears.positions(b, tree, p1)
    frames, body, gravity = model_inputs(b, tree)
    plant = plant_inputs(b, tree)
    at1 = pose(b, tree, frames, q1)
    momenta = step_wrenches(b, tree, at1, half, body)
    half1 = half_moments(b, tree, at1, body)
    b.output("momentum", end_terms(b, tree, at1, momenta, half1.first, body, gravity, plant, q, q1, u, h))
    b.output("M", joint_systems.inertia(b, tree, at1, half1, body, plant.rotor))
    return b


@stored
def velocity(tree: Tree) -> Program:
    """momentum, M → pd_next without Coulomb friction: (M + h D_viscous) ṗ = momentum, exact in one solve."""
    n = tree.n
    b = Program("joint_step_velocity", "End velocity when friction is linear.")
    M, momentum = b.input("M", *joint_systems.inertia_shape(tree)), b.input("momentum", tree.freedoms)
    h = b.scalar("h")
    viscous = [own[1] for own in friction_inputs(b, tree, h).coefficients] if tree.friction else b.input("viscous", n)
    slopes = gears.diagonal(b, tree, [h * viscous[i] for i in range(n)])
    b.output("pd_next", joint_systems.inertia_solve(b, tree, M, slopes, momentum))
    return b


@stored
def velocity_gradient(tree: Tree) -> Program:
    """G as a function of ṗ: M ṗ − momentum − h τ_friction(ṗ), the gradient of a strictly convex function of ṗ."""
    b = Program("joint_step_velocity_gradient", "Residual of the implicit friction kick.")
    M, momentum = b.input("M", *joint_systems.inertia_shape(tree)), b.input("momentum", tree.freedoms)
    h, pd = b.scalar("h"), b.input("pd", tree.freedoms)
    friction = friction_inputs(b, tree, h)
    held, rate = joint_systems.inertia_product(b, tree, M, pd), gears.rates(b, tree, pd)
    torque = gears.torques(b, tree, friction.torques(b, rate))
    b.output("gradient", b.each(tree.freedoms, lambda i: held[i] - momentum[i] - h * torque[i]))
    return b


@stored
def velocity_newton(tree: Tree) -> Program:
    """Newton direction of `velocity_gradient` at ṗ."""
    b = Program("joint_step_velocity_newton", "Newton direction of the implicit friction kick.")
    M, h = b.input("M", *joint_systems.inertia_shape(tree)), b.scalar("h")
    pd, gradient = b.input("pd", tree.freedoms), b.input("gradient", tree.freedoms)
    slopes = friction_inputs(b, tree, h).slopes(b, gears.rates(b, tree, pd))
    slopes = gears.diagonal(b, tree, [h * slope for slope in slopes])
    b.output("direction", b.let(-joint_systems.inertia_solve(b, tree, M, slopes, gradient)))
    return b


@stored
def residuals(tree: Tree) -> Program:
    """h F and h G (each n) as functions of both ends: what the step solves, whole, for derivatives and for NLPs."""
    n = tree.n
    b = Program("joint_step_residuals", "Residuals of the joint-space step.")
    p, pd, u, p1, pd1 = (b.input(k, tree.freedoms) for k in ("p", "pd", "u", "p_next", "pd_next"))
    h = b.scalar("h")
    frames, body, gravity = model_inputs(b, tree)
    plant = plant_inputs(b, tree)
    friction = handed_on(b, tree, pd)
    shared = {"before": frames.before, "after": frames.after, "body": body, "gravity": gravity}
    begun = b.call(start(tree), p=p, pd=pd, u=u, h=h, **shared, **plant.inputs)
    half, screw = _unpacked(n, begun["record"])
    q, q1 = gears.positions(b, tree, p), gears.positions(b, tree, p1)
    at1 = pose(b, tree, frames, q1)
    b.output("F", residual(b, tree, at1, half, body, screw, plant, q, q1, begun["terms"]))
    ended = b.call(end(tree), p_next=p1, p=p, u=u, h=h, record=begun["record"], **shared, **plant.inputs)
    balance = b.call(velocity_gradient(tree), M=ended["M"], momentum=ended["momentum"], h=h, pd=pd1, **friction)
    b.output("G", b.each(tree.freedoms, lambda i: h * balance["gradient"][i]))
    return b


@stored
def node(tree: Tree) -> Program:
    """p_prev, p, p_next → the discrete Euler–Lagrange equation at a node.

    h u = F + G at p: `u` is the torque without friction; `momentum` and `M` give the node's velocity through
    (M ṗ − ½h τ_friction(ṗ)) = momentum, the mean of F's and G's statements of the momentum there.
    """
    n = tree.n
    b = Program("node_torque_start", "Torque and momentum at a node from three poses.")
    p0, p1, p2 = (b.input(k, tree.freedoms) for k in ("p_prev", "p", "p_next"))
    h = b.scalar("h")
    frames, body, gravity = model_inputs(b, tree)
    plant = plant_inputs(b, tree)
    zero = Matrix([0] * tree.freedoms)
    shared = {"before": frames.before, "after": frames.after, "body": body, "gravity": gravity}
    q0, q1, q2 = (gears.positions(b, tree, p) for p in (p0, p1, p2))
    at = pose(b, tree, frames, q0)
    before = half_moments(b, tree, at, body)
    ended = b.call(
        end(tree), p_next=p1, p=p0, u=zero, h=h, record=_record(n, before, at.screw), **shared, **plant.inputs
    )
    begun = b.call(start(tree), p=p1, pd=zero, u=zero, h=h, **shared, **plant.inputs)
    half, screw = _unpacked(n, begun["record"])
    F = residual(b, tree, pose(b, tree, frames, q2), half, body, screw, plant, q1, q2, begun["terms"])
    inverse = b.let(1 / h)
    leaving = b.each(tree.freedoms, lambda i: F[i] * inverse)
    b.output("u", b.each(tree.freedoms, lambda i: (leaving[i] - ended["momentum"][i]) * inverse))
    b.output("momentum", b.each(tree.freedoms, lambda i: (leaving[i] + ended["momentum"][i]) / 2))
    b.output("M", ended["M"])
    return b
