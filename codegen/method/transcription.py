"""The variational step in maximal coordinates as equations between two states, for programs that hold every state unknown.

The step itself (`step`) solves these equations; here they are written out, momentum balances of every link at both ends of
the step with the constraint impulses λ and μ as unknowns:

    M (v̄ − v₀) = ½h (gravity + J_uᵀ effort₀) + J₀ᵀ λ        v̄, L(q₀→q₁) the discrete velocities of the step
    M (v₁ − v̄) = ½h (gravity + J_uᵀ effort₁) + J₁ᵀ μ + friction

and, for every state, c(x, q) = 0 (a hinge's angular rows are the two tangents), |q|² = 1 and J v = 0.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from diffpbd.codegen.laws import attached, forces
from diffpbd.codegen.method import efforts, projection
from diffpbd.codegen.method.bodies import discrete_spin
from diffpbd.codegen.method.constraints import (
    between_states,
    constraint_kernel,
    ends,
    gradient,
    hinge_residual,
    slide_residual,
)
from diffpbd.codegen.method.kinematics import rotation, state_kernel
from diffpbd.codegen.method.stage import each, friction_size, rotations
from diffpbd.codegen.program.notation import (
    BODY,
    JOINT,
    OMEGA,
    POSITION,
    QUATERNION,
    ROWS,
    SPRING,
    STATE,
    VELOCITY,
    WORLD,
    WORLD_STATE,
    children,
    column,
    part,
)
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import dot, symmetric
from diffpbd.codegen.program.tree import Tree


def _gradients(program: Program, slide: bool) -> tuple[Any, Any, Any, Any]:
    """J_a, J_b (5 × 6 each) of a joint between two states that are declared here, and those states."""
    w, parent, child = between_states(program)
    J_a, J_b = (program.let(J) for J in gradient(slide_residual if slide else hinge_residual, w))
    return J_a, J_b, parent, child


@cache
def constraint_rate_kernel(slide: bool) -> Program:
    """Leaf: J v (5) of one joint at the states of parent and child."""
    program = Program(f"{'slide' if slide else 'hinge'}_constraint_rate", "Rate of a joint's constraint residual.")
    J_a, J_b, parent, child = _gradients(program, slide)
    twists = [column(s[VELOCITY, 0], s[OMEGA, 0]) for s in (parent, child)]
    program.output("rate", program.let(J_a * twists[0] + J_b * twists[1]))
    return program


@cache
def constraint_pull_kernel(slide: bool) -> Program:
    """Leaf: Jᵀ impulse on parent (6) and child (6) of one joint, at their COM."""
    program = Program(
        f"{'slide' if slide else 'hinge'}_constraint_pull", "What a joint's impulses do to its two bodies."
    )
    J_a, J_b, _, _ = _gradients(program, slide)
    impulse = program.input("impulse", ROWS)
    program.output("on_a", program.let(J_a.T * impulse))
    program.output("on_b", program.let(J_b.T * impulse))
    return program


@cache
def momentum_kernel() -> Program:
    """Leaf: change of momentum (6) of one body from its start to the step's discrete one, and from there to its end, less
    gravity's half kicks."""
    program = Program("momentum_changes", "Changes of a body's momentum at both ends of a step.")
    body, gravity, h = program.input("body", BODY), program.input("gravity", 3), program.scalar("h")
    start, end = program.input("start", STATE), program.input("end", STATE)
    inertia = symmetric(body[1:, 0])
    J_d = program.let((body[1, 0] + body[4, 0] + body[6, 0]) / 2 * Matrix.eye(3) - inertia)
    R0, R1 = (rotation(program, s[QUATERNION, 0]) for s in (start, end))
    inverse_h, half_h = program.let(1 / h), program.let(h / 2)
    v = program.let((end[POSITION, 0] - start[POSITION, 0]) * inverse_h)
    L = program.let(program.let(discrete_spin(program.let(R1 * program.let(J_d * R0.T)))) * inverse_h)
    L0, L1 = (
        program.let(R * program.let(inertia * program.let(R.T * s[OMEGA, 0]))) for R, s in ((R0, start), (R1, end))
    )
    kick = program.let(half_h * gravity)
    leaving = program.let(body[0, 0] * program.let(v - start[VELOCITY, 0] - kick))
    arriving = program.let(body[0, 0] * program.let(end[VELOCITY, 0] - v - kick))
    program.output("leaving", column(leaving, program.let(L - L0)))
    program.output("arriving", column(arriving, program.let(L1 - L)))
    return program


def _impulses(
    program: Program, tree: Tree, at: dict[str, Any], start: list[Any], end: list[Any]
) -> tuple[list[Any], list[Any]]:
    """Impulse of every joint's effort at the start and at the end: torque, spring, rotor, friction."""
    h = at["h"]
    half_h, inverse_h = program.let(h / 2), program.let(1 / h)
    first, second = [], []
    for j, parent in enumerate(tree.parents):
        stiffness, rest = part(at["spring"], SPRING, j)
        rotor, u = at["rotor"][j, 0], at["u"][j, 0]
        found = []
        for states in (start, end):
            carrier = WORLD_STATE if parent == WORLD else states[parent]
            given = {"joint": part(at["joint"], JOINT, j), "parent": carrier, "child": states[j]}
            called = program.call(state_kernel(tree.slides[j]), **given, p_ref=at["p_ref"][j, 0])
            found.append((called["p"][0, 0], called["pd"][0, 0]))
        (p0, pd0), (p1, pd1) = found
        mean = program.let(inverse_h * program.let(p1 - p0))
        pushes = [program.let(u + forces.spring_torque(p, stiffness, rest)) for p in (p0, p1)]
        for one, place in zip(tree.attached, tree.attached_places, strict=True):
            if one.joint == j:
                numbers = list(at[attached.BLOCK][place, 0])
                pushes = [
                    program.let(push + attached.law(program, one.element, "torque", p, numbers))
                    for push, p in zip(pushes, (p0, p1), strict=True)
                ]
        own = list(part(at["friction"], friction_size(tree), j))
        friction = program.let(forces.friction_torque(pd1, *forces.coefficients(tree.friction, pd0, own)))
        first.append(program.let(half_h * pushes[0] - rotor * program.let(mean - pd0)))
        second.append(program.let(half_h * pushes[1] - rotor * program.let(pd1 - mean) + h * friction))
    return first, second


def _balance(
    program: Program, tree: Tree, change: list[Any], joint: Any, states: list[Any], effort: list[Any], impulse: Any
) -> list[Any]:
    """Change of momentum less all impulses (6) of every link, with gradients and axes at `states`."""
    x = [s[POSITION, 0] for s in states]
    pulled = efforts.pulls(program, tree, joint, effort, x, rotations(program, [s[QUATERNION, 0] for s in states]))
    on_a, on_b = [], []
    for j, parent in enumerate(tree.parents):
        called = program.call(
            constraint_pull_kernel(tree.slides[j]),
            joint=part(joint, JOINT, j),
            parent=WORLD_STATE if parent == WORLD else states[parent],
            child=states[j],
            impulse=part(impulse, ROWS, j),
        )
        on_a.append(called["on_a"])
        on_b.append(called["on_b"])
    rows = []
    for i in range(tree.n):
        parts = [*pulled[i].values(), on_b[i], *(on_a[k] for k in children(tree, i))]
        rows.append(program.let(change[i] - projection.total(program, parts)))
    return rows


@cache
def momentum_residual(tree: Tree) -> Program:
    """xi, u, h, gravity, body, joint, friction, spring, rotor, xi_next, impulse and impulse_next (5 a joint), p_ref (1 a joint)
    and, where there are, attached (springs on chosen joints) -> balance (12 a link): linear and angular momentum
    [kg·m/s, kg·m²/s] at the start, then at the end.

    Joint angles, which springs and rotors act by, are those within half a turn of p_ref."""
    n = tree.n
    program = Program("momentum_residual", "Momentum balances of a variational step between two states.")
    sizes = {"xi": STATE, "u": 1, "body": BODY, "joint": JOINT, "spring": SPRING, "rotor": 1}
    sizes |= {"friction": friction_size(tree), "xi_next": STATE, "impulse": ROWS, "impulse_next": ROWS, "p_ref": 1}
    at = {"h": program.scalar("h"), "gravity": program.input("gravity", 3)}
    at |= {name: program.input(name, size * n) for name, size in sizes.items()}
    at |= {name: program.input(name, tree.attached_size) for name in attached.attached_names(tree)}
    start, end = each(at["xi"], STATE, tree), each(at["xi_next"], STATE, tree)
    changes = [
        program.call(
            momentum_kernel(),
            body=part(at["body"], BODY, i),
            gravity=at["gravity"],
            h=at["h"],
            start=start[i],
            end=end[i],
        )
        for i in range(n)
    ]
    first, second = _impulses(program, tree, at, start, end)
    leaving, arriving = ([c[key] for c in changes] for key in ("leaving", "arriving"))
    begun = _balance(program, tree, leaving, at["joint"], start, first, at["impulse"])
    ended = _balance(program, tree, arriving, at["joint"], end, second, at["impulse_next"])
    program.output("balance", column(*(row for pair in zip(begun, ended, strict=True) for row in pair)))
    return program


@cache
def state_residual(tree: Tree) -> Program:
    """xi, joint -> residual (11 a link): constraints of its joint [m, 1] (5), |q|² − 1, their rates [m/s, 1/s] (5)."""
    program = Program("state_residual", "What makes a maximal state consistent.")
    xi, joint = program.input("xi", STATE * tree.n), program.input("joint", JOINT * tree.n)
    rows = []
    for j in range(tree.n):
        given = ends(tree, xi, joint, j)
        c = program.call(constraint_kernel(tree.slides[j]), **given)["c"]
        rate = program.call(constraint_rate_kernel(tree.slides[j]), **given)["rate"]
        q = given["child"][QUATERNION, 0]
        rows.append(column(c, program.let(dot(q, q) - 1), rate))
    program.output("residual", column(*rows))
    return program
