"""How far one frame is turned from another, in numbers with one zero a turn: what rows of loops ask of axes.

With θ the angle of a rotation Q, n its axis and (w, v) its unit quaternion with w ≥ 0, σ = v/(1 + w) = n tan(θ/4): the modified
Rodrigues vector. It is bounded by 1, and its gradient by turning is (1 + σ²)/4 times a rotation: regular everywhere, half a
turn included, where its sign jumps as that of every such vector must.

Of an axis alone, b = Q e₃ with c = b₃ = cos θ: b₁ and b₂ are sin θ times a direction, and F(c) = 4 tan(θ/4)/sin θ.
"""

from __future__ import annotations

from typing import Any, Final

import sympy as sp

from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.rotation import axial, cross, dot
from diffpbd.codegen.program.selection import below

OPPOSED: Final = 1e-7
"""[rad] An axis that is so nearly the opposite of another has no direction in which to turn back,"""
NUDGE: Final = 1e-6
"""[rad] and is taken for one that is so far off, about the second axis."""

SIGMA = Matrix(sp.symbols("sigma_0:3", real=True))
"""σ of the child's frame in the parent's."""
AXIS = Matrix(sp.symbols("axis_0:3", real=True))
"""b, the child's axis in the parent's frame,"""
F, SLOPE = sp.symbols("tilt tilt_slope", real=True)
"""F(c) there, and dF/dc."""


def turn(by: Any) -> Any:
    """4 σ after a small turn `by` (3), of first order in it."""
    size = 1 + dot(SIGMA, SIGMA)
    w, v = (2 - size) / size, 2 * SIGMA / size
    return 4 * (v + (w * by + cross(by, v)) / 2) / (1 + w - dot(by, v) / 2)


def tilt(by: Any) -> Any:
    """4 tan(θ/4) of the axis on the parent's first two axes after a small turn `by` (3), of first order in it."""
    moved = AXIS + cross(by, AXIS)
    return [(F + SLOPE * (moved[2] - AXIS[2])) * moved[k] for k in range(2)]


def sigma(b: Program, Q: Any) -> Any:
    """σ of a rotation: by the column of 4 q qᵀ whose diagonal entry is largest, or the first where that is large enough."""
    trace = b.let(Q.trace())
    first, turned = b.let(1 + trace), b.let(axial(Q))
    square = [b.let(1 + 2 * Q[k, k] - trace) for k in range(3)]
    rest = Matrix(3, 3, lambda i, k: square[i] if i == k else b.let(Q[min(i, k), max(i, k)] + Q[max(i, k), min(i, k)]))
    small = b.let(below(first - 1))
    one = b.let((1 - below(square[0] - square[1])) * (1 - below(square[0] - square[2])))
    two = b.let((1 - one) * (1 - below(square[1] - square[2])))
    chosen = [b.let(1 - small), *(b.let(small * pick) for pick in (one, two, b.let(1 - one - two)))]
    largest = b.let(chosen[0] * first + sum((chosen[1 + k] * square[k] for k in range(3)), sp.Integer(0)))
    inverse = b.let(1 / (2 * sp.sqrt(largest)))
    w = b.let(inverse * (chosen[0] * first + dot(chosen[1:], turned)))
    v = b.let(inverse * (chosen[0] * turned + rest * Matrix(chosen[1:])))
    return b.let(v * b.let((1 - 2 * below(w)) / (1 + sp.Abs(w))))


def axis(b: Program, Q: Any) -> dict[Any, Any]:
    """Values of AXIS, F and SLOPE at a rotation. With k = cos(θ/2), F = 2/(k + k²); k² = (1 + c)/2, or where c < 0
    (b₁² + b₂²)/(2 (1 − c)), which does not cancel."""
    c, behind = Q[2, 2], b.let(below(Q[2, 2]))
    opposed = b.let(behind * below(b.let(Q[0, 2] ** 2 + Q[1, 2] ** 2) - sp.Float(OPPOSED**2)))
    one = b.let(Q[0, 2] + sp.Float(NUDGE) * opposed)
    above = b.let(behind * (one**2 + Q[1, 2] ** 2) + (1 - behind) * (1 + c) ** 2)
    k = b.let(sp.sqrt(b.let(above / (2 * (1 + sp.Abs(c))))))
    value = b.let(2 / (k + k**2))
    slope = b.let(-(value**2) * (1 + 2 * k) / (8 * k))
    return {**dict(zip(AXIS, (one, Q[1, 2], c), strict=True)), F: value, SLOPE: slope}
