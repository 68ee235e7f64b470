"""Velocity stage: project momenta onto the joints, solve the implicit friction there, and return
velocities.

On an open tree the projection J W Jᵀ μ = -J v is v⁺ = T ṗ with Tᵀ W⁻¹ T ṗ = Tᵀ W⁻¹ v: the joint-space inertia
M and momentum, summed over each joint's subtree. Friction is one backward-Euler kick of length h, so the
rates solve

    M ṗ - h τ_friction(ṗ) = b,

the gradient of a strictly convex function of ṗ (M is positive definite, -τ increases with the rate).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.laws import forces
from diffpbd.codegen.method import bodies, limits, loop_rates, tree_rates
from diffpbd.codegen.method.projection import SYMMETRIC_INERTIA, motion_of, motions
from diffpbd.codegen.method.world import call_at
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.notation import (
    BODY,
    FRICTION,
    OMEGA,
    POSE,
    POSE_POSITION,
    POSE_QUATERNION,
    STATE,
    VELOCITY,
    WORLD,
    column,
    part,
)
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot, symmetric
from diffpbd.codegen.program.tree import Tree

FRICTION_ITERATIONS = 10
"""Newton iterations on friction, from rest. On Baxter, sticking, slipping and between, with h·slope/inertia of 230
and far beyond, 1e-12 of the impulse takes 6 in the median, 11 in 99 % and 12 in all of 9 000 trials; without
Coulomb friction the first is exact."""


def _inertia_matrix(program: Program, tree: Tree, motion: list[Any], inertia: list[Any]) -> Any:
    """M (n x n) from the packed inertias (10) of the links: composite inertias times motions, along the tree
    paths."""
    composite = [list(i) for i in inertia]
    for j in reversed(range(tree.n)):
        if tree.parents[j] != WORLD:
            composite[tree.parents[j]] = [a + b for a, b in zip(composite[tree.parents[j]], composite[j], strict=True)]
        composite[j] = list(program.let(Matrix(composite[j])))
    M = [[sp.Integer(0)] * tree.n for _ in range(tree.n)]
    for j in range(tree.n):
        mass, first, second = composite[j][0], Matrix(composite[j][1:4]), symmetric(composite[j][4:10])
        v, omega = motion[j][:3, 0], motion[j][3:, 0]
        force = program.let(mass * v + cross(omega, first))
        moment = program.let(second * omega + cross(first, v))
        for k in tree.ancestors(j):
            M[k][j] = M[j][k] = program.let(dot(motion[k], column(force, moment)))
    return Matrix(M)


def _motion_inputs(program: Program, tree: Tree) -> list[Any]:
    blocks = [program.input(f"motion_{i}", 6) for i in range(tree.n)]
    return [motion_of(blocks[i], tree.slides[i], tree.parents[i] == WORLD) for i in range(tree.n)]


@cache
def rate_balance(tree: Tree) -> Program:
    """Leaf: M (n x n) and `impulse` b = Tᵀ momentum + ½h effort (n); inertia_i (10), momentum_i, motion_i
    (6), effort_i."""
    program = Program("rate_balance", "Joint-space inertia and momentum of the tree at its new pose.")
    inertia = [program.input(f"inertia_{i}", SYMMETRIC_INERTIA) for i in range(tree.n)]
    momentum = [program.input(f"momentum_{i}", 6) for i in range(tree.n)]
    motion = _motion_inputs(program, tree)
    effort = [program.scalar(f"effort_{i}") for i in range(tree.n)]
    half_h = program.let(program.scalar("h") / 2)
    program.output("M", _inertia_matrix(program, tree, motion, inertia))
    carried = list(momentum)
    for j in reversed(range(tree.n)):
        carried[j] = program.let(carried[j])
        if tree.parents[j] != WORLD:
            carried[tree.parents[j]] = carried[tree.parents[j]] + carried[j]
    impulse = [program.let(dot(motion[j], carried[j]) + half_h * effort[j]) for j in range(tree.n)]
    program.output("impulse", Matrix(impulse))
    return program


@cache
def rate_inertia(tree: Tree) -> Program:
    """Leaf: M (n x n) and `impulse` M ṗ (n) of given rates; inertia_i (10), motion_i (6), rate_i."""
    program = Program("rate_inertia", "Joint-space inertia of the tree, and its momentum at given rates.")
    inertia = [program.input(f"inertia_{i}", SYMMETRIC_INERTIA) for i in range(tree.n)]
    motion = _motion_inputs(program, tree)
    rate = Matrix([program.scalar(f"rate_{i}") for i in range(tree.n)])
    M = _inertia_matrix(program, tree, motion, inertia)
    program.output("M", M)
    program.output("impulse", program.let(M * rate))
    return program


@cache
def friction_iteration(tree: Tree) -> Program:
    """Leaf: one safeguarded Newton iteration on M ṗ - h τ_friction(ṗ) = impulse: rate (n) -> `next` (n).

    A rate that would change its sign stops at zero instead, where friction is steepest. From there Newton's
    method approaches slipping rates from below without overshooting; without this safeguard it oscillates
    between the two flanks of tanh.
    """
    n = tree.n
    program = Program("friction_iteration", "Safeguarded Newton iteration on the implicit friction kick.")
    M, impulse, h = program.input("M", n, n), program.input("impulse", n), program.scalar("h")
    friction, rate = program.input("friction", FRICTION * n), program.input("rate", n)
    residual, slope = [], []
    for j in range(n):
        coulomb, viscous, transition = part(friction, FRICTION, j)
        slip = program.let(sp.tanh(program.let(rate[j, 0] / transition)))
        known = {sp.tanh(rate[j, 0] / transition): slip}
        torque = program.let(forces.friction_torque(rate[j, 0], coulomb, viscous, transition).subs(known))
        residual.append(program.let(dot(M[j, :], rate) - h * torque - impulse[j, 0]))
        slope.append(program.let(h * forces.friction_slope(rate[j, 0], coulomb, viscous, transition).subs(known)))
    A = program.let(M + sp.diag(*slope))
    step = elimination.solve(program, elimination.factors(program, A, symmetric=True), Matrix(residual))
    after = []
    for j in range(n):
        target = program.let(rate[j, 0] - step[j, 0])
        sign = program.let(sp.sign(program.let(target * rate[j, 0])))
        keep = program.let(1 + (sign - sp.Abs(sign)) / 2)
        after.append(program.let(keep * target))
    program.output("next", Matrix(after))
    return program


@cache
def velocity_kernel(slide: bool) -> Program:
    """Leaf: twist (6) of a link at the root joint from its parent's, and its `state` (13) at its new pose."""
    program = Program(
        f"velocity_{'slide' if slide else 'hinge'}",
        "Velocities of a link from its joint's rate and its parent's twist.",
    )
    rate, S = program.scalar("rate"), motion_of(program.input("motion", 6), slide)
    twist = program.input("twist_a", 6) + S * rate
    offset, pose = program.input("offset", 3), program.input("pose", POSE)
    twist = program.let(twist)
    omega = twist[3:, 0]
    v = program.let(twist[:3, 0] + cross(omega, offset))
    program.output("twist", twist)
    program.output("state", column(pose[POSE_POSITION, 0], v, pose[POSE_QUATERNION, 0], omega))
    return program


@cache
def rate_kernel(slide: bool) -> Program:
    """Leaf: rate of a joint from the states of parent and child."""
    program = Program(f"{'slide' if slide else 'hinge'}_rate", "Rate of a joint between two moving links.")
    S, child, parent = program.input("motion", 6), program.input("child", STATE), program.input("parent", STATE)
    omega = program.let(child[OMEGA, 0] - parent[OMEGA, 0])
    if not slide:
        program.output("rate", program.let(dot(S[3:, 0], omega)))
        return program
    offset_b = program.input("offset_b", 3)
    offset_a = program.input("offset_a", 3)
    at_root = (
        child[VELOCITY, 0] + cross(offset_b, child[OMEGA, 0]) - parent[VELOCITY, 0] - cross(offset_a, parent[OMEGA, 0])
    )
    program.output("rate", program.let(dot(S[:3, 0], program.let(at_root))))
    return program


@cache
def nudge_kernel(slide: bool) -> Program:
    """Leaf: a state whose joint changes its rate from `before` to `after`: the change of twist (6), and the
    new state (13)."""
    program = Program(f"nudge_{'slide' if slide else 'hinge'}", "Velocities of a link changed by its joints.")
    before, after = program.scalar("before"), program.scalar("after")
    S = motion_of(program.input("motion", 6), slide)
    change = S * program.let(after - before)
    twist = program.let(program.input("twist_a", 6) + change)
    offset, state = program.input("offset", 3), program.input("state", STATE)
    v = program.let(state[VELOCITY, 0] + twist[:3, 0] + cross(twist[3:, 0], offset))
    omega = program.let(state[OMEGA, 0] + twist[3:, 0])
    program.output("twist", twist)
    program.output("next", column(state[:3, 0], v, state[6:10, 0], omega))
    return program


def _iterated(program: Program, tree: Tree, balance: dict[str, Any], friction: Any, h: Any, iterations: int) -> Any:
    kernel = friction_iteration(tree)
    rate = sp.zeros(tree.n, 1)
    for _ in range(iterations):
        rate = program.call(kernel, **balance, friction=friction, h=h, rate=rate)["next"]
    return rate


def _numbered(**blocks: list[Any]) -> dict[str, Any]:
    return {f"{name}_{i}": value for name, values in blocks.items() for i, value in enumerate(values)}


def rates(
    program: Program,
    tree: Tree,
    inertia: list[Any],
    motion: list[Any],
    momentum: list[Any],
    effort: list[Any],
    friction: Any,
    h: Any,
    iterations: int,
    room: list[Any] | None = None,
    pull: Any = None,
) -> Any:
    """Calls: joint rates (n) of the momenta, with the implicit friction kick iterated from rest; `pull` of the kept rows of
    closed loops at this pose, if there are any; then `pivots` of their border become an output."""
    if pull is not None:
        given = _numbered(inertia=inertia, motion=motion, momentum=momentum, effort=effort)
        balance = program.call(rate_balance(tree), h=h, **given)
        A = program.call(loop_rates.rate_rows(tree), pull=pull, **_numbered(motion=motion))["A"]
        called: dict[str, Any] = {"next": sp.zeros(tree.n, 1)}
        for _ in range(iterations):
            given = {**balance, "A": A, "friction": friction, "h": h, "rate": called["next"]}
            called = program.call(loop_rates.friction_iteration(tree), **given)
        program.output("pivots", called["pivots"])
        return called["next"]
    if tree.deep or tree.limits:
        blocks = {"inertia": inertia, "motion": motion, "momentum": momentum, "effort": effort}
        return tree_rates.rates(program, tree, blocks, friction, h, iterations, room)
    given = _numbered(inertia=inertia, motion=motion, momentum=momentum, effort=effort)
    return _iterated(program, tree, program.call(rate_balance(tree), h=h, **given), friction, h, iterations)


def damped_rates(
    program: Program,
    tree: Tree,
    inertia: list[Any],
    motion: list[Any],
    before: list[Any],
    friction: Any,
    h: Any,
    iterations: int,
    room: list[Any] | None = None,
) -> Any:
    """Calls: joint rates (n) after a friction kick of given ones."""
    if tree.deep or tree.limits:
        blocks = {"inertia": inertia, "motion": motion, "before": before}
        return tree_rates.rates(program, tree, blocks, friction, h, iterations, room)
    given = _numbered(inertia=inertia, motion=motion, rate=before)
    return _iterated(program, tree, program.call(rate_inertia(tree), **given), friction, h, iterations)


def damped(
    program: Program,
    tree: Tree,
    states: list[Any],
    poses: list[Any],
    numbers: tuple[Any, Any, Any, Any],
    iterations: int,
    reach: tuple[Any, Any],
) -> list[Any]:
    """Calls: states after a friction kick of their joints' rates alone, and none outward at limits; without
    friction and limits they stay as they are. `numbers` are the flat columns joint, body, friction and h, `reach` limit and
    angle."""
    joint, body, friction, h = numbers
    x = [pose[POSE_POSITION, 0] for pose in poses]
    R = [program.call(bodies.rotation_kernel(), q=pose[POSE_QUATERNION, 0])["rotation"] for pose in poses]
    moving = motions(program, tree, joint, x, R, closing=False)
    before, inertia = [], []
    for j, parent in enumerate(tree.parents):
        own = {"motion": moving[j]["motion"], "child": states[j], "offset_b": moving[j]["offset"]}
        if parent != WORLD:
            own |= {"parent": states[parent], "offset_a": moving[parent]["offset"]}
        before.append(call_at(program, tree, j, rate_kernel(tree.slides[j]), own)["rate"])
        own = {"body": part(body, BODY, j), "rotation": R[j], "offset": moving[j]["offset"]}
        inertia.append(program.call(bodies.inertia_kernel(), **own)["inertia"])
    motion = [link["motion"] for link in moving]
    room = limits.rooms(program, tree, joint, *reach, x, R) if tree.limits else None
    after = damped_rates(program, tree, inertia, motion, before, friction, h, iterations, room)
    results: list[Any] = []
    twists: list[Any] = []
    for j, parent in enumerate(tree.parents):
        carried = {} if parent == WORLD else {"twist_a": twists[parent]}
        own = {"before": before[j], "after": after[j, 0], "state": states[j]}
        called = call_at(program, tree, j, nudge_kernel(tree.slides[j]), moving[j], carried, own)
        twists.append(called["twist"])
        results.append(called["next"])
    return results
