"""Joints that follow others, in the joint-space step: its unknowns are the coordinates, the joints that follow none.

Positions of all joints are E p + e of those of the coordinates, rates E ṗ; virtual work makes torques Eᵀ u, and inertias and
Jacobians Eᵀ D E. Every joint follows one leader, so E has one entry a row, and what is diagonal joint by joint (rotors, slopes
of friction) stays diagonal. Nothing is done for a tree without gears: every function returns what it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from diffpbd.codegen.program.program import Matrix, Program, number
from diffpbd.codegen.program.tree import Tree


def _rows(tree: Tree) -> list[tuple[int, sp.Expr, sp.Expr]]:
    """Coordinate, ratio and shift of every joint."""
    place = {joint: k for k, joint in enumerate(tree.coordinates)}
    rows = []
    for joint, gear in enumerate(tree.gears):
        if gear is None:
            rows.append((place[joint], sp.Integer(1), sp.Integer(0)))
        else:
            rows.append((place[gear.leader], number(gear.ratio), number(gear.shift)))
    return rows


def positions(b: Program, tree: Tree, p: Any) -> Any:
    """E p + e (n)."""
    return Matrix([b.let(ratio * p[k] + shift) for k, ratio, shift in _rows(tree)]) if tree.gears else p


def rates(b: Program, tree: Tree, pd: Any) -> Any:
    """E ṗ (n)."""
    return Matrix([b.let(ratio * pd[k]) for k, ratio, _ in _rows(tree)]) if tree.gears else pd


def torques(b: Program, tree: Tree, u: Sequence[Any]) -> Any:
    """Eᵀ u, one for each coordinate."""
    return _gathered(b, tree, u, 1) if tree.gears else u


def diagonal(b: Program, tree: Tree, values: Sequence[Any]) -> Any:
    """The diagonal of Eᵀ diag(values) E."""
    return _gathered(b, tree, values, 2) if tree.gears else values


def folded(b: Program, tree: Tree, M: Any) -> Any:
    """Eᵀ M E."""
    if not tree.gears:
        return M
    columns = [Matrix(_gathered(b, tree, list(M[:, j]), 1)) for j in range(tree.n)]
    rows = [_gathered(b, tree, [column[i] for column in columns], 1) for i in range(tree.freedoms)]
    return Matrix(rows)


def _gathered(b: Program, tree: Tree, values: Sequence[Any], power: int) -> list[Any]:
    """Sums over what follows each coordinate, times a power of its ratio."""
    sums: list[Any] = [sp.Integer(0)] * tree.freedoms
    for (k, ratio, _), value in zip(_rows(tree), values, strict=True):
        sums[k] = sums[k] + ratio**power * value
    return [b.let(total) for total in sums]
