"""World angular velocity of every link and the rate of every slide, with their exact Jacobian: what a loss on rates needs.

ω_i is the sum of R_j axis_j ṗ_j over the hinges j on the path from the base to link i. Turning hinge k by a small angle
turns what it carries: of the sum only the part beyond k changes, and that turns about the axis of k, so

    ∂ω_i/∂p_k = axis_k × (ω_i − ω_k),    ∂ω_i/∂ṗ_k = axis_k

in world axes, zero for a slide and off the path. Angular velocities do not tell how fast a slide moves, so its own rate
stands beside them. That this equals algorithmic differentiation is a test.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from diffpbd.codegen.joint_space.moments import ZERO3, Frames, pose
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import cross
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree


def _inputs(b: Program, tree: Tree) -> tuple[list[Any], list[Any]]:
    """Declare p, pd and the geometry; returns the world axis of every hinge and ω of every link (3 each)."""
    p, pd = b.input("p", tree.n), b.input("pd", tree.n)
    at = pose(b, tree, Frames(b.input("before", 12, tree.n), b.input("after", 9, tree.n)), p)
    axes: list[Any] = [screw[0] for screw in at.screw]
    omega: list[Any] = []
    for i, parent in enumerate(tree.parents):
        carried = ZERO3 if parent < 0 else omega[parent]
        omega.append(carried if tree.slides[i] else b.let(carried + b.let(axes[i] * pd[i])))
    return axes, omega


@stored
def link_rates(tree: Tree) -> Program:
    """p, pd → `rates`: ω link by link (3 n) [rad/s], then the rates of the slides [m/s]."""
    b = Program("link_rates", "World angular velocity of every link, rate of every slide.")
    _, omega = _inputs(b, tree)
    b.output("rates", _rates(b, tree, omega))
    return b


def _rates(b: Program, tree: Tree, omega: list[Any]) -> Any:
    slides = [b.inputs["pd"][k, 0] for k in range(tree.n) if tree.slides[k]]
    return Matrix([e for own in omega for e in own] + slides)


@stored
def link_rates_jacobian(tree: Tree) -> Program:
    """p, pd → `rates`, `drates_dp` and `drates_dpd` (n columns each)."""
    b = Program("link_rates_jacobian", "World angular velocity of every link, rate of every slide, and their Jacobian.")
    n = tree.n
    axes, omega = _inputs(b, tree)
    slides = [k for k in range(n) if tree.slides[k]]
    by_p, by_pd = ([[sp.Integer(0)] * n for _ in range(3 * n + len(slides))] for _ in range(2))
    for row, k in enumerate(slides):
        by_pd[3 * n + row][k] = sp.Integer(1)
    for i in range(n):
        for k in tree.ancestors(i):
            if tree.slides[k]:
                continue
            beyond = ZERO3 if i == k else b.let(cross(axes[k], b.let(omega[i] - omega[k])))
            for r in range(3):
                by_p[3 * i + r][k], by_pd[3 * i + r][k] = beyond[r], axes[k][r]
    b.output("rates", _rates(b, tree, omega))
    b.output("drates_dp", Matrix(by_p))
    b.output("drates_dpd", Matrix(by_pd))
    return b
