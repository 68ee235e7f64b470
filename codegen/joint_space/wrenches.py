"""External wrenches: a force f and a torque t, constant over a step in world axes, at the origin x of a frame on a link.

Wrench k of `Tree.wrenches` acts on that link, at the point r of it; its numbers are a column (9) of `wrench`: r [m] in link
axes, f [N] and t [N·m] in world axes. In joint space it is one more torque on every joint that carries the link,

    w·(x × f + t) + v·f,    (w, v) the joint's screw,

which joins the joint's own effort in every equation. `method.wrenches` has them in maximal coordinates.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from diffpbd.codegen.joint_space.moments import ZERO3, Frames, Pose, add, pose, project
from diffpbd.codegen.program.notation import WRENCH
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross, dot
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree


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


def carried(b: Program, tree: Tree, at: Pose, wrench: Any) -> list[Any]:
    """Of the wrenches that each joint carries, the sums ∑ f xᵀ (transposed), ∑ f and ∑ t (n); None where it carries none.

    With them the sum of J × f of `torque_gradient` is X w − w tr X + v × f, X = ∑ x fᵀ."""
    sums: list[Any] = [None] * tree.n
    for k, link in enumerate(tree.wrenches):
        with b.part(link):
            r, f, t = _parts(wrench, k)
            x = b.let(at.o[link] + b.let(at.R[link] * r))
            own = (b.let(x * f.T), f, t)
            sums[link] = (
                own if sums[link] is None else tuple(b.let(u + v) for u, v in zip(sums[link], own, strict=True))
            )
    for i in range(tree.n - 1, -1, -1):
        parent = tree.parents[i]
        if parent < 0 or sums[i] is None:
            continue
        with b.part(i):
            before = sums[parent]
            sums[parent] = (
                sums[i] if before is None else tuple(b.let(u + v) for u, v in zip(before, sums[i], strict=True))
            )
    return sums


def _at(tree: Tree, name: str, doc: str) -> tuple[Program, Pose, Any]:
    b = Program(name, doc)
    p = b.input("p", tree.n)
    frames = Frames(b.input("before", 12, tree.n), b.input("after", 9, tree.n))
    return b, pose(b, tree, frames, p), wrench_input(b, tree)


@stored
def torque_program(tree: Tree) -> Program:
    """p → `torque` (n) of the wrenches on the joints."""
    b, at, wrench = _at(tree, "wrench_torque", "Torque of the external wrenches on every joint.")
    b.output("torque", Matrix(torque(b, tree, at, wrench)))
    return b


@stored
def gradient_program(tree: Tree) -> Program:
    """p → `gradient` (n × n) of `torque_program`."""
    b, at, wrench = _at(tree, "wrench_gradient", "Derivative of the wrenches' torque by the joint positions.")
    b.output("gradient", torque_gradient(b, tree, at, wrench))
    return b
