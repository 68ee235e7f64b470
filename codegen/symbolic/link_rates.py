"""World angular velocity of every link, and its exact Jacobian: what a loss on ω needs.

ω_i is the sum of R_j axis_j ṗ_j over the hinges j on the path from the base to link i. Turning hinge k by a small angle
turns what it carries: of the sum only the part beyond k changes, and that turns about the axis of k, so

    ∂ω_i/∂p_k = axis_k × (ω_i − ω_k),    ∂ω_i/∂ṗ_k = axis_k    (world axes; zero for a slide and off the path).

That this equals algorithmic differentiation of ω is a test.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from diffpbd.codegen.symbolic.moments import ZERO3, Frames, pose
from diffpbd.codegen.symbolic.program import Matrix, Program
from diffpbd.codegen.symbolic.rotation import cross
from diffpbd.codegen.symbolic.tree import Tree


def _inputs(b: Program, tree: Tree) -> tuple[list[Any], list[Any]]:
    """Declare p, pd and the geometry; returns the world axis of every hinge and ω of every link (3 each)."""
    p, pd = b.input("p", tree.n), b.input("pd", tree.n)
    at = pose(b, tree, Frames(b.input("before", 12, tree.n), b.input("after", 9, tree.n)), p)
    axes, omega = [screw[0] for screw in at.screw], []
    for i, parent in enumerate(tree.parents):
        carried = ZERO3 if parent < 0 else omega[parent]
        omega.append(carried if tree.slides[i] else b.let(carried + b.let(axes[i] * pd[i])))
    return axes, omega


@cache
def link_rates(tree: Tree) -> Program:
    """p, pd → `omega` (3 n) [rad/s], link by link."""
    b = Program("link_rates", "World angular velocity of every link.")
    _, omega = _inputs(b, tree)
    b.output("omega", Matrix.vstack(*omega))
    return b


@cache
def link_rates_jacobian(tree: Tree) -> Program:
    """p, pd → `omega` (3 n) [rad/s], `domega_dp` and `domega_dpd` (3 n × n each)."""
    b = Program("link_rates_jacobian", "World angular velocity of every link and its Jacobian.")
    n = tree.n
    axes, omega = _inputs(b, tree)
    by_p = [[sp.Integer(0)] * n for _ in range(3 * n)]
    by_pd = [[sp.Integer(0)] * n for _ in range(3 * n)]
    for i in range(n):
        for k in tree.ancestors(i):
            if tree.slides[k]:
                continue
            beyond = ZERO3 if i == k else b.let(cross(axes[k], b.let(omega[i] - omega[k])))
            for r in range(3):
                by_p[3 * i + r][k], by_pd[3 * i + r][k] = beyond[r], axes[k][r]
    b.output("omega", Matrix.vstack(*omega))
    b.output("domega_dp", Matrix(by_p))
    b.output("domega_dpd", Matrix(by_pd))
    return b
