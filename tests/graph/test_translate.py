"""SymPy to CasADi: the nodes that are let through mean the same on both sides."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import sympy as sp

from diffpbd.codegen.graph.expressions.translate import FUNCTIONS, UnknownNode, call_graph, expression, function, inline
from diffpbd.codegen.program.program import NUMPY_NAMES, Matrix, Program

x, y, z = sp.symbols("x y z", real=True)
AT = {x: 0.7, y: -1.3, z: 2.1}

EXPRESSIONS = [
    x + y + z,
    x - y,
    -x,
    x * y * z,
    -x * y,
    x / y,
    1 / y,
    -1 / y,
    1 / (x * y),
    x / (y * z),
    -x * y / z,
    2 * x / 3,
    x * z**-2,
    x**2,
    x**3,
    x**-3,
    sp.sqrt(z),
    x / sp.sqrt(z),
    sp.sqrt(x**2 + z**2),
    sp.sin(x) * sp.cos(y) / sp.tanh(z),
    y * sp.tanh(x / z),
    sp.tanh(x / z) / z,
    sp.exp(x) + sp.log(z),
    sp.atan2(y, x),
    sp.sign(y) * sp.Abs(y),
    sp.Rational(1, 3) * x,
    sp.pi * x,
    sp.Float("0.1"),
    sp.Integer(0),
]


@pytest.mark.parametrize("node", EXPRESSIONS, ids=str)
def test_value(node: sp.Expr) -> None:
    symbols = {s: ca.SX.sym(s.name) for s in AT}
    f = ca.Function("f", list(symbols.values()), [ca.SX(expression(node, symbols))])
    assert float(f(*AT.values())) == pytest.approx(float(node.subs(AT)), rel=1e-14)
    assert float(ca.DM(expression(node, AT))) == pytest.approx(float(node.subs(AT)), rel=1e-14)


@pytest.mark.parametrize("node", [sp.Max(x, y), sp.gamma(x), x**y, x ** sp.Rational(1, 3), sp.Heaviside(x), x < y])
def test_unknown_nodes_are_refused(node: sp.Expr) -> None:
    with pytest.raises(UnknownNode, match="no CasADi translation of"):
        expression(node, {s: ca.SX.sym(s.name) for s in AT})


def test_the_two_tables_accept_the_same_functions() -> None:
    assert set(FUNCTIONS) == set(NUMPY_NAMES)


def mixed() -> Program:
    inner = Program("inner")
    m = inner.input("m", 2, 3)
    inner.output("t", inner.let(m.T * m))
    outer = Program("outer")
    a, b = outer.input("a", 2, 3), outer.input("b", 3)
    first = outer.call(inner, m=a)["t"]
    second = outer.call(inner, m=Matrix(2, 3, [b[2], a[0, 1], a[1, 1], 0, 1, b[0]]))["t"]
    outer.output("first", first)
    outer.output("mixed", Matrix([[first[0, 1], second[2, 0]], [second[1, 1], 2]]))
    return outer


def test_programs_inline_call_and_evaluate_alike() -> None:
    """Matrices run by rows in SymPy, by columns in CasADi: the shapes here are not square."""
    program = mixed()
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 3)), rng.normal(size=3)
    expected = program.numpy()(a=a, b=b)
    inlined = inline(program, {"a": ca.DM(a), "b": ca.DM(b)})
    flat, called = function(program.flatten())(a, b), call_graph(program)(a, b)
    for k, name in enumerate(expected):
        np.testing.assert_allclose(np.array(ca.DM(inlined[name])), expected[name], rtol=1e-14)
        np.testing.assert_allclose(np.array(flat[k]), expected[name], rtol=1e-14)
        np.testing.assert_allclose(np.array(called[k]), expected[name], rtol=1e-14)


def test_numbers_fold() -> None:
    program = mixed()
    results = inline(program, {"a": np.ones((2, 3)), "b": np.zeros(3)})
    assert all(ca.SX(r).is_constant() for r in results.values())


def test_a_wrong_shape_names_the_argument() -> None:
    with pytest.raises(ValueError, match=r"program outer: b is \(2, 1\), expected \(3, 1\)"):
        inline(mixed(), {"a": ca.DM.ones(2, 3), "b": ca.DM.ones(2)})
