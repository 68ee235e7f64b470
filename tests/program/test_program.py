"""Straight-line programs: naming, calls, flattening, evaluation."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from diffpbd.codegen.program.program import Assign, Matrix, Program, number, numbers


def hypotenuse() -> Program:
    b = Program("hypotenuse", "Length of the long side.")
    x, y = b.scalar("x"), b.scalar("y")
    b.output("length", b.let(sp.sqrt(b.let(x**2) + b.let(y**2))))
    return b


def test_let_names_each_expression_once_and_shares_the_sign() -> None:
    b = Program("p")
    x, y = b.scalar("x"), b.scalar("y")
    first = b.let(x * y)
    assert b.let(y * x) is first and b.let(-x * y) == -first
    assert b.let(x) is x and b.let(-x) == -x and b.let(3) == 3
    difference = b.let(x - y)
    assert b.let(y - x) == -difference
    assert len(b.statements) == 2


def test_let_keeps_shapes_and_fresh_symbols_never_clash() -> None:
    b = Program("p")
    m = b.input("m", 2, 3)
    named = b.let(m * 2)
    assert named.shape == (2, 3) and len(set(named)) == 6
    assigned = [s.symbol for s in b.statements if isinstance(s, Assign)]
    assert len(assigned) == len(set(assigned)) == 6
    assert not set(assigned) & set(m)


def test_calls_are_expanded_and_evaluate_alike() -> None:
    b = Program("box")
    a = b.input("a", 3)
    base = b.call(hypotenuse(), x=a[0], y=a[1])["length"][0, 0]
    diagonal = b.call(hypotenuse(), x=base, y=a[2])["length"][0, 0]
    b.output("diagonal", diagonal)
    b.output("base", Matrix([base, -base]))
    assert not b.is_leaf and [p.name for p in b.callees()] == ["hypotenuse", "hypotenuse"]
    flat = b.flatten()
    assert flat.is_leaf and flat.operations() == b.operations() == 6
    for program in (b, flat):
        found = program.numpy()(a=[3.0, 4.0, 12.0])
        assert found["diagonal"] == 13.0
        np.testing.assert_array_equal(found["base"], [[5.0], [-5.0]])


def test_flattening_shares_what_two_calls_have_in_common() -> None:
    b = Program("twice")
    x, y = b.scalar("x"), b.scalar("y")
    one, two = (b.call(hypotenuse(), x=x, y=y)["length"][0, 0] for _ in range(2))
    b.output("sum", b.let(one + two))
    assert b.operations() == 7
    assert b.flatten().operations() == 4


def test_evaluation_takes_any_array_of_the_right_size() -> None:
    b = Program("rows")
    m = b.input("m", 2, 2)
    b.output("product", b.let(m * m))
    value = np.array([[1.0, 2.0], [3.0, 4.0]])
    run = b.numpy()
    np.testing.assert_array_equal(run(m=value)["product"], value @ value)
    np.testing.assert_array_equal(run(m=value.ravel())["product"], value @ value)
    with pytest.raises(ValueError, match="reshape"):
        run(m=np.zeros(3))


def test_misuse_is_refused() -> None:
    b = hypotenuse()
    with pytest.raises(ValueError, match="repeated input name 'x'"):
        b.input("x")
    for name in ("", "1x", "lambda", "a-b"):
        with pytest.raises(ValueError, match="bad or repeated"):
            Program("p").input(name)
    with pytest.raises(ValueError, match="repeated output 'length'"):
        b.output("length", 0)
    caller = Program("caller")
    x = caller.input("x", 2)
    with pytest.raises(ValueError, match=r"caller calls hypotenuse with \['x'\], expected \['x', 'y'\]"):
        caller.call(b, x=x[0])
    with pytest.raises(ValueError, match=r"x is \(2, 1\), expected \(1, 1\)"):
        caller.call(b, x=x, y=x[0])


def test_numbers_keep_their_bits_and_whole_ones_fold() -> None:
    assert number(1.0) == 1 and number(1.0).is_Integer and number(-0.0) == 0
    for value in (0.1, 1.0 / 3.0, 1e-300, -2.5e17 + 0.5):
        assert float(number(value)) == value
    assert numbers([[1.0, 0.5], [0.0, 2.0]]) == Matrix([[1, sp.Float(0.5)], [0, 2]])
    assert numbers([2.0, 3.0]).shape == (2, 1)
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not a finite number"):
            number(bad)


def test_every_accepted_function_evaluates() -> None:
    b = Program("functions")
    x, y = b.scalar("x"), b.scalar("y")
    values = [sp.sin(x), sp.cos(x), sp.tanh(x), sp.exp(x), sp.log(y), sp.atan2(x, y), sp.sign(x), sp.Abs(x)]
    b.output("values", b.let(Matrix([*values, sp.sqrt(y), 1 / y, x**3, sp.pi * x])))
    x0, y0 = -0.7, 1.3
    expected = [np.sin(x0), np.cos(x0), np.tanh(x0), np.exp(x0), np.log(y0), np.arctan2(x0, y0), -1.0, 0.7]
    expected += [np.sqrt(y0), 1 / y0, x0**3, np.pi * x0]
    np.testing.assert_allclose(b.numpy()(x=x0, y=y0)["values"].ravel(), expected, rtol=1e-15)
