"""Factors out the common part of several CasADi graphs.

Iterations of a step that begin with the same thousand operations fit into a processor's instruction cache if these are one
function. Intermediate results are passed on in an array. Operations do not change, nor do their bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca

LEAVES = (ca.OP_CONST, ca.OP_INPUT)
Key = tuple[Any, ...]
"""Identity of an operation: its kind and the numbers of its arguments; for an input its name and index."""


class _Numbering:
    """Numbers of all values of several graphs, the same for the same operation on the same values."""

    def __init__(self) -> None:
        self.known: dict[Key, int] = {}
        self.keys: list[Key] = []

    def number(self, key: Key) -> int:
        if key not in self.known:
            self.known[key] = len(self.keys)
            self.keys.append(key)
        return self.known[key]

    def read(self, graph: ca.Function, names: Mapping[str, str]) -> tuple[set[int], dict[tuple[int, int], int]]:
        """The values of a graph, and those of its outputs by (output, element)."""
        at: dict[int, int] = {}
        seen: set[int] = set()
        outputs = {}
        for k in range(graph.n_instructions()):
            op, i, o = graph.instruction_id(k), graph.instruction_input(k), graph.instruction_output(k)
            if op == ca.OP_OUTPUT:
                outputs[o[0], o[1]] = at[i[0]]
                continue
            if op == ca.OP_CONST:
                key: Key = (op, graph.instruction_constant(k))
            elif op == ca.OP_INPUT:
                name = graph.name_in(i[0])
                key = (op, names.get(name, name), i[1])
            else:
                key = (op, *(at[r] for r in i))
            at[o[0]] = self.number(key)
            seen.add(at[o[0]])
        return seen, outputs


def split(
    graphs: Mapping[str, ca.Function], made_by: Sequence[str], names: Mapping[str, str], name: str
) -> tuple[ca.Function, dict[str, ca.Function]]:
    """The common part of the graphs of `made_by`, as the graph `name` of the first one's inputs with the output `between`; and
    the rest of every graph, whose inputs are `between` and its own.

    `names`: inputs with other names in the first graph. Matrices are dense."""
    numbering = _Numbering()
    read = {k: numbering.read(g, names) for k, g in graphs.items()}
    common = set.intersection(*(read[k][0] for k in made_by))
    inner = {v for v in common if numbering.keys[v][0] not in LEAVES}
    wanted: set[int] = set()
    for seen, outputs in read.values():
        wanted |= {a for v in seen - inner for a in _arguments(numbering.keys[v]) if a in inner}
        wanted |= {v for v in outputs.values() if v in inner}
    handed = sorted(wanted)
    first = graphs[made_by[0]]
    inputs = {first.name_in(k): ca.SX.sym(first.name_in(k), *first.size_in(k)) for k in range(first.n_in())}
    values = _values(numbering, inner, {names.get(k, k): s for k, s in inputs.items()}, {})
    part = ca.Function(
        name, list(inputs.values()), [ca.vertcat(*(values[v] for v in handed))], list(inputs), ["between"]
    )
    between = ca.SX.sym("between", len(handed))
    known = {v: between[k] for k, v in enumerate(handed)}
    rest = {k: _rest(graphs[k], numbering, *read[k], inner, names, between, known) for k in graphs}
    return part, rest


def _rest(
    graph: ca.Function,
    numbering: _Numbering,
    seen: set[int],
    outputs: Mapping[tuple[int, int], int],
    inner: set[int],
    names: Mapping[str, str],
    between: Any,
    known: Mapping[int, Any],
) -> ca.Function:
    """The part of a graph beyond the values `inner`, of which it reads the `known` elements of `between`."""
    inputs = {graph.name_in(k): ca.SX.sym(graph.name_in(k), *graph.size_in(k)) for k in range(graph.n_in())}
    values = _values(numbering, seen - inner, {names.get(k, k): s for k, s in inputs.items()}, known)
    results = []
    for k in range(graph.n_out()):
        cells = [values[outputs[k, e]] for e in range(graph.numel_out(k))]
        results.append(ca.reshape(ca.vertcat(*cells), *graph.size_out(k)))
    return ca.Function(
        f"{graph.name()}_rest",
        [between, *inputs.values()],
        [ca.densify(r) for r in results],
        ["between", *inputs],
        [graph.name_out(k) for k in range(graph.n_out())],
    )


def _arguments(key: Key) -> Iterator[int]:
    if key[0] not in LEAVES:
        yield from key[1:]


def _values(
    numbering: _Numbering, chosen: set[int], inputs: Mapping[str, Any], known: Mapping[int, Any]
) -> dict[int, Any]:
    """Expressions of the chosen values and of the leaves they read, over the inputs and over what is known."""
    made: dict[int, Any] = dict(known)

    def leaf(v: int) -> Any:
        key = numbering.keys[v]
        if v not in made:
            made[v] = ca.SX(key[1]) if key[0] == ca.OP_CONST else ca.vec(inputs[key[1]])[key[2]]
        return made[v]

    for v in sorted(chosen):  # arguments are numbered before what reads them
        op, *arguments = numbering.keys[v]
        if op in LEAVES:
            leaf(v)
            continue
        given = [leaf(a) if numbering.keys[a][0] in LEAVES else made[a] for a in arguments]
        made[v] = ca.SX.unary(op, *given) if len(given) == 1 else ca.SX.binary(op, *given)
    return made
