"""Joint limits: the third constraint, a unilateral constraint per side.

    lower <= p <= upper,    multiplier >= 0 on the active side, 0 elsewhere,

at the position level, and likewise for the rates of joints at a limit, which may only leave it (no restitution). A row's
gradient is the joint's own motion, so in the direct solves an active limit locks a joint that the elimination has already
isolated: `projection.solve` and `tree_rates` compute its free motion, stop it at its limit, and treat it as rigid in the next
pass. Sweeps carry one multiplier per joint.

There are no branches: sides are chosen by `below`, whose derivative is zero. Derivatives are exact unless a joint is just
touching or leaving a limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.method.bodies import rotation_kernel
from diffpbd.codegen.method.constraints import JointVectors, gradient, joint_gap
from diffpbd.codegen.method.kinematics import hinge_beyond, slide_position
from diffpbd.codegen.method.world import call_at
from diffpbd.codegen.program.notation import (
    JOINT,
    LIMIT,
    POSITION,
    QUATERNION,
    STATE,
    WORLD,
    JointNumbers,
    column,
    part,
    square,
)
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import dot
from diffpbd.codegen.program.selection import below
from diffpbd.codegen.program.tree import Tree

PASSES: Final = 3
"""Solves, each with the active set of the previous one: the first finds active limits, the second solves with them, the third
for limits that become inactive again. More matter only if several joints reach their limits within one step."""

CLOSE: Final = sp.Float(1e-6)
"""[rad or m] Tolerance within which a joint is at its limit in the rate stage: far above the error of a converged pose, far
below what matters."""

OUTSIDE: Final = sp.Float(5e-2)
"""[rad or m] Largest violation of a limit at the start of a step, more than backlash or measurement errors."""

INWARDS: Final = sp.Float(1e-2)
"""[rad/s or m/s] Speed at which a joint that starts outside is moved in: the rate of its moving limit. Pushed in within one
step it would keep the rate depth/h, 100 rad/s for 1 rad."""


def stopped(program: Program, s: Any, room: Any) -> tuple[Any, Any]:
    """A motion clipped to its room, and its lock: -1 if clipped at the lower limit, 1 at the upper, else 0."""
    lower, upper = room[0, 0], room[1, 0]
    under, over = program.let(s - lower), program.let(upper - s)
    low, high = program.let(below(under)), program.let(below(over))
    return program.let(s - low * under + high * over), program.let(high - low)


@dataclass(frozen=True)
class Stop:
    """Limits of one joint in a solve: its lock so far, its `room` (2), and the `distance` to the limit it is locked at."""

    lock: Any
    room: Any
    distance: Any


def position(
    program: Program, joint: JointNumbers, slide: bool, x_a: Any, R_a: Any, x_b: Any, R_b: Any, p_ref: Any
) -> Any:
    """Position of a joint at two poses; a hinge's within π of p_ref."""
    if slide:
        return program.let(slide_position(program, joint, x_a, R_a, x_b, R_b))
    return program.let(p_ref + hinge_beyond(program, joint, R_a, R_b, p_ref))


def _position(program: Program, slide: bool, p_ref: Any) -> Any:
    """`position` from the kernel's inputs."""
    joint = JointNumbers.of(program.input("joint", JOINT))
    R_b = square(program.input("rotation_b", 9))
    R_a = square(program.input("rotation_a", 9))
    x_b, x_a = (program.input(k, 3) if slide else sp.zeros(3, 1) for k in ("x_b", "x_a"))
    return position(program, joint, slide, x_a, R_a, x_b, R_b, p_ref)


@cache
def start_kernel(slide: bool) -> Program:
    """Leaf: `angle`, the position of a joint at the start of a step, a hinge's within π of the middle of its range; `reach`,
    its limits in this step, moved outwards for a joint that starts outside."""
    program = Program(
        f"{'slide' if slide else 'hinge'}_start", "Position of a joint, and its limits in a step from there."
    )
    lower, upper = program.input("limit", LIMIT)
    inwards = program.let(INWARDS * program.scalar("h"))
    middle = sp.Integer(0) if slide else program.let((lower + upper) / 2)
    p = _position(program, slide, middle)
    under, over = program.let(p + inwards - lower), program.let(upper - p + inwards)
    low, high = program.let(under * below(under)), program.let(over * below(over))
    program.output("angle", p)
    program.output("reach", column(program.let(lower + low), program.let(upper - high)))
    return program


@cache
def outside_kernel(slide: bool) -> Program:
    """Leaf: `least` of a joint's room to both limits extended by OUTSIDE, and of its range: negative if it starts too far
    outside, or its range is empty."""
    program = Program(f"{'slide' if slide else 'hinge'}_outside", "How far outside its limits a joint is.")
    lower, upper = program.input("limit", LIMIT)
    middle = sp.Integer(0) if slide else program.let((lower + upper) / 2)
    p, width = _position(program, slide, middle), program.let(upper - lower)
    under, over = program.let(p - lower + OUTSIDE), program.let(upper - p + OUTSIDE)
    worse = program.let(over + (under - over) * below(under - over))
    program.output("least", program.let(width + (worse - width) * below(worse - width)))
    return program


@cache
def room_kernel(slide: bool) -> Program:
    """Leaf: `room` (2) of a joint at an iterate; a hinge's position is taken within π of the one at the start of the step."""
    program = Program(f"{'slide' if slide else 'hinge'}_room", "Room of a joint.")
    limit = program.input("limit", LIMIT)
    p = _position(program, slide, program.scalar("angle"))
    program.output("room", program.let(limit - Matrix([p, p])))
    return program


@cache
def stop_kernel() -> Program:
    """Leaf: `stop`, the distance to the limit at which a joint is locked, from its `room` and `lock`."""
    program = Program("stop", "The way to the limit that a joint is locked at.")
    room, lock = program.input("room", LIMIT), program.scalar("lock")
    program.output("stop", program.let(below(lock) * room[0, 0] + below(-lock) * room[1, 0]))
    return program


def _called(
    program: Program, tree: Tree, j: int, kernel: Program, x: list[Any], R: list[Any], **own: Any
) -> dict[str, Any]:
    parent = tree.parents[j]
    bodies = {"x_b": x[j], "rotation_b": R[j]}
    if parent != WORLD:
        bodies |= {"x_a": x[parent], "rotation_a": R[parent]}
    return call_at(program, tree, j, kernel, bodies, own)


def begin(program: Program, tree: Tree, numbers: tuple[Any, Any, Any], x: list[Any], R: list[Any]) -> None:
    """Calls and outputs: `angle` (n), the position of every limited joint at the start of a step, 0 for the others, and `reach`
    (2 n), the limits of this step. `numbers` are the columns joint and limit, and h."""
    joint, limit, h = numbers
    angle: list[Any] = [sp.Integer(0)] * tree.n
    reach = [part(limit, LIMIT, j) for j in range(tree.n)]
    for j in tree.limits:
        own = {"joint": part(joint, JOINT, j), "limit": reach[j], "h": h}
        called = _called(program, tree, j, start_kernel(tree.slides[j]), x, R, **own)
        angle[j], reach[j] = called["angle"][0, 0], called["reach"]
    program.output("angle", column(*angle))
    program.output("reach", column(*reach))


def led(given: Mapping[str, Any], start: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs of a step, with the limits that `begin` found."""
    return {**given, **({"limit": start["reach"]} if "reach" in start else {})}


@cache
def outside(tree: Tree) -> Program:
    """Call program: xi (13 n), joint, limit (2 n) → `least` of every limited joint, see `outside_kernel`."""
    program = Program("limits_outside", "How far outside their limits joints are.")
    xi, joint = program.input("xi", STATE * tree.n), program.input("joint", JOINT * tree.n)
    limit = program.input("limit", LIMIT * tree.n)
    links = [part(xi, STATE, i) for i in range(tree.n)]
    x = [link[POSITION, 0] for link in links]
    R = [program.call(rotation_kernel(), q=link[QUATERNION, 0])["rotation"] for link in links]
    found = []
    for j in tree.limits:
        own = {"joint": part(joint, JOINT, j), "limit": part(limit, LIMIT, j)}
        found.append(_called(program, tree, j, outside_kernel(tree.slides[j]), x, R, **own)["least"])
    program.output("least", column(*found))
    return program


def rooms(program: Program, tree: Tree, joint: Any, limit: Any, angle: Any, x: list[Any], R: list[Any]) -> list[Any]:
    """Calls: room (2) of every limited joint at an iterate, None for the others; angle (n) as `starts` gave it."""
    results: list[Any] = [None] * tree.n
    for j in tree.limits:
        own = {"joint": part(joint, JOINT, j), "limit": part(limit, LIMIT, j), "angle": angle[j, 0]}
        results[j] = _called(program, tree, j, room_kernel(tree.slides[j]), x, R, **own)["room"]
    return results


def stops(program: Program, room: list[Any], lock: Sequence[Any]) -> list[Stop | None]:
    """Calls: the limits of every joint with the active set so far."""
    results: list[Stop | None] = [None] * len(room)
    for j, space in enumerate(room):
        if space is not None:
            results[j] = Stop(lock[j], space, program.call(stop_kernel(), room=space, lock=lock[j])["stop"][0, 0])
    return results


# Rates ------------------------------------------------------------------------------------------------------------------


@cache
def contact_kernel() -> Program:
    """Leaf: `contact` (2): 1 for each limit that a joint is at, from its room; and the lock to start with."""
    program = Program("contact", "Whether a joint is at its limits.")
    room = program.input("room", LIMIT)
    lower = program.let(below(-CLOSE - room[0, 0]))
    upper = program.let(below(room[1, 0] - CLOSE))
    program.output("contact", column(lower, upper))
    program.output("lock", program.let(upper - lower))
    return program


def contacts(program: Program, room: list[Any]) -> tuple[list[Any], list[Any]]:
    """Calls: contact (2) and lock of every joint at the end of a step."""
    contact: list[Any] = [Matrix([0, 0])] * len(room)
    lock: list[Any] = [sp.Integer(0)] * len(room)
    for j, space in enumerate(room):
        if space is not None:
            called = program.call(contact_kernel(), room=space)
            contact[j], lock[j] = called["contact"], called["lock"][0, 0]
    return contact, lock


def held(program: Program, rate: Any, contact: Any) -> tuple[Any, Any]:
    """A rate clipped so that it does not violate a limit, and its lock."""
    low = program.let(contact[0, 0] * program.let(below(rate)))
    high = program.let(contact[1, 0] * program.let(below(-rate)))
    lock = program.let(high - low)
    return program.let(rate * program.let(1 - lock**2)), lock


# Sweeps -----------------------------------------------------------------------------------------------------------------


def slide_row(w: JointVectors) -> Any:
    """Position of a slide [m] as a residual (1)."""
    return Matrix([dot(w.on_a(w.joint.axis_a), joint_gap(w))])


def row_gradient(slide: bool, w: JointVectors) -> tuple[Any, Any]:
    """J_a, J_b (1 x 6) of a joint's position; a hinge's is its axis on the child, along which its effort acts too."""
    if slide:
        return gradient(slide_row, w)
    axis = w.axis_b.T
    return Matrix.hstack(sp.zeros(1, 3), -axis), Matrix.hstack(sp.zeros(1, 3), axis)


def projected(program: Program, multiplier: Any, p: Any, limit: Any, K: Any) -> Any:
    """The projected multiplier of a joint that is at p with λ: > 0 at its lower limit, < 0 at its upper, 0 in between."""
    lower = program.let(multiplier - program.let(p - limit[0, 0]) / K)
    upper = program.let(multiplier - program.let(p - limit[1, 0]) / K)
    return program.let(lower * program.let(below(-lower)) + upper * program.let(below(upper)))
