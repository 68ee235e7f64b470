"""External wrenches in maximal coordinates: a wrench kicks its body like gravity, at both ends of the step with the pose there.
Numbers as in `joint_space.wrenches`, one flat block (9) per wrench.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from diffpbd.codegen.method.projection import total
from diffpbd.codegen.program.notation import BODY, JOINT, WRENCH, JointNumbers, column, part, square
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.rotation import cross
from diffpbd.codegen.program.tree import Tree


def wrench_names(tree: Tree) -> tuple[str, ...]:
    """Name of the flat input of the steps, if the tree has wrenches."""
    return ("wrench",) if tree.wrenches else ()


@cache
def push_kernel() -> Program:
    """Leaf: `push`, force and moment (6) at a body's COM by a wrench (9) on it; R (9) of the body."""
    program = Program("wrench_push", "Force and moment at the COM of a body by an external wrench on it.")
    joint, wrench = JointNumbers.of(program.input("joint", JOINT)), program.input("wrench", WRENCH)
    R = square(program.input("rotation", 9))
    r, f, t = (wrench[k : k + 3, 0] for k in (0, 3, 6))
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
