"""Shares of each number of a link in a step's equations: of deep trees, for the Jacobian by parameters.

In world axes link k adds a wrench f_k to h F and g_k to h G, of which every joint j that carries it takes S₀_j · f_k and
S₁_j · g_k. Both are linear in the link's mass, first moment and inertia, so their derivatives are the wrenches of a link with
one of the ten alone; an external wrench adds −½h² times itself at either end. Gravity g adds −½h² times the linear part of 𝓘 S
(`tree_jacobian`, held) to a joint, and what is a joint's own (rotor, springs, friction) only adds to that joint.
"""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.joint_space.moments import Frames, Pose, half_moments, link_couplings, pose, weights
from diffpbd.codegen.joint_space.recursive import velocities
from diffpbd.codegen.joint_space.step import step_wrenches
from diffpbd.codegen.joint_space.wrenches import wrench_input
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree

SHARE = 12
"""Numbers of a share: wrenches in h F and h G, moment first."""
NUMBERS = 10
"""Numbers of a link: mass, first moment, inertia about its origin (`body` of `recursive.model_inputs`)."""
PUSHES = 6
"""Numbers of an external wrench: force, torque."""


@stored
def shares(tree: Tree) -> Program:
    """p, pd, p_next, pd_next, h → `shares`, one after another: of every link those of its ten numbers, of every external wrench
    those of its force and torque."""
    b = Program("joint_step_shares", "What every number of a link adds to the equations of a step.")
    p, pd, p1, pd1 = (b.input(k, tree.n) for k in ("p", "pd", "p_next", "pd_next"))
    h = b.scalar("h")
    frames = Frames(b.input("before", 12, tree.n), b.input("after", 9, tree.n))
    gravity, wrench = b.input("gravity", 3), wrench_input(b, tree)
    half_square = b.let(h * h / 2)
    at = [pose(b, tree, frames, end) for end in (p, p1)]
    V = [velocities(b, tree, end, rate) for end, rate in zip(at, (pd, pd1), strict=True)]
    columns: list[list[Any]] = [[] for _ in range(tree.n)]
    for number in range(NUMBERS):
        body = Matrix(NUMBERS, tree.n, lambda row, _, number=number: int(row == number))
        half = [half_moments(b, tree, end, body) for end in at]
        moved = step_wrenches(b, tree, at[1], half[0], body)
        links = [link_couplings(b, tree, at[k], half[k], body, symmetric_moment=True) for k in (0, 1)]
        weight = [weights(b, tree, half[k].first, body, gravity) for k in (0, 1)]
        for i in range(tree.n):
            with b.part(i):
                H = [links[k][i].apply(b, V[k][i]) for k in (0, 1)]
                for side in (0, 1):
                    columns[i] += b.let(moved[i][side] - h * H[0][side] - half_square * weight[0][i][side])
                for side in (0, 1):
                    columns[i] += b.let(h * H[1][side] - moved[i][side] - half_square * weight[1][i][side])
    for k in range(len(tree.wrenches)):
        columns.append(_pushes(b, tree, at, wrench, k, half_square))
    b.output("shares", Matrix([number for column in columns for number in column]))
    return b


def _pushes(b: Program, tree: Tree, at: list[Pose], wrench: Any, k: int, half_square: Any) -> list[Any]:
    """Shares of the force and the torque of external wrench k."""
    link = tree.wrenches[k]
    column: list[Any] = []
    with b.part(link):
        x = [b.let(end.o[link] + b.let(end.R[link] * wrench[0:3, k])) for end in at]
        for number in range(PUSHES):
            axis = Matrix([int(row == number % 3) for row in range(3)])
            zero = Matrix([0, 0, 0])
            for end in (0, 1):
                moment, force = (cross(x[end], axis), axis) if number < 3 else (axis, zero)
                column += [*b.let(-half_square * moment), *b.let(-half_square * force)]
    return column
