"""Joint rates of the velocity stage along the tree, in O(n); `velocity.rates` is the dense version.

One safeguarded Newton iteration on M ṗ - h τ_friction(ṗ) = b solves

    (M + D) ṗ⁺ = b + h τ(ṗ) + D ṗ,        D = h times the slope of friction,

link by link: joints are eliminated from the tips with D on their pivots (b is never formed: each link contributes its own
momentum), and the rates follow from the base. Algorithm 1 damps velocities computed from poses; there the unknown is the change
of the rates, which does not affect motion outside of the joints, and no momentum is needed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.laws import forces
from diffpbd.codegen.method import limits, projection
from diffpbd.codegen.method.projection import SYMMETRIC_INERTIA, motion_of
from diffpbd.codegen.method.world import call_at
from diffpbd.codegen.program.notation import FRICTION, LIMIT, WORLD, children, column, part
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import dot
from diffpbd.codegen.program.tree import Tree

REST = Matrix([0] * 6)


@cache
def resistance_kernel(relative: bool) -> Program:
    """Leaf: `slope` D and `drive` of one joint at a rate: ½h effort + h τ(ṗ) + D ṗ, or for changes h τ(ṗ) + D (ṗ - before)."""
    program = Program(f"{'damping' if relative else 'resistance'}", "Friction of a joint, linearised at a rate.")
    coulomb, viscous, transition = program.input("friction", FRICTION)
    rate, h = program.scalar("rate"), program.scalar("h")
    slip = program.let(sp.tanh(program.let(rate / transition)))
    known = {sp.tanh(rate / transition): slip}
    torque = program.let(forces.friction_torque(rate, coulomb, viscous, transition).subs(known))
    slope = program.let(h * forces.friction_slope(rate, coulomb, viscous, transition).subs(known))
    program.output("slope", slope)
    if relative:
        drive = h * torque + slope * (rate - program.scalar("before"))
    else:
        drive = h * (torque + program.scalar("effort") / 2) + slope * rate
    program.output("drive", program.let(drive))
    return program


@cache
def rate_follow_kernel(slide: bool, relative: bool, limited: bool = False) -> Program:
    """Leaf: `next` rate of a joint and `twist` (6) of its link, or the changes of both, from its parent's.

    A rate that would change its sign stops at zero, as in `velocity.friction_iteration`; a `limited` joint does not move
    further at a limit, see `lock_next`.
    """
    kind = f"{'slide' if slide else 'hinge'}{'_change' if relative else ''}{'_limited' if limited else ''}"
    program = Program(f"rate_{kind}", "Rate of a joint from its parent's twist.")
    row, constant = program.input("row", 6), program.scalar("constant")
    S, rate, twist = motion_of(program.input("motion", 6), slide), program.scalar("rate"), program.input("twist_a", 6)
    s = program.let(-dot(row, twist) - constant)
    before = program.scalar("before") if relative else sp.Integer(0)
    target = program.let(before + s)
    if limited:
        target, lock = limits.held(program, target, program.input("contact", LIMIT))
        s = program.let(target - before)
        program.output("lock_next", lock)
    sign = program.let(sp.sign(program.let(target * rate)))
    keep = program.let(1 + (sign - sp.Abs(sign)) / 2)
    program.output("next", program.let(keep * target))
    program.output("twist", program.let(twist + S * s))
    return program


@cache
def rate_sweep(tree: Tree, relative: bool) -> Program:
    """Call program: one Newton iteration: rate (n) -> `rate_next` (n).

    inertia (10 n), motion (6 n), friction (3 n), h, and either momentum (6 n) and effort (n) or, `relative`, before (n). With
    limits also contact (2 n) and lock (n) -> `lock_next` (n).
    """
    n = tree.n
    program = Program(f"rate_sweep{'_change' if relative else ''}", "Newton iteration on all joint rates.")
    inertia, motion = program.input("inertia", SYMMETRIC_INERTIA * n), program.input("motion", 6 * n)
    friction, h, rate = program.input("friction", FRICTION * n), program.scalar("h"), program.input("rate", n)
    momentum = None if relative else program.input("momentum", 6 * n)
    given_name = "before" if relative else "effort"
    given = program.input(given_name, n)
    if tree.limits:
        contact, lock = program.input("contact", LIMIT * n), program.input("lock", n)
    rules: list[dict[str, Any]] = [{}] * n
    felt: list[Any] = [None] * n
    for j in reversed(range(n)):
        resistance = program.call(
            resistance_kernel(relative),
            friction=part(friction, FRICTION, j),
            rate=rate[j, 0],
            h=h,
            **{given_name: given[j, 0]},
        )
        own = {
            "inertia": part(inertia, SYMMETRIC_INERTIA, j),
            "momentum": REST if momentum is None else part(momentum, 6, j),
            "motion": part(motion, 6, j),
        }
        behind = [felt[k] for k in children(tree, j)]
        if behind:
            own["carried"] = projection.total(program, behind)
        parent = tree.parents[j]
        limited = parent != WORLD and j in tree.limits
        if limited:
            own |= {"lock": lock[j, 0], "before": given[j, 0] if relative else sp.Integer(0)}
        kernel = projection.elimination_kernel(False, bool(behind), tree.slides[j], resisted=True, limited=limited)
        rules[j] = call_at(program, tree, j, kernel, own, resistance)
        felt[j] = rules[j].get("carried_on")
    twists: list[Any] = []
    after: list[Any] = []
    locks: list[Any] = []
    for j, parent in enumerate(tree.parents):
        own = {"motion": part(motion, 6, j), "rate": rate[j, 0]}
        if relative:
            own["before"] = given[j, 0]
        if parent != WORLD:
            own["twist_a"] = twists[parent]
        limited = j in tree.limits
        if limited:
            own["contact"] = part(contact, LIMIT, j)
        called = call_at(program, tree, j, rate_follow_kernel(tree.slides[j], relative, limited), rules[j], own)
        locks.append(called["lock_next"][0, 0] if limited else sp.Integer(0))
        twists.append(called["twist"])
        after.append(called["next"])
    program.output("rate_next", column(*after))
    if tree.limits:
        program.output("lock_next", column(*locks))
    return program


def rates(
    program: Program,
    tree: Tree,
    blocks: dict[str, list[Any]],
    friction: Any,
    h: Any,
    iterations: int,
    room: list[Any] | None = None,
) -> Any:
    """Calls: joint rates (n), iterated from rest; `blocks` as `rate_sweep` takes them, link by link, `before` making it
    relative.

    With limits, first passes at rest find which of the joints without `room` are held.
    """
    kernel = rate_sweep(tree, "before" in blocks)
    given = {name: column(*block) for name, block in blocks.items()}
    rate = sp.zeros(tree.n, 1)
    if room is not None:
        contact, locks = limits.contacts(program, room)
        given |= {"contact": column(*contact), "lock": column(*locks)}
        for _ in range(limits.PASSES - 1):
            given["lock"] = program.call(kernel, **given, friction=friction, h=h, rate=rate)["lock_next"]
        for _ in range(iterations):
            called = program.call(kernel, **given, friction=friction, h=h, rate=rate)
            rate, given["lock"] = called["rate_next"], called["lock_next"]
        return rate
    for _ in range(iterations):
        rate = program.call(kernel, **given, friction=friction, h=h, rate=rate)["rate_next"]
    return rate
