"""Exactly one of an expression and its negative is negative, so a program names both alike."""

from __future__ import annotations

import numpy as np
import sympy as sp

from diffpbd.codegen.program.program import Program, is_negative


def random_expression(rng: np.random.Generator, symbols: list[sp.Symbol], depth: int) -> sp.Expr:
    if depth == 0:
        return symbols[rng.integers(len(symbols))] * int(rng.choice([-2, -1, 1, 3]))
    parts = [random_expression(rng, symbols, depth - 1) for _ in range(rng.integers(2, 5))]
    return sp.Add(*parts) if rng.integers(2) else sp.Mul(*parts) + symbols[0] * symbols[1]


def test_exactly_one_of_two_is_negative() -> None:
    rng = np.random.default_rng(1)
    symbols = [sp.Symbol(f"t{k}", real=True) for k in range(6)]
    expressions = [random_expression(rng, symbols, depth) for depth in (1, 2, 3) for _ in range(100)]
    x, y = symbols[:2]
    expressions += [x, -x, x - y, x * y - 1, sp.sin(x) - y, 2 * x - 3 * y, -x * y, sp.Float(0.5) * x - y**2]
    signs = []
    for e in expressions:
        if e != 0:
            signs.append(is_negative(e))
            assert is_negative(-e) != signs[-1], e
    assert 0.1 < np.mean(signs) < 0.9


def test_both_have_one_name() -> None:
    b = Program("signs")
    x, y, z = b.input("x", 3)
    for e in (x - y, x * y - z, x - y - z, sp.cos(x) * y - x):
        count = len(b.statements)
        assert b.let(e) == -b.let(-e)
        assert len(b.statements) == count + 1
