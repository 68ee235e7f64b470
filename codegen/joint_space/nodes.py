"""What the derivatives of a joint-space step need of its two ends, each computed from one state alone.

Along a trajectory a state is the end of one step and the start of the next, so its node is worked out once for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.joint_space import gears
from diffpbd.codegen.joint_space.moments import (
    Coupling,
    Half,
    Pose,
    add,
    bilinear,
    couplings,
    half_moments,
    motion_cross,
    pose,
)
from diffpbd.codegen.joint_space.recursive import model_inputs, velocities
from diffpbd.codegen.joint_space.step import Wrench
from diffpbd.codegen.laws import levers
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree


@dataclass(frozen=True)
class Node:
    """What both steps that meet at a state need of it: pose, mass moments, subtrees' masses and first moments, what changes
    of the momentum with the joint angles (`_momentum_columns`), the inertia of all joints without rotors, and the slopes of
    lever springs."""

    at: Pose
    half: Half
    m: list[Any]
    x1: list[Any]
    U: list[Wrench]
    N: list[Wrench]
    z: list[Wrench]
    M: Any
    slope: list[Any]


def node_at(b: Program, tree: Tree, frames: Any, body: Any, lever: Any, p: Any, pd: Any) -> Node:
    """Of positions and rates (n) of all joints."""
    at = pose(b, tree, frames, p)
    half = half_moments(b, tree, at, body)
    composite = couplings(b, tree, at, half, body, symmetric_moment=True)
    U, N, z = _momentum_columns(b, tree, at, composite, velocities(b, tree, at, pd), pd)
    M = bilinear(b, tree, at.screw, composite, at.screw, columns=U)
    masses, firsts = [C.m for C in composite], [C.x1 for C in composite]
    return Node(at, half, masses, firsts, U, N, z, M, levers.on_joints(b, "slope", tree, lever, p))


def _pack(b: Program, tree: Tree, e: Node) -> Any:
    """A node as one column, but for the masses."""
    n = tree.n
    parts: list[Any] = []
    for k in range(n):
        parts += [*e.at.R[k], *e.at.o[k], *e.half.tensor[k], *e.half.first[k], *e.x1[k]]
        parts += [entry for pair in (e.at.screw[k], e.U[k], e.N[k], e.z[k]) for half in pair for entry in half]
    parts += [e.M[j, k] for k in range(n) for j in range(k, n)]
    return b.let(Matrix([*parts, *(e.slope[joint] for joint in tree.levers)]))


NODE_LINK: Final = 9 + 3 + 9 + 3 + 3 + 4 * 6
"""Numbers of a link in a packed node."""


def node_size(tree: Tree) -> int:
    """Length of a packed node."""
    return NODE_LINK * tree.n + tree.n * (tree.n + 1) // 2 + len(tree.levers)


def unpacked(b: Program, tree: Tree, body: Any, packed: Any) -> Node:
    """The node of a column that `moments` made."""
    n = tree.n
    at, half = Pose([], [], []), Half([], [])
    x1: list[Any] = []
    pairs: tuple[list[Wrench], ...] = (at.screw, [], [], [])
    for k in range(n):
        first = NODE_LINK * k
        own = [packed[first + j] for j in range(NODE_LINK)]
        at.R.append(Matrix(3, 3, own[0:9]))
        at.o.append(Matrix(own[9:12]))
        half.tensor.append(Matrix(3, 3, own[12:21]))
        half.first.append(Matrix(own[21:24]))
        x1.append(Matrix(own[24:27]))
        for j, pair in enumerate(pairs):
            pair.append((Matrix(own[27 + 6 * j : 30 + 6 * j]), Matrix(own[30 + 6 * j : 33 + 6 * j])))
    M = [[sp.Integer(0)] * n for _ in range(n)]
    entries = iter(list(packed)[NODE_LINK * n :])
    for k in range(n):
        for j in range(k, n):
            M[j][k] = M[k][j] = next(entries)
    slope: list[Any] = [sp.Integer(0)] * n
    for joint in tree.levers:
        slope[joint] = next(entries)
    m = [body[0, k] for k in range(n)]
    for k in range(n - 1, -1, -1):
        if tree.parents[k] >= 0:
            m[tree.parents[k]] = b.let(m[tree.parents[k]] + m[k])
    _, U, N, z = pairs
    return Node(at, half, m, x1, U, N, z, Matrix(M), slope)


def _momentum_columns(
    b: Program, tree: Tree, at: Pose, composite: list[Coupling], V: list[Wrench], pd: Any
) -> tuple[list[Wrench], list[Wrench], list[Wrench]]:
    """For each joint k: U = C S, N = V × S, and z = S ×* H + C N, the change of the subtree's momentum with p_k.

    ∂(M ṗ)_j/∂p_k is S_j · z_k when j carries k, and U_j · N_k when k carries j (S_j turns too, and the power S_j · H is
    unchanged by a common motion).
    """
    n = tree.n
    U = [composite[k].apply(b, at.screw[k]) for k in range(n)]
    tail: list[Wrench] = [(b.let(U[k][0] * pd[k]), b.let(U[k][1] * pd[k])) for k in range(n)]
    for k in range(n - 1, -1, -1):
        if tree.parents[k] >= 0:
            tail[tree.parents[k]] = add(b, tail[tree.parents[k]], tail[k])
    N, z = [], []
    for k in range(n):
        parent = tree.parents[k]
        H = tail[k] if parent < 0 else add(b, tail[k], composite[k].apply(b, V[parent]))
        N.append(motion_cross(b, V[k], at.screw[k]))
        w, v = at.screw[k]
        turned = (b.let(cross(w, H[0]) + cross(v, H[1])), b.let(cross(w, H[1])))
        z.append(add(b, turned, composite[k].apply(b, N[k])))
    return U, N, z


@stored
def moments(tree: Tree) -> Program:
    """p, pd → the `Node` there as one column: computed once for the two steps that meet there."""
    b = Program("joint_step_moments", "What both steps that meet at a state need of it for their reverse derivatives.")
    p, pd = (b.input(k, tree.freedoms) for k in ("p", "pd"))
    frames, body, _ = model_inputs(b, tree)
    e = node_at(
        b, tree, frames, body, levers.lever_input(b, tree), gears.positions(b, tree, p), gears.rates(b, tree, pd)
    )
    b.output("node", _pack(b, tree, e))
    return b
