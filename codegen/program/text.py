"""A leaf program as JSON and back: a table of expression nodes, each once, in the order of their making.

Nothing in a text is ever run: nodes come from one table of kinds, everything else is refused. Nodes are taken as they were, so
that what comes back is the same to the order of arguments.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import sympy as sp

from diffpbd.codegen.program.program import NUMPY_NAMES, Assign, Matrix, Program

FORMAT: Final = 1
PRECISION: Final = 53
"""[bits] Of the floating-point numbers in a program."""

_JOINED: Final[Mapping[str, Any]] = {"+": sp.Add, "*": sp.Mul}
_FUNCTIONS: Final[Mapping[str, Any]] = {name: kind for kind, name in NUMPY_NAMES.items()}


class Unwritable(TypeError):
    """A program that calls others, or holds a node without a text."""


class _Table:
    """Nodes by expression."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self._known: dict[Any, int] = {}

    def index(self, node: Any) -> int:
        """Where a node stands; it is added after its arguments if it is new."""
        found = self._known.get(node)
        if found is None:
            made = self._made(node)
            found = self._known[node] = len(self.nodes)
            self.nodes.append(made)
        return found

    def _made(self, node: Any) -> Any:
        if isinstance(node, sp.Symbol):
            if node != sp.Symbol(node.name, real=True):
                raise Unwritable(f"symbol {node} is not real")
            return node.name
        if isinstance(node, sp.Integer):
            return int(node)
        if isinstance(node, sp.Rational):
            return ["/", int(node.p), int(node.q)]
        if isinstance(node, sp.Float):
            if node._prec != PRECISION:
                raise Unwritable(f"{node} has {node._prec} bits")
            return ["f", float(node).hex()]
        if node is sp.pi:
            return ["pi"]
        kind = {sp.Add: "+", sp.Mul: "*", sp.Pow: "^"}.get(type(node)) or NUMPY_NAMES.get(type(node))
        if kind is None:
            raise Unwritable(f"no text of {type(node).__name__}")
        return [kind, *map(self.index, node.args)]


def write(program: Program) -> str:
    """The text of a leaf program; `Unwritable` for others."""
    table, statements = _Table(), []
    for statement in program.statements:
        if not isinstance(statement, Assign):
            raise Unwritable(f"{program.name} calls another program")
        expression = table.index(statement.expression)
        statements.append([table.index(statement.symbol), expression, statement.part, statement.link])
    facts = {
        "format": FORMAT, "name": program.name, "doc": program.doc, "digits": program.digits,
        "inputs": [[k, m.rows, m.cols] for k, m in program.inputs.items()],
        "outputs": [[k, m.rows, m.cols, [table.index(e) for e in m]] for k, m in program.outputs.items()],
        "statements": statements, "nodes": table.nodes,
    }  # fmt: skip
    return json.dumps(facts, separators=(",", ":"), allow_nan=False)


def read(text: str) -> Program:
    """The program of a text; ValueError, KeyError, TypeError or IndexError where it is none."""
    facts = json.loads(text)
    if facts["format"] != FORMAT:
        raise ValueError(f"format {facts['format']!r}")
    nodes: list[Any] = []
    for entry in facts["nodes"]:
        nodes.append(_node(entry, nodes))
    program = Program(str(facts["name"]), str(facts["doc"]), digits=int(facts["digits"]))
    for name, rows, cols in facts["inputs"]:
        program.input(name, rows, cols)
    program.statements = [Assign(nodes[s], nodes[e], part, link) for s, e, part, link in facts["statements"]]
    program.outputs = {k: Matrix(rows, cols, [nodes[e] for e in m]) for k, rows, cols, m in facts["outputs"]}
    return program


def _node(entry: Any, nodes: list[Any]) -> Any:
    if isinstance(entry, str):
        return sp.Symbol(entry, real=True)
    if isinstance(entry, int):
        return sp.Integer(entry)
    kind, *rest = entry
    if kind in _JOINED:
        return _JOINED[kind]._from_args([nodes[k] for k in rest], True)
    if kind == "^":
        return sp.Pow(nodes[rest[0]], nodes[rest[1]], evaluate=False)
    if kind == "/":
        return sp.Rational(*rest)
    if kind == "f":
        return sp.Float(float.fromhex(rest[0]))
    return sp.pi if kind == "pi" else _FUNCTIONS[kind](*(nodes[k] for k in rest), evaluate=False)
