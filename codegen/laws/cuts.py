"""Rows of a cut joint between two links: rows that are zero where a loop is closed, written once and differentiated here.

A loop is cut at one joint. Its rows are zero where the cut frames of both links come together, but for the joint's own motion.
They are written in the axes of the parent's cut frame, whose z is the joint's axis: for a planar mechanism a row is then
exactly zero or it is not. With d the place of the child's cut frame there and Q its axes:

    hinge     d, and the tilt of the child's axis: 4 tan(θ/4) on the parent's first two axes
    ball      d
    slide     d₁, d₂, and the turn of Q: 4 tan(θ/4) along its axis
    weld      d, and the same turn
    distance  (‖d‖² − L²)/(2 L)

A sine would vanish half a turn off, too. 4 tan(θ/4) has one zero a turn, is θ but for its third order, and grows up to
half a turn, where its gradient by turning is regular.

The gradient of a row by small motions of the child's cut frame is a wrench, by differentiation. Moving both links alike
changes no row, so on the parent the same wrench acts with the other sign, at the same point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.laws import turns
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import dot

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


@dataclass(frozen=True)
class Row:
    """A row, zero in a closed loop, and its gradient: force and moment on the child about the origin of its cut frame, in the
    axes of the parent's."""

    value: Any
    force: Any
    moment: Any


D = Matrix(sp.symbols("d_0:3", real=True))
L = sp.Symbol("length", real=True)


@cache
def derived(kind: str) -> tuple[Row, ...]:
    """Every row of a type as a function of D, L and the symbols of `turns`, differentiated by d + δ and (1 + [φ]×) Q."""
    shift, turn = (Matrix(sp.symbols(f"{name}_0:3", real=True)) for name in ("shift", "turn"))
    still = dict.fromkeys((*shift, *turn), 0)

    def residual(d: Any, by: Any) -> Any:
        if kind == "distance":
            return Matrix([(dot(d, d) - L**2) / (2 * L)])
        gaps = d[:2] if kind == "slide" else [*d]
        return Matrix(
            [*gaps, *(turns.turn(by) if kind in ("slide", "weld") else turns.tilt(by) if kind == "hinge" else ())]
        )

    def gradient(row: Any, by: Any) -> Any:
        return Matrix([sp.expand(sp.cancel(sp.diff(row, symbol).subs(still))) for symbol in by])

    values, moved = residual(D, Matrix([0, 0, 0])), residual(D + shift, turn)
    pairs = zip(values, moved, strict=True)
    return tuple(Row(sp.cancel(value), gradient(row, shift), gradient(row, turn)) for value, row in pairs)


def at(b: Program, rows: Iterable[Row], d: Any, axes: Any, length: Any) -> dict[Any, Any]:
    """Values of the symbols of `rows` at a place d with axes Q (3 × 3) and length L."""
    used = {symbol for row in rows for e in (row.value, *row.force, *row.moment) for symbol in e.free_symbols}
    known = {**dict(zip(D, d, strict=True)), L: length}
    if used & set(turns.SIGMA):
        known |= dict(zip(turns.SIGMA, turns.sigma(b, axes), strict=True))
    if used & set(turns.AXIS):
        known |= turns.axis(b, axes)
    return known
