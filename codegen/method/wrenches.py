"""External wrenches: a force f and a torque t, constant over a step in world axes, at the origin x of a frame on a link.

Wrench k of `Tree.wrenches` acts on that link, at the point r of it; its numbers are a column (9) of `wrench`: r [m] in link
axes, f [N] and t [N·m] in world axes. In joint space it is one more torque on every joint that carries the link,

    w·(x × f + t) + v·f,    (w, v) the joint's screw,

which joins the joint's own effort in every equation. In maximal coordinates it kicks its body as gravity does, at both ends
of the step, each time at the pose there.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.joint_space.moments import ZERO3, Frames, Pose, add, pose, project
from diffpbd.codegen.method.projection import total
from diffpbd.codegen.program.notation import BODY, JOINT, WRENCH, JointNumbers, column, part, square
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot
from diffpbd.codegen.program.tree import Tree

# Joint space ------------------------------------------------------------------------------------------------------------


def wrench_input(b: Program, tree: Tree) -> Any:
    """Declare `wrench` (9 × wrenches); None for a tree without."""
    return b.input("wrench", WRENCH, len(tree.wrenches)) if tree.wrenches else None


def _parts(wrench: Any, k: int) -> tuple[Any, Any, Any]:
    return wrench[0:3, k], wrench[3:6, k], wrench[6:9, k]


def torque(b: Program, tree: Tree, at: Pose, wrench: Any) -> list[Any]:
    """Torque of all wrenches on every joint (n); zeros without any."""
    if wrench is None:
        return [sp.Integer(0)] * tree.n
    on: list[tuple[Any, Any]] = [(ZERO3, ZERO3)] * tree.n
    for k, link in enumerate(tree.wrenches):
        r, f, t = _parts(wrench, k)
        x = b.let(at.o[link] + b.let(at.R[link] * r))
        on[link] = add(b, on[link], (b.let(t + cross(x, f)), f))
    return list(project(b, tree, at.screw, on))


def torque_gradient(b: Program, tree: Tree, at: Pose, wrench: Any) -> Any:
    """∂(torque of all wrenches)/∂p (n × n): the second derivative of x times f, and what t adds as the axes turn.

    With J = w × x + v of two joints on the way to the link, the second derivative of x is w × J, w of the one nearer the base
    and J of the other; of the two axes only the further one turns, with the nearer.
    """
    entries = [[sp.Integer(0)] * tree.n for _ in range(tree.n)]
    for k, link in enumerate(tree.wrenches):
        r, f, t = _parts(wrench, k)
        x = b.let(at.o[link] + b.let(at.R[link] * r))
        path = tree.ancestors(link)
        for place, far in enumerate(path):
            w, v = at.screw[far]
            pulled = b.let(cross(b.let(v + cross(w, x)), f))
            twisted = b.let(cross(w, t))
            for near in path[place:]:
                axis = at.screw[near][0]
                shared = b.let(dot(axis, pulled))
                entries[far][near] = b.let(entries[far][near] + shared + dot(axis, twisted))
                if near != far:
                    entries[near][far] = b.let(entries[near][far] + shared)
    return Matrix(entries)


def _at(tree: Tree, name: str, doc: str) -> tuple[Program, Pose, Any]:
    b = Program(name, doc)
    p = b.input("p", tree.n)
    frames = Frames(b.input("before", 12, tree.n), b.input("after", 9, tree.n))
    return b, pose(b, tree, frames, p), wrench_input(b, tree)


@cache
def torque_program(tree: Tree) -> Program:
    """p → `torque` (n) of the wrenches on the joints."""
    b, at, wrench = _at(tree, "wrench_torque", "Torque of the external wrenches on every joint.")
    b.output("torque", Matrix(torque(b, tree, at, wrench)))
    return b


@cache
def gradient_program(tree: Tree) -> Program:
    """p → `gradient` (n × n) of `torque_program`."""
    b, at, wrench = _at(tree, "wrench_gradient", "Derivative of the wrenches' torque by the joint positions.")
    b.output("gradient", torque_gradient(b, tree, at, wrench))
    return b


# Maximal coordinates ----------------------------------------------------------------------------------------------------


def wrench_names(tree: Tree) -> tuple[str, ...]:
    """Name of the flat input of the steps, if the tree has wrenches."""
    return ("wrench",) if tree.wrenches else ()


@cache
def push_kernel() -> Program:
    """Leaf: `push`, force and moment (6) at a body's COM by a wrench (9) on it; R (9) of the body."""
    program = Program("wrench_push", "Force and moment at the COM of a body by an external wrench on it.")
    joint, wrench = JointNumbers.of(program.input("joint", JOINT)), program.input("wrench", WRENCH)
    R = square(program.input("rotation", 9))
    r, f, t = _parts(wrench, 0)
    # From the COM to the joint, where the link frame is, and on to the point.
    lever = program.let(R * program.let(joint.t + r))
    program.output("push", column(f, program.let(t + cross(lever, f))))
    return program


@cache
def start_kick_kernel() -> Program:
    """Leaf: target and spin of a body with the first half kick of `push`: ½h² force and moment."""
    program = Program("wrench_start_kick", "Half kick of an external wrench at the start pose.")
    body, push, h = program.input("body", BODY), program.input("push", 6), program.scalar("h")
    kick = program.let(h * h / 2)
    moved = push[:3, 0] * program.let(kick / body[0, 0])
    program.output("target", program.let(program.input("target_before", 3) + moved))
    program.output("spin", program.let(program.input("spin_before", 3) + kick * push[3:, 0]))
    return program


@cache
def end_kick_kernel() -> Program:
    """Leaf: momentum (6, at the root joint) of a body with the second half kick of `push`."""
    program = Program("wrench_end_kick", "Half kick of an external wrench at the end pose.")
    momentum, push, offset = (program.input(k, size) for k, size in (("before", 6), ("push", 6), ("offset", 3)))
    kick = program.let(program.scalar("h") / 2)
    moment = program.let(push[3:, 0] + cross(offset, push[:3, 0]))
    program.output("momentum", program.let(momentum + kick * column(push[:3, 0], moment)))
    return program


def pushes(program: Program, tree: Tree, joint: Any, wrench: Any, R: list[Any]) -> dict[int, Any]:
    """Calls: `push` (6) of every link that wrenches act on, from the flat blocks; R (9) of every link."""
    found: dict[int, list[Any]] = {}
    for k, link in enumerate(tree.wrenches):
        given = {"joint": part(joint, JOINT, link), "wrench": part(wrench, WRENCH, k), "rotation": R[link]}
        found.setdefault(link, []).append(program.call(push_kernel(), **given)["push"])
    return {link: total(program, several) for link, several in found.items()}
