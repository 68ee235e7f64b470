"""Sweeps over joints, of Algorithm 1 and of the variational step: one joint after another, or all of them at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import sympy as sp

from diffpbd.codegen.description.recipe.options import Relaxation
from diffpbd.codegen.method import projection
from diffpbd.codegen.method.corrections import Rows
from diffpbd.codegen.method.relaxation import factors
from diffpbd.codegen.method.stage import limit_columns
from diffpbd.codegen.method.world import call_at
from diffpbd.codegen.program.notation import JOINT, LIMIT, WORLD, children, column, part
from diffpbd.codegen.program.program import Program, number
from diffpbd.codegen.program.tree import Tree


class Joints(ABC):
    """Joints during a sweep: calls that compute a joint's correction at the present poses, and move bodies.

    `moving` names the state of the sweep: its input and, with `_next`, its output.
    """

    moving: str

    def __init__(self, program: Program, tree: Tree, joint: Any) -> None:
        self.program, self.tree, self.joint = program, tree, joint
        self.limit, self.angle, held = limit_columns(program, tree, "limit angle multiplier")
        self.multiplier: list[Any] = list(held) if tree.limits else []
        self.now: list[Any] = []

    @abstractmethod
    def kernel(self, slide: bool, rows: Rows) -> Program:
        """Kernel that corrects these rows of a joint."""

    @abstractmethod
    def known(self, i: int) -> dict[str, Any]:
        """Further inputs of a correction that belong to link i."""

    @abstractmethod
    def move(self, i: int, move: Any, turning: bool, factor: Any = 1) -> None:
        """Link i moved by a factor times `move`; `turning` leaves its position alone."""

    def correct(self, j: int, rows: Rows, share: Any = 1) -> dict[int, Any]:
        """Corrections of the bodies of joint j by these rows, by index; a limit adds the factor `share` of it to its
        multiplier."""
        ends = [(side, i) for side, i in (("b", j), ("a", self.tree.parents[j])) if i != WORLD]
        given = {"joint": part(self.joint, JOINT, j)}
        for side, i in ends:
            given |= {f"{name}_{side}": value for name, value in {**self.known(i), self.moving: self.now[i]}.items()}
        if rows is Rows.LIMIT:
            given |= {"limit": part(self.limit, LIMIT, j), "angle": self.angle[j, 0], "multiplier": self.multiplier[j]}
            given["factor"] = sp.sympify(share)
        moves = call_at(self.program, self.tree, j, self.kernel(self.tree.slides[j], rows), given)
        if rows is Rows.LIMIT:
            self.multiplier[j] = moves["multiplier_next"][0, 0]
        return {i: moves[f"move_{side}"] for side, i in ends}

    def output(self) -> Program:
        """The sweep's program, with the present poses and multipliers as outputs."""
        self.program.output(f"{self.moving}_next", column(*self.now))
        if self.tree.limits:
            self.program.output("multiplier_next", column(*self.multiplier))
        return self.program


def joints_with(tree: Tree, rows: Rows) -> tuple[int, ...]:
    """Joints, base to tip, that have rows of this kind."""
    return tree.limits if rows is Rows.LIMIT else tuple(range(tree.n))


def visits(tree: Tree, printed_order: bool) -> Iterator[tuple[int, Rows]]:
    """Order of Gauss-Seidel: joint by joint or, as printed, all positional rows and then all angular ones."""
    if printed_order:
        return ((j, rows) for rows in Rows for j in joints_with(tree, rows))
    return ((j, rows) for j in range(tree.n) for rows in Rows if j in joints_with(tree, rows))


def turns_only(tree: Tree, j: int, rows: Rows) -> bool:
    """Whether these rows of a joint change rotations only."""
    return rows is Rows.ANGULAR or (rows is Rows.LIMIT and not tree.slides[j])


def in_turn(joints: Joints, printed_order: bool) -> Program:
    """A Gauss-Seidel sweep: every correction uses the poses after the previous ones."""
    for j, rows in visits(joints.tree, printed_order):
        for i, move in joints.correct(j, rows).items():
            joints.move(i, move, turns_only(joints.tree, j, rows))
    return joints.output()


def at_once(joints: Joints, relaxation: Relaxation) -> Program:
    """A Jacobi sweep: all corrections of a kind use the same poses and are added, with relaxation."""
    tree = joints.tree
    factor = [number(share) for share in factors(tree, relaxation)]
    for rows in Rows:
        # a projected multiplier needs one factor, independent of the other rows
        share = [min(factor)] * tree.n if rows is Rows.LIMIT else factor
        moves = {j: joints.correct(j, rows, share[j]) for j in joints_with(tree, rows)}
        for i in range(tree.n):
            meeting = [k for k in (i, *children(tree, i)) if k in moves]
            if meeting:
                total = projection.total(joints.program, [moves[k][i] for k in meeting])
                joints.move(i, total, all(turns_only(tree, k, rows) for k in meeting), share[i])
    return joints.output()
