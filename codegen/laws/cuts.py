"""What a cut joint asks of two links: rows that are zero where a loop is closed, written once and differentiated here.

A loop is cut at one joint. Its rows are zero where the cut frames of both links come together, but for the joint's own motion.
They are written in the axes of the parent's cut frame, whose z is the joint's axis: for a planar mechanism a row is then
exactly zero or it is not. With d the place of the child's cut frame there and Q its axes:

    hinge     d, and the axis of the child on the parent's first two: Q₁₃, Q₂₃
    ball      d
    slide     d₁, d₂, and half the axial vector of Q
    weld      d, and half the axial vector of Q
    distance  (‖d‖² − L²)/(2 L)

The gradient of a row by small motions of the child's cut frame is a wrench, by differentiation. Moving both links alike
changes no row, so on the parent the same wrench acts with the other sign, at the same point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.program.program import Matrix
from diffpbd.codegen.program.rotation import axial, dot, skew

ROWS: Final[Mapping[str, tuple[str, ...]]] = {
    "hinge": ("gap_1", "gap_2", "gap_axis", "tilt_1", "tilt_2"),
    "ball": ("gap_1", "gap_2", "gap_axis"),
    "slide": ("gap_1", "gap_2", "turn_1", "turn_2", "turn_axis"),
    "weld": ("gap_1", "gap_2", "gap_axis", "turn_1", "turn_2", "turn_axis"),
    "distance": ("distance",),
}
"""Names of the rows of every type: the two axes across the joint's and along it."""

LOOP_ROWS: Final = 25
"""Numbers of a loop: axes by rows and place of the cut frame in the frame of its parent, the same of its child, the length."""


def residual(kind: str, d: Any, Q: Any, length: Any) -> Any:
    """Rows of a loop from the child's cut frame in the parent's."""
    turn = axial(Q) / 2
    return {
        "hinge": lambda: Matrix([*d, Q[0, 2], Q[1, 2]]),
        "ball": lambda: Matrix([*d]),
        "slide": lambda: Matrix([d[0], d[1], *turn]),
        "weld": lambda: Matrix([*d, *turn]),
        "distance": lambda: Matrix([(dot(d, d) - length**2) / (2 * length)]),
    }[kind]()


@dataclass(frozen=True)
class Row:
    """A row, zero in a closed loop, and its gradient: force and moment on the child about the origin of its cut frame, in the
    axes of the parent's."""

    value: Any
    force: Any
    moment: Any


D = Matrix(sp.symbols("d_0:3", real=True))
Q = Matrix(3, 3, sp.symbols("q_0:9", real=True))
L = sp.Symbol("length", real=True)


@cache
def derived(kind: str) -> tuple[Row, ...]:
    """Every row of a type as a function of D, Q and L, differentiated by d + δ and (1 + [φ]×) Q."""
    shift, turn = (Matrix(sp.symbols(f"{name}_0:3", real=True)) for name in ("shift", "turn"))
    moved = residual(kind, D + shift, (Matrix.eye(3) + skew(turn)) * Q, L)
    still = dict.fromkeys((*shift, *turn), 0)

    def gradient(row: Any, by: Any) -> Any:
        return Matrix([sp.expand(sp.diff(row, symbol).subs(still)) for symbol in by])

    return tuple(
        Row(value, gradient(row, shift), gradient(row, turn))
        for value, row in zip(residual(kind, D, Q, L), moved, strict=True)
    )


def at(d: Any, axes: Any, length: Any) -> dict[Any, Any]:
    """What stands for the symbols of `derived` at a place d with axes Q (3 × 3) and length L."""
    return {**dict(zip(D, d, strict=True)), **dict(zip(Q, axes, strict=True)), L: length}
