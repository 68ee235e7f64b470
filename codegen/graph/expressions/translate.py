"""SymPy programs as CasADi graphs: one table of accepted nodes, nothing else is let through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import casadi as ca
import sympy as sp

from diffpbd.codegen.program.program import Assign, Program

# The CasADi twin of program.NUMPY_NAMES.
FUNCTIONS: Mapping[type[sp.Function], Callable[..., Any]] = {
    sp.sin: ca.sin,
    sp.cos: ca.cos,
    sp.tanh: ca.tanh,
    sp.exp: ca.exp,
    sp.log: ca.log,
    sp.atan2: ca.atan2,
    sp.sign: ca.sign,
    sp.Abs: ca.fabs,
}


class UnknownNode(TypeError):
    """An expression holds a SymPy node that has no translation."""


def expression(node: sp.Expr, env: Mapping[sp.Symbol, Any]) -> Any:
    """One scalar SymPy expression as a CasADi scalar; `env` gives the symbols."""
    if isinstance(node, sp.Symbol):
        return env[node]
    if isinstance(node, sp.Number) or node is sp.pi:
        return float(node)
    if isinstance(node, sp.Mul):
        return _product(node, env)
    args = [expression(a, env) for a in node.args]
    if isinstance(node, sp.Add):
        total = args[0]
        for a in args[1:]:
            total = _plus(total, a)
        return total
    if isinstance(node, sp.Pow):
        return _power(args[0], node.args[1])
    if type(node) in FUNCTIONS:
        return FUNCTIONS[type(node)](*args)
    raise UnknownNode(f"no CasADi translation of {type(node).__name__} in {node}")


def _plus(a: Any, b: Any) -> Any:
    return ca.SX.binary(ca.OP_ADD, a, b) if isinstance(a, ca.SX) or isinstance(b, ca.SX) else a + b


def _times(a: Any, b: Any) -> Any:
    """The product; `a * b` first tries CasADi's other kinds of matrices, which takes seven times as long."""
    return ca.SX.binary(ca.OP_MUL, a, b) if isinstance(a, ca.SX) or isinstance(b, ca.SX) else a * b


def _product(node: sp.Expr, env: Mapping[sp.Symbol, Any]) -> Any:
    """Product with its reciprocals gathered into one division, and a factor −1 as a negation."""
    above: Any = None
    below: Any = None
    negative = False
    for factor in node.args:
        if factor is sp.S.NegativeOne:
            negative = not negative
        elif isinstance(factor, sp.Pow) and factor.args[1] is sp.S.NegativeOne:
            value = expression(factor.args[0], env)
            below = value if below is None else _times(below, value)
        else:
            value = expression(factor, env)
            above = value if above is None else _times(above, value)
    result = 1.0 if above is None else above
    if below is not None:
        result = result / below
    return -result if negative else result


def _power(base: Any, exponent: sp.Expr) -> Any:
    if exponent == sp.Rational(1, 2):
        return ca.sqrt(base)
    if exponent == sp.Rational(-1, 2):
        return 1 / ca.sqrt(base)
    if isinstance(exponent, sp.Integer):
        power = abs(int(exponent))
        if power == 2:
            result = _times(base, base)
        else:
            result = base
            for _ in range(power - 1):
                result = _times(result, base)
        return 1 / result if int(exponent) < 0 else result
    raise UnknownNode(f"no CasADi translation of an exponent {exponent}")


def graph_of(name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> ca.Function:
    """A CasADi function of symbols (SX) by name, whose outputs are dense and have common parts once."""
    dense = [ca.densify(ca.SX(v)) for v in outputs.values()]
    return ca.Function(name, list(inputs.values()), dense, list(inputs), list(outputs), {"cse": True})


def inline(program: Program, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate a program on CasADi SX (or DM) matrices by input name, calls expanded; returns matrices by output name.

    Numbers among the arguments are folded by CasADi as the graph grows, so a robot's constants cost nothing.
    """
    env: dict[sp.Symbol, Any] = {}
    for name, formal in program.inputs.items():
        actual = ca.SX(arguments[name])
        if actual.shape != formal.shape:
            raise ValueError(f"program {program.name}: {name} is {actual.shape}, expected {formal.shape}")
        for k, symbol in enumerate(formal.flat()):
            env[symbol] = actual[k // formal.cols, k % formal.cols]
    for statement in program.statements:
        if isinstance(statement, Assign):
            env[statement.symbol] = expression(statement.expression, env)
            continue
        results = inline(statement.program, {k: matrix(m, env) for k, m in statement.arguments.items()})
        for name, fresh in statement.outputs.items():
            for k, symbol in enumerate(fresh.flat()):
                env[symbol] = results[name][k // fresh.cols, k % fresh.cols]
    return {name: matrix(m, env) for name, m in program.outputs.items()}


def matrix(m: Any, env: Mapping[sp.Symbol, Any]) -> Any:
    """A SymPy matrix as a dense CasADi SX matrix."""
    result = ca.SX.zeros(m.rows, m.cols)
    for k, entry in enumerate(m.flat()):
        result[k // m.cols, k % m.cols] = expression(entry, env)
    return result


def function(program: Program) -> ca.Function:
    """A leaf program as a CasADi SX function with the program's argument names."""
    inputs = {name: ca.SX.sym(name, m.rows, m.cols) for name, m in program.inputs.items()}
    outputs = inline(program, inputs)
    return ca.Function(program.name, list(inputs.values()), list(outputs.values()), list(inputs), list(outputs))


def columns(m: Any) -> list[sp.Expr]:
    """The elements of a SymPy matrix, column by column."""
    flat: list[sp.Expr] = m.flat()
    return [flat[r * m.cols + c] for c in range(m.cols) for r in range(m.rows)]


def column_major(m: Any, k: int) -> int:
    """Column-major index of the k-th element in SymPy's row-major iteration."""
    row, col = divmod(k, m.cols)
    return int(col * m.rows + row)


def call_graph(program: Program, known: dict[int, ca.Function] | None = None) -> ca.Function:
    """A program as a CasADi function: leaves as SX, call programs as MX that call them, shared where they repeat."""
    known = {} if known is None else known
    if id(program) in known:
        return known[id(program)]
    if program.is_leaf:
        known[id(program)] = function(program)
        return known[id(program)]
    inputs = {name: ca.MX.sym(name, m.rows, m.cols) for name, m in program.inputs.items()}
    place: dict[sp.Symbol, tuple[Any, int]] = {}
    for name, m in program.inputs.items():
        place.update({s: (inputs[name], column_major(m, k)) for k, s in enumerate(m)})
    for call in program.calls():
        callee = call_graph(call.program, known)
        results = callee.call([_gather(m, place) for m in call.arguments.values()])
        for value, m in zip(results, call.outputs.values(), strict=True):
            place.update({s: (value, column_major(m, k)) for k, s in enumerate(m)})
    outputs = [_gather(m, place) for m in program.outputs.values()]
    known[id(program)] = ca.Function(program.name, list(inputs.values()), outputs, list(inputs), list(program.outputs))
    return known[id(program)]


def _gather(m: Any, place: Mapping[sp.Symbol, tuple[Any, int]]) -> Any:
    """The values of a matrix as one MX: stretches of the same value are taken as slices."""
    parts: list[Any] = []
    for source, start, count in _stretches(m, place):
        parts.append(ca.vec(source)[start : start + count] if source is not None else ca.DM(start))
    return ca.reshape(ca.vertcat(*parts), m.rows, m.cols)


def _stretches(m: Any, place: Mapping[sp.Symbol, tuple[Any, int]]) -> Iterator[tuple[Any, Any, int]]:
    source: Any = None
    start = count = 0
    for e in columns(m):
        if not isinstance(e, sp.Symbol):
            if count:
                yield source, start, count
            yield None, float(e), 1
            source, count = None, 0
            continue
        value, index = place[e]
        if count and value is source and index == start + count:
            count += 1
            continue
        if count:
            yield source, start, count
        source, start, count = value, index, 1
    if count:
        yield source, start, count
